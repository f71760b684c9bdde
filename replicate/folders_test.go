package main

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/runs"
)

// toyRuns stores runs of "toy/ours" with 4 steps each in a new folder.
func toyRuns(t *testing.T, change float64, seeds ...int64) (folder string) {
	t.Helper()
	folder = t.TempDir()
	store, err := runs.Open(folder)
	demand.NoError(t, err)
	var jobs []runs.Job
	for _, seed := range seeds {
		step := func(_ context.Context, t int) ([]runs.Row, error) {
			return []runs.Row{{T: t, Metric: "accuracy", Value: .5 + change}}, nil
		}
		jobs = append(jobs, runs.Job{Spec: toy(seed), Steps: []int{1, 2, 3, 4},
			Batch: runs.Alone(seed, func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil })})
	}
	if report, err := runs.Execute(t.Context(), store, jobs, runs.Options{}); err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	return folder
}

func toy(seed int64) runs.Spec {
	return runs.Spec{Experiment: "toy", Learner: "ours", Seed: seed, Settings: map[string]string{"epochs": "20"}}
}

// TestFigureOfCopiedFolders: a figure whose seeds were computed in two folders is drawn from a copy of both without
// computing anything, and equals the figure of one folder.
func TestFigureOfCopiedFolders(t *testing.T) {
	whole, parts := newSandbox(t), []*sandbox{newSandbox(t), newSandbox(t)}
	whole.succeed(t, fig1(miniature, "--seeds", "0,1")...)
	for i, part := range parts {
		part.succeed(t, fig1(miniature, "--seeds", fmt.Sprint(i))...)
	}
	s := newSandbox(t)
	for _, part := range parts {
		for name, text := range demand.Files(t, part.results) {
			demand.Write(t, filepath.Join(s.results, name), text)
		}
	}
	_, stderr := s.succeed(t, fig1(miniature, "--seeds", "0,1")...)
	demand.Words(t, stderr, "8 runs, all stored")
	if got := s.csv(t); got != whole.csv(t) {
		t.Errorf("the figure differs:\n%s", got)
	}
}
