package claims

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

// TestJoined: a stored run with few steps does not hide those that the tables have of it, and its own rows stay.
func TestJoined(t *testing.T) {
	rows := func(value float64, steps ...int) *runs.Result {
		r := &runs.Result{Steps: steps}
		for _, step := range steps {
			r.Rows = append(r.Rows, runs.Row{T: step, Metric: "accuracy", Value: value})
		}
		return r
	}
	got := joined(rows(1, 3, 9), rows(2, 1, 3, 5))
	want := rows(2, 1, 3, 5, 9)
	want.Rows[1].Value, want.Rows[3].Value = 1, 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A figure is judged by its own copy of a step; another figure's stands in where it has none.
func TestOwnTableFirst(t *testing.T) {
	spec := runs.Spec{Experiment: "gaussian", Learner: "ours"}
	run := &tableRun{spec: spec, values: map[metricStep]map[string]float64{}}
	tables := &Tables{byID: map[string]*tableRun{spec.ID(): run}}
	known := map[seriesSeed]*tableRun{{"a", "ours", 0}: run}
	for figure, rows := range map[string][]figures.Row{
		"fig01": {{Panel: "a", Series: "ours", T: 1, Metric: "accuracy", Value: .1},
			{Panel: "a", Series: "ours", T: 2, Metric: "accuracy", Value: .2}},
		"fig03": {{Panel: "a", Series: "ours", T: 2, Metric: "accuracy", Value: .3}},
	} {
		demand.NoError(t, addRows(known, rows, figure))
	}
	for figure, want := range map[string]float64{"fig01": .2, "fig03": .3, "fig12": .3} {
		r, ok := tables.read(spec, "accuracy", figure)
		if !ok || len(r.Rows) != 2 || r.Rows[0].Value != .1 || r.Rows[1].Value != want {
			t.Errorf("%s: rows %v, want .1 and %v", figure, r.Rows, want)
		}
	}
}

// Judged rows of another backend than the drawn ones are those of its run.
func TestJudgedElsewhere(t *testing.T) {
	record := func(backend string) (runs.Spec, RunRecord) {
		spec := runs.Spec{Experiment: "cifar10b", Learner: "ours", Settings: map[string]string{"backend": backend}}
		return spec, RunRecord{ID: spec.ID(), Panel: "c", Series: "ours", Run: "cifar10b/ours seed 0",
			Provenance: runs.Provenance{Config: spec.Settings}}
	}
	cpu, drawn := record("xla:cpu")
	cuda, judged := record("xla:cuda")
	provenance, err := json.Marshal(Record{Runs: []RunRecord{drawn},
		Judged: map[string]JudgedSample{"c": {Runs: []RunRecord{judged}}}})
	demand.NoError(t, err)
	dir, sums := t.TempDir(), ""
	head := "panel,series,seed,t,metric,value\n"
	for name, text := range map[string]string{
		figures.ProvenanceFile: string(provenance),
		"fig01-c.csv":          head + "c,ours,0,1,accuracy,.1\n",
		"fig01-c-judged.csv":   head + "c,ours,0,1,accuracy,.2\nc,ours,0,2,accuracy,.3\n",
	} {
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
		demand.Write(t, filepath.Join(dir, name), text)
	}
	demand.Write(t, filepath.Join(dir, figures.SumsFile), sums)
	tables := &Tables{byID: map[string]*tableRun{}}
	demand.NoError(t, tables.AddFigure(paper.Fig1(), dir))
	for _, c := range []struct {
		spec  runs.Spec
		first float64
		steps int
	}{{cpu, .1, 1}, {cuda, .2, 2}} {
		r, ok := tables.read(c.spec, "accuracy", "fig01")
		if !ok || len(r.Rows) != c.steps || r.Rows[0].Value != c.first {
			t.Errorf("%v: %+v", c.spec.Settings, r)
		}
	}
}

// storeIn stores a run of the outline with the identity that a machine adds.
func storeIn(t *testing.T, s *runs.Store, o experiment.Outline, experiment string, seed int64,
	machine map[string]string) {
	t.Helper()
	identity := maps.Clone(o.Settings)
	maps.Copy(identity, machine)
	spec := runs.Spec{Experiment: experiment, Learner: o.Learner, Seed: seed, Settings: identity}
	step := func(_ context.Context, at int) ([]runs.Row, error) {
		return []runs.Row{{T: at, Metric: "accuracy", Value: .5}}, nil
	}
	start := func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil }
	job := runs.Job{Spec: spec, Steps: o.Steps, Batch: runs.Alone(seed, start)}
	report, err := runs.Execute(t.Context(), s, []runs.Job{job}, runs.Options{})
	demand.NoError(t, errors.Join(err, report.Err()))
}

