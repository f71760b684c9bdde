package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"tvps/ci/demand"
	"tvps/data/table"
	"tvps/replicate/runs"
)

// difficult is a folder with values, names and settings that are difficult to write and read, and its runs.
func difficult(t *testing.T) (store *runs.Store, everything, ours1, ours10 *runs.Result) {
	t.Helper()
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	run := func(learner string, seed int64, settings map[string]string, rows map[int][]runs.Row) *runs.Result {
		step := func(_ context.Context, t int) ([]runs.Row, error) { return rows[t], nil }
		start := func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil }
		spec := runs.Spec{Experiment: "toy", Learner: learner, Seed: seed, Settings: settings}
		job := runs.Job{Spec: spec, Batch: runs.Alone(seed, start), Steps: slices.Sorted(maps.Keys(rows))}
		from := runs.Provenance{Command: []string{"test"},
			Commit: map[string]string{"ours": "c0ffee"}[learner], Dirty: seed == 1,
			Backend: "go", Versions: map[string]string{"plugin": settings["plugin"]}}
		report, err := runs.Execute(t.Context(), store, []runs.Job{job}, runs.Options{Provenance: from})
		demand.NoError(t, errors.Join(err, report.Err()))
		return report.Results[spec.ID()]
	}
	ours10 = run("ours", 10, map[string]string{"name": "a,\"b\"\n<é>"}, map[int][]runs.Row{
		3: {{T: 3, Metric: "accuracy", Value: 1.0 / 3}, {T: 3, Metric: "loss, \"é\"", Value: math.SmallestNonzeroFloat64}},
		1: {{T: 1, Metric: "accuracy", Value: math.Copysign(0, -1)}, {T: 1, Metric: "@SUM(A1)", Value: 1e99}},
		2: nil,
	})
	ours1 = run("ours", 1, map[string]string{"plugin": "0.81"},
		map[int][]runs.Row{1: {{T: 1, Metric: "accuracy", Value: .5}}})
	everything = run("everything", 2, nil, map[int][]runs.Row{1: {{T: 1, Metric: "accuracy", Value: 12345678901234567}}})
	return store, everything, ours1, ours10
}

func TestExportedCSV(t *testing.T) {
	store, everything, ours1, ours10 := difficult(t)
	line := func(measured string, of *runs.Result, settings, origins string) string {
		from := of.Provenance
		return measured + "," + of.Spec.ID() + "," + settings + ",go," + origins + "," +
			from.Start.UTC().Format("2006-01-02T15:04:05.000000Z") + "," + strconv.FormatFloat(from.Seconds, 'g', -1, 64) + "\n"
	}
	const name = `"{""name"":""a,\""b\""\n\u003cé\u003e""}"`
	want := "experiment,learner,seed,t,metric,value,run,settings,backend,plugin,commit,dirty,started,seconds\n" +
		line("toy,everything,2,1,accuracy,1.2345678901234568e+16", everything, "{}", ",,false") +
		line("toy,ours,1,1,accuracy,0.5", ours1, `"{""plugin"":""0.81""}"`, "0.81,c0ffee,true") +
		line("toy,ours,10,1,accuracy,-0", ours10, name, ",c0ffee,false") +
		line("toy,ours,10,1,'@SUM(A1),1e+99", ours10, name, ",c0ffee,false") +
		line("toy,ours,10,3,accuracy,0.3333333333333333", ours10, name, ",c0ffee,false") +
		line(`toy,ours,10,3,"loss, ""é""",5e-324`, ours10, name, ",c0ffee,false")
	var got bytes.Buffer
	done, err := exportRuns(t.Context(), store, &got, false)
	if err != nil || got.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, &got, want)
	}
	if done.runs != 3 || done.rows != 6 || done.unfinished != 0 || done.problems != nil {
		t.Errorf("exported %+v", done)
	}
}

// TestExportedParquet: the Parquet file has the columns and values of the CSV; unknown texts are null.
func TestExportedParquet(t *testing.T) {
	store, _, _, _ := difficult(t)
	var file bytes.Buffer
	_, err := exportRuns(t.Context(), store, &file, true)
	demand.NoError(t, err)
	read, err := table.Read("t.parquet", bytes.NewReader(file.Bytes()), int64(file.Len()), table.Options{})
	demand.NoError(t, err)
	demand.Words(t, read.Schema().String(), "experiment", "learner", "seed", "metric", "started", "seconds")
	columns, err := read.Columns([]string{"value", "learner", "plugin", "dirty"}, nil)
	demand.NoError(t, err)
	got := fmt.Sprint(columns)
	if want := "[{value [1.2345678901234568e+16 0.5 0 1e+99 0.3333333333333333 5e-324] []} " +
		"{learner [everything ours ours ours ours ours] []} {plugin [NaN 0.81 NaN NaN NaN NaN] []} " +
		"{dirty [false true false false false false] []}]"; got != want {
		t.Error(got)
	}
}

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestExportFails(t *testing.T) {
	store, _, _, _ := difficult(t)
	for _, parquet := range []bool{false, true} {
		_, err := exportRuns(t.Context(), store, full{}, parquet)
		demand.Error(t, err, "disk full")
		if _, err := exportRuns(demand.Cancelled(), store, full{}, parquet); !errors.Is(err, context.Canceled) {
			t.Errorf("Parquet %v: %v", parquet, err)
		}
	}
}
