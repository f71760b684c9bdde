package claims

import (
	"context"
	"maps"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

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
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
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
	if got := stored(fill()); got != "--aaa-" {
		t.Errorf("runs %s, want those of the environment with the most", got)
	}
	few := outlines[0] // as many runs of another machine, but each lacks a step
	few.Steps = few.Steps[1:]
	for seed := range int64(3) {
		storeIn(t, s, few, "clear", seed, map[string]string{"backend": "xla:cpu", "plugin": "0", "data": "clear:0123"})
	}
	if got := stored(fill()); got != "--aaa-" {
		t.Errorf("runs %s, want those of the environment with the most whole ones", got)
	}
	if got := stored(fill("go")); got != "------" {
		t.Errorf("runs %s of a backend without any", got)
	}
}