// A panel takes its stored runs from one environment, the one with the most of them, and their data from it, not from
// this machine: CLEAR's features are not here, but no stand-in was used.
func TestRunIndex(t *testing.T) {
	t.Setenv("TVPS_CLEAR", "")
	t.Setenv("TVPS_DATA", "")
	t.Setenv("TVPS_CACHE", t.TempDir())
	s, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	setup, err := supervised.At("clear", experiment.Small)
	demand.NoError(t, err)
	outlines, err := setup.Outlines([]string{"everything", "method2"}, "")
	demand.NoError(t, err)
	ours := outlines[1]
	if ours.Learner != "ours" || ours.Series != "method2" || len(ours.Data) != 3 {
		t.Fatalf("outline %+v", ours)
	}
	gpu := map[string]string{"backend": "xla:cuda", "plugin": "a", "data": "clear:0123"}
	for seed := range int64(2) {
		storeIn(t, s, ours, "clear", seed, gpu)
	}
	standIn := map[string]string{"backend": "xla:cpu", "plugin": "b", "data": "full", "checkpoint-hash": "c"}
	storeIn(t, s, ours, "clear-stand-in", 0, standIn)
	storeIn(t, s, outlines[0], "clear-stand-in", 0, standIn)
	unknown := map[string]string{"backend": "xla:cpu", "plugin": "b", "data": "else"}
	storeIn(t, s, outlines[0], "clear-stand-in", 1, unknown)
	for seed, name := range []string{"epochs", "a-former-setting"} { // runs with other settings
		other := outlines[0]
		other.Settings = maps.Clone(other.Settings)
		other.Settings[name] = "1"
		storeIn(t, s, other, "clear", int64(seed), gpu)
	}

	fill := func(backends ...string) Panel {
		t.Helper()
		index, err := NewRunIndex(s)
		demand.NoError(t, err)
		index.Backends = backends
		p := Panel{Panel: paper.Panel{Series: []string{"everything", "method2"}}, Protocol: &supervised.Protocol,
			Settings: setup, Seeds: []int64{0, 1, 2}}
		demand.NoError(t, (Archive{Host: &experiment.Host{}, Store: s, Index: index}).AddJobs(&p))
		return p
	}
	stored := func(p Panel) string {
		var out []string
		for _, job := range p.Jobs {
			state := "-"
			if s.State(job.Spec, job.Steps).Kind == runs.Done {
				state = job.Spec.Settings["plugin"]
			}
			out = append(out, state)
		}
		return strings.Join(out, "")
	}
	p := fill("xla:cuda")
	if got := stored(p); got != "---aa-" || p.Source.StandIn != "" || !strings.Contains(p.Source.Note, "clear:0123") {
		t.Errorf("runs %s, source %+v", got, p.Source)
	}
	p = fill("xla:cpu")
	got := stored(p)
	if got != "b--b--" || p.Source.StandIn != supervised.StandIn || !strings.Contains(p.Source.Note, "all of CIFAR-10") {
		t.Errorf("runs %s, source %+v", got, p.Source)
	}
	storeIn(t, s, outlines[0], "clear", 2, gpu)
	demand.Equal(t, stored(fill()), "--aaa-", "runs of the environment with the most")
	few := outlines[0] // as many runs of another machine, but each lacks a step
	few.Steps = few.Steps[1:]
	for seed := range int64(3) {
		storeIn(t, s, few, "clear", seed, map[string]string{"backend": "xla:cpu", "plugin": "0", "data": "clear:0123"})
	}
	demand.Equal(t, stored(fill()), "--aaa-", "runs of the environment with the most whole ones")
	demand.Equal(t, stored(fill("go")), "------", "runs of a backend without any")
}

// TestOneNetworkASeed: runs of a seed's own split are taken from one pre-trained network, that with the most whole
// runs, even if another one has runs, too, which were computed first or are finished.
func TestOneNetworkASeed(t *testing.T) {
	s, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	setup, err := supervised.At("cifar10a", experiment.Medium)
	demand.NoError(t, err)
	outlines, err := setup.Outlines([]string{"everything", "ours", "recent"}, "")
	demand.NoError(t, err)
	for _, c := range []struct {
		seed    int64
		network string
		place   int
	}{
		{0, "a", 0}, {0, "b", 0}, {0, "b", 1}, // Everything of a, both of b
		{1, "c", 0}, {1, "c", 1}, {1, "d", 1}, {1, "d", 2}, {1, "d", 0},
	} {
		storeIn(t, s, outlines[c.place], "cifar10a", c.seed,
			map[string]string{"backend": "xla:cpu", "plugin": "p", "data": "full", "checkpoint-hash": c.network})
	}
	index, err := NewRunIndex(s)
	demand.NoError(t, err)
	p := Panel{Panel: paper.Panel{Series: []string{"everything", "ours", "recent"}}, Protocol: &supervised.Protocol,
		Settings: setup, Seeds: []int64{0, 1}}
	demand.NoError(t, (Archive{Host: &experiment.Host{}, Store: s, Index: index}).AddJobs(&p))
	got := ""
	for _, job := range p.Jobs {
		got += cmp.Or(job.Spec.Settings["checkpoint-hash"], "-")
	}
	demand.Equal(t, got, "bdbd-d", "networks of Everything, Ours and Recent, of seeds 0 and 1")
}
