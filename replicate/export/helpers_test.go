package export

import (
	"context"
	"maps"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/runs"
)

// folder is a results folder that a test fills.
type folder struct {
	t     *testing.T
	store *runs.Store
}

func newFolder(t *testing.T) folder {
	t.Helper()
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	return folder{t, store}
}

// spec is a run of the experiment "toy"; more are settings in pairs of name and value.
func spec(learner string, seed int64, more ...string) runs.Spec {
	settings := map[string]string{"epochs": "20", "backend": "go", "plugin": "", "protocol": "1"}
	for i := 0; i+1 < len(more); i += 2 {
		settings[more[i]] = more[i+1]
	}
	return runs.Spec{Experiment: "toy", Learner: learner, Seed: seed, Settings: settings}
}

// run stores a run with these rows by step.
func (f folder) run(s runs.Spec, rows map[int][]runs.Row) *runs.Result {
	f.t.Helper()
	step := func(_ context.Context, t int) ([]runs.Row, error) { return rows[t], nil }
	start := func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil }
	job := runs.Job{Spec: s, Batch: runs.Alone(s.Seed, start)}
	for t := range maps.Keys(rows) {
		job.Steps = append(job.Steps, t)
	}
	from := runs.Provenance{Command: []string{"test"}, Commit: map[string]string{"ours": "c0ffee"}[s.Learner],
		Dirty: s.Seed == 1, Backend: s.Settings["backend"], Versions: map[string]string{"plugin": s.Settings["plugin"]}}
	report, err := runs.Execute(f.t.Context(), f.store, []runs.Job{job}, runs.Options{Provenance: from})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return report.Results[s.ID()]
}

// values are rows of the metric "accuracy", one for each step from 1.
func values(v ...float64) map[int][]runs.Row {
	rows := map[int][]runs.Row{}
	for i, x := range v {
		rows[i+1] = []runs.Row{{T: i + 1, Metric: "accuracy", Value: x}}
	}
	return rows
}

// path is the file of a finished run.
func (f folder) path(s runs.Spec) string {
	return filepath.Join(f.store.Dir(), s.Experiment, s.ID()+".jsonl.zst")
}

// damage changes a byte of a run's file: in its first line, or in its rows.
func (f folder) damage(s runs.Spec, rows bool) {
	f.t.Helper()
	data := demand.Read(f.t, f.path(s))
	at := 1
	if rows {
		at = len(data) - 1
	}
	data[at] ^= 1
	demand.Write(f.t, f.path(s), data)
}
