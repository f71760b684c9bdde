// Command peers compares with another program. It computes the learning curve of package sac on gymnasium's
// HalfCheetah-v5, with the settings that halfcheetah.py has for SBX (SAC in JAX).
//
//	go run ./ci/peers -out ci/peers/ours.csv [-results DIR] [-steps 20000] [-seeds 5]
//
// After an interruption the same command continues. The curves of both programs are stored in
// this folder, and a test compares them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/replicate/experiment"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
)

const (
	horizon         = 1000 // steps per episode of HalfCheetah-v5
	episodesBetween = 2    // training episodes between evaluations: 2,000 steps
)

func main() {
	out := flag.String("out", "ours.csv", "CSV file of the learning curve")
	results := flag.String("results", "results", "folder of the stored runs")
	steps := flag.Int("steps", 20000, "number of training steps")
	seeds := flag.Int("seeds", 5, "number of seeds, counted from 0")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out, *results, settings(*steps), *seeds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// settings are those of halfcheetah.py.
func settings(steps int) robots.Settings {
	return robots.Settings{
		Scenario: "halfcheetah", Horizon: horizon, Repeat: 1, Valves: 1,
		Every: episodesBetween, Evaluate: robots.EvaluateComing, EvaluateEpisodes: 5,
		Episodes: steps / horizon,
		Hidden:   256, Layers: 2, Batch: 256, Gamma: .99, Tau: .005,
		ActorRate: 3e-4, CriticRate: 3e-4, Alpha: .2, LearnAlpha: true,
		Replay: 1e6, BurnIn: 1000, UpdateEvery: 1,
		// Plain SAC does not use the rest, but its values must be valid.
		ContextHidden: 1, History: 1, GHidden: 1, GLayers: 2, GRate: 1e-4, GUpdates: 1, GBatch: 2,
		Method: "method2", GTime: "scalar", Waves: 1, Clip: "min1",
	}
}

func run(ctx context.Context, out, results string, s robots.Settings, seeds int) error {
	b, err := backend.Open(ctx, "", backend.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	store, err := runs.Open(results)
	if err != nil {
		return err
	}
	list := make([]int64, seeds)
	for i := range list {
		list[i] = int64(i)
	}
	host := &experiment.Host{Backend: b, Log: os.Stderr}
	wanted, err := s.Jobs(host, []string{"sac"}, list, robots.MeasureReturn)
	if err != nil {
		return err
	}
	var jobs []runs.Job
	for _, w := range wanted {
		jobs = append(jobs, w.Job)
	}
	report, err := runs.Execute(ctx, store, jobs, runs.Options{Workers: 1, Out: os.Stderr})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return err
	}
	return write(out, report)
}

// write writes the returns to a CSV file, in the order of the seeds.
func write(path string, report runs.Report) error {
	var rows []figures.Row
	bySeed := func(a, b *runs.Result) int { return int(a.Spec.Seed - b.Spec.Seed) }
	for _, r := range slices.SortedFunc(maps.Values(report.Results), bySeed) {
		for _, row := range r.Rows {
			if row.Metric == robots.MeasureReturn {
				rows = append(rows, figures.Row{
					Panel: "halfcheetah", Series: "ours", Seed: r.Spec.Seed,
					T: row.T * horizon, Metric: row.Metric, Value: row.Value,
				})
			}
		}
	}
	var text bytes.Buffer
	if err := figures.WriteCSV(&text, rows); err != nil {
		return err
	}
	return artifact.Replace(path, text.Bytes(), 0o644)
}
