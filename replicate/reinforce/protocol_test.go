package reinforce

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/replicate/protocol"
	"tvps/replicate/runs"
)

// ofMetric returns the rows of one metric.
func ofMetric(rows []runs.Row, metric string) []runs.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r runs.Row) bool { return r.Metric != metric })
}

var episodeInLine = regexp.MustCompile(`^\{"episode":[0-9]+`)

// A group that is interrupted between two evaluations continues from its checkpoint and ends with the rows of an
// uninterrupted one, for every learner; a checkpoint that is damaged in its middle or in its first line costs only time.
func TestInterruptedRunsEndAlike(t *testing.T) {
	h, s := carts(t), miniature()
	damages := map[string]func(text []byte) []byte{
		"none":   func(text []byte) []byte { return text },
		"middle": func(text []byte) []byte { text[len(text)/2] ^= 0xff; return text },
		"first line": func(text []byte) []byte { // another episode
			return episodeInLine.ReplaceAll(text, []byte(`{"episode":1`))
		},
	}
	for i, series := range agents() {
		want := run(t, h, open(t), s, series, 0, 1)
		for damage, change := range damages {
			if i > 0 && damage == "first line" { // the same for all
				continue
			}
			store := open(t)
			interrupt(t, h, store, s, series, 10)
			states, _ := filepath.Glob(filepath.Join(store.Dir(), "*", "*.state"))
			if len(states) != 1 {
				t.Fatalf("%s: checkpoints %v", series, states)
			}
			text, err := os.ReadFile(states[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(states[0], change(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := run(t, h, store, s, series, 0, 1); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, damage %s: interrupted\n%v\nuninterrupted\n%v", series, damage, got, want)
			}
		}
	}
}

// interrupt cancels two runs when each has begun that many episodes.
func interrupt(t *testing.T, h *protocol.Host, store *runs.Store, s Settings, series string, episodes int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	declareCart(watched(func(begun int) error {
		if begun > 2*episodes {
			cancel()
		}
		return nil
	}))
	defer declareCart(newCart)
	report, err := runs.Execute(ctx, store, jobs(t, h, s, series, 0, 1), runs.Options{})
	if err != nil || !report.Interrupted {
		t.Fatalf("%+v, %v", report, err)
	}
}

// Agents in one program learn what each learns alone, apart from XLA's rounding, and independently of the other seeds.
func TestOthersDoNotMatter(t *testing.T) {
	for _, name := range []string{backend.Go, ""} {
		h, s := cartsOn(t, name), miniature()
		s.Episodes, s.Every = 8, 4
		together := run(t, h, open(t), s, "sac-omega", 0, 1)
		if got := run(t, h, open(t), s, "sac-omega", 1, 5); !slices.Equal(got[1], together[1]) {
			t.Errorf("%q: seed 1 with 5\n%v\nwith 0\n%v", name, got[1], together[1])
		}
		alone := s
		alone.Stack = 1
		for i, row := range run(t, h, open(t), alone, "sac-omega", 0)[0] {
			if want := together[0][i]; math.Abs(row.Value-want.Value) > 1e-3*math.Abs(want.Value) {
				t.Errorf("%q: seed 0 alone %v, together %v", name, row, want)
			}
		}
	}
}

// A seed whose run was lost trains again with the same result, next to one whose run is stored; the evaluation interval
// changes no return.
func TestNeitherStoredRunsNorEvaluationsMatter(t *testing.T) {
	h, s := carts(t), miniature()
	together := run(t, h, open(t), s, "sac-context-omega", 0, 1)
	store := open(t)
	run(t, h, store, s, "sac-context-omega", 0, 1)
	forget(t, store, 1)
	if got := run(t, h, store, s, "sac-context-omega", 0, 1); !reflect.DeepEqual(got, together) {
		t.Errorf("seed 1 again\n%v\nfirst\n%v", got, together)
	}
	rare := s
	rare.Every = 8
	for seed, rows := range run(t, h, open(t), rare, "sac-context-omega", 0, 1) {
		often := slices.DeleteFunc(ofMetric(together[seed], MeasureReturn), func(r runs.Row) bool { return r.T%8 != 0 })
		if got := ofMetric(rows, MeasureReturn); len(got) != 2 || !slices.Equal(got, often) {
			t.Errorf("seed %d: evaluated rarely %v, often %v", seed, got, often)
		}
	}
}

// forget deletes the run of a seed.
func forget(t *testing.T, store *runs.Store, seed int64) {
	t.Helper()
	specs, _, err := store.Finished()
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		if spec.Seed == seed {
			if err := os.Remove(filepath.Join(store.Dir(), spec.Experiment, spec.ID()+".jsonl.zst")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Without updates of g omega is 1, and every number is that of plain SAC.
func TestOmegaOneIsSAC(t *testing.T) {
	h, s := carts(t), miniature()
	s.GUpdates = 0
	for _, pair := range [][2]string{{"sac", "sac-omega"}, {"sac-context", "sac-context-omega"}} {
		a, b := run(t, h, open(t), s, pair[0], 3), run(t, h, open(t), s, pair[1], 3)
		b[3] = withoutOmega(b[3])
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s\n%v\n%s\n%v", pair[0], a, pair[1], b)
		}
	}
	s.GUpdates = 20
	a, b := run(t, h, open(t), s, "sac", 3), run(t, h, open(t), s, "sac-omega", 3)
	if reflect.DeepEqual(a[3], withoutOmega(b[3])) {
		t.Error("a fitted omega changes nothing")
	}
}

// The agent learns: its return rises far above that of an agent without updates.
func TestLearns(t *testing.T) {
	h, s := carts(t), miniature()
	s.Episodes, s.Every, s.Hidden, s.Batch, s.Replay, s.Alpha, s.LearnAlpha = 60, 60, 32, 32, 1000, .01, false
	idle := s
	idle.BurnIn = 1000
	for seed, rows := range run(t, h, open(t), s, "sac", 0, 1) {
		before := run(t, h, open(t), idle, "sac", seed)[seed]
		if after := rows[0].Value; after < -1.5 || after < before[0].Value+1 {
			t.Errorf("seed %d: return %v, untrained %v", seed, after, before[0].Value)
		}
	}
}

// Settings that a learner does not use are no part of its run's identity, neither is the group.
func TestIdentity(t *testing.T) {
	h, s := carts(t), miniature()
	id := func(s Settings, series string, others ...int64) string {
		return jobs(t, h, s, series, append([]int64{0}, others...)...)[0].Spec.ID()
	}
	others := map[string]string{"evaluate": "coming", "evaluate-episodes": "4", "history": "4", "g-rate": "0.02",
		"episodes": "99", "repeat": "25", "batch": "9"}
	for name, value := range others {
		changed, err := s.With(name, value)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range learners {
			if l.Scenario != "" {
				continue
			}
			want := map[string]bool{"evaluate": true, "history": l.Context, "g-rate": l.Omega,
				"batch": l.Reference == nil}[name]
			if got := id(changed.(Settings), l.Name) != id(s, l.Name); got != want {
				t.Errorf("%s: another %s is another run: %v, want %v", l.Name, name, got, want)
			}
		}
	}
	if id(s, "sac", 1, 2) != id(s, "sac") {
		t.Error("the other seeds of its group are part of a run")
	}
	claw := s
	claw.Scenario = "claw"
	again := claw
	again.Repeat = 25
	if id(claw, "sac") == id(again, "sac") {
		t.Error("the claw's repeats are not part of its run")
	}
}

func TestErrors(t *testing.T) {
	h, s := carts(t), miniature()
	for _, c := range []struct {
		name, value string
		words       []string
	}{
		{"every", "17", []string{"every=17", "16 episodes"}}, {"valves", "11", []string{"valves=11", "10"}},
		{"scenario", "cheeta", []string{`did you mean "cheetah"`}},
		{"g-layers", "1", []string{"omega layers"}}, {"gamma", "2", []string{"gamma"}}, {"batch", "0", []string{"batch=0"}},
		{"evaluate", "all", []string{"tasks", "coming"}},
	} {
		bad, err := s.With(c.name, c.value)
		if err == nil {
			_, err = bad.Jobs(h, []string{"sac"}, []int64{0}, "")
		} else if bad != nil {
			t.Errorf("%s=%s: settings with an error", c.name, c.value)
		}
		demand.Error(t, err, c.words...)
	}
	_, err := s.Jobs(h, []string{"sac-omge"}, []int64{0}, MeasureReturn)
	demand.Error(t, err, `did you mean "sac-omega"`)
	_, err = s.Jobs(h, []string{"constant"}, []int64{0}, MeasureReturn)
	demand.Error(t, err, `"constant"`, "cheetah", "cart")
	_, err = s.Jobs(h, []string{"sac"}, []int64{0}, "accuracy")
	demand.Error(t, err, "accuracy", "return")
}

// A failing environment ends its group with an error that names the seed.
func TestEnvironmentFails(t *testing.T) {
	h, s := carts(t), miniature()
	declareCart(watched(func(begun int) error {
		if begun > 6 {
			return errors.New("the arm fell off")
		}
		return nil
	}))
	report, err := runs.Execute(t.Context(), open(t), jobs(t, h, s, "sac", 0), runs.Options{})
	if err != nil || len(report.Failed) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	demand.Error(t, report.Failed[0].Err, "seed 0", "the arm fell off")
}
