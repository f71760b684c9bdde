package robots

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// ofMetric returns the rows of one metric.
func ofMetric(rows []runs.Row, metric string) []runs.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r runs.Row) bool { return r.Metric != metric })
}

// A group that is interrupted between two evaluations continues from its checkpoint and ends with the rows of an
// uninterrupted one, for every learner. If the checkpoint is damaged, of an older program, lost, or of a group of other
// seeds, or if rows before it are lost, it starts from scratch and says so.
func TestInterruptedRunsEndAlike(t *testing.T) {
	h, s := carts(t), miniature()
	defer declareCart(newCart)
	three := []int64{0, 1, 2}
	for _, c := range []struct {
		name   string
		series []string
		change func(text []byte) []byte // of the checkpoint; nil removes it
		seeds  []int64                  // of the group that continues
		words  string                   // of the log, if it starts from scratch
	}{
		{"rows lost", []string{"sac"}, func(text []byte) []byte { return text }, three, "rows before episode"},
		{"whole", agents(), func(text []byte) []byte { return text }, three, ""},
		{"damaged", []string{"sac"}, func(text []byte) []byte { text[len(text)/2] ^= 0xff; return text }, three,
			"seeds [0 1 2] cannot be used"},
		{"older", []string{"sac"}, func([]byte) []byte { return []byte(`{"format":2}` + "\n") }, three, "of another version"},
		{"lost", []string{"sac"}, nil, three, "seeds [0 1 2] have no checkpoint: they train the episodes before 8 again"},
		{"of other seeds", []string{"sac"}, func(text []byte) []byte { return text }, []int64{0, 1, 2, 3, 4},
			"it is of the seeds [0 1 2], not [0 1 2 3 4]"},
	} {
		for _, series := range c.series {
			want := run(t, h, open(t), s, series, c.seeds...)
			dir := t.TempDir()
			store := openIn(t, dir)
			interrupt(t, h, store, s, series, 10, three...)
			paths, _ := filepath.Glob(filepath.Join(dir, "*", "*.state"))
			text, err := os.ReadFile(paths[0])
			if err != nil || len(paths) > 1 {
				t.Fatal(paths, err)
			}
			if c.name == "rows lost" {
				rows, _ := filepath.Glob(filepath.Join(filepath.Dir(paths[0]), "*.partial.jsonl"))
				os.Remove(rows[0])
			}
			if c.change == nil {
				os.Remove(paths[0])
			} else if err := os.WriteFile(paths[0], c.change(text), 0o644); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			h.Log = &log
			begun := counted()
			got := run(t, h, store, s, series, c.seeds...)
			h.Log = nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: interrupted\n%v\nuninterrupted\n%v", c.name, series, got, want)
			}
			from := 0
			if c.words == "" {
				_, number, _ := strings.Cut(log.String(), "continue at episode ")
				if fmt.Sscan(number, &from); from < 8 {
					t.Errorf("%s: %s", series, &log)
				}
			}
			for _, seed := range c.seeds {
				begun.check(t, s, seed, from)
			}
			demand.Words(t, log.String(), c.words)
			if left, _ := filepath.Glob(filepath.Join(dir, "*", "*.state")); len(left) != 0 {
				t.Errorf("%s, %s: %q left", c.name, series, left)
			}
		}
	}
}

// interrupt cancels runs when each has begun that many episodes.
func interrupt(
	t *testing.T, h *experiment.Host, store *runs.Store, s Settings, series string, episodes int, seeds ...int64,
) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var begun atomic.Int64
	declareCart(hooked(func(int64, int) error {
		if begun.Add(1) > int64(len(seeds)*episodes) {
			cancel()
		}
		return nil
	}))
	defer declareCart(newCart)
	report, err := runs.Execute(ctx, store, jobs(t, h, s, series, seeds...), runs.Options{})
	if err != nil || report.Unfinished == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// episodeOf is an episode of a seed.
type episodeOf struct {
	seed    int64
	episode int
}

// counts says how often episodes began, in training or as the next one of an evaluation.
type counts map[episodeOf]int

// check fails the test unless the seed trained each episode once from the one at which it continued, and none before.
func (c counts) check(t *testing.T, s Settings, seed int64, from int) {
	t.Helper()
	for episode := range s.Episodes {
		n := c[episodeOf{seed, episode}]
		if episode >= from && n == 2 && episode > 0 && episode%s.Every == 0 { // evaluated, too
			n = 1
		}
		if (n == 1) != (episode >= from) || n > 1 {
			t.Errorf("seed %d continues at %d: episode %d began %d times", seed, from, episode, n)
		}
	}
}

// counted makes carts that count how often each episode begins.
func counted() counts {
	var mutex sync.Mutex
	count := counts{}
	declareCart(hooked(func(seed int64, episode int) error {
		mutex.Lock()
		defer mutex.Unlock()
		count[episodeOf{seed, episode}]++
		return nil
	}))
	return count
}

// A seed learns the same next to any other one, and next to one whose run is stored.
func TestOtherSeedsDoNotMatter(t *testing.T) {
	h, s := carts(t), miniature()
	together := run(t, h, open(t), s, "sac-context-omega", 0, 1)
	demand.List(t, run(t, h, open(t), s, "sac-context-omega", 1, 5)[1], together[1], "seed 1 with 5, or with 0")
	dir := t.TempDir()
	store := openIn(t, dir)
	run(t, h, store, s, "sac-context-omega", 0, 1)
	spec := jobs(t, h, s, "sac-context-omega", 1)[0].Spec
	demand.NoError(t, os.Remove(filepath.Join(dir, spec.Experiment, spec.ID()+".jsonl.zst")))
	if got := run(t, h, store, s, "sac-context-omega", 0, 1); !reflect.DeepEqual(got, together) {
		t.Errorf("seed 1 again\n%v\nfirst\n%v", got, together)
	}
}

// Settings that a learner does not use are no part of its run's identity, neither is the group.
func TestIdentity(t *testing.T) {
	h, s := carts(t), miniature()
	id := func(s Settings, series string, others ...int64) string {
		return jobs(t, h, s, series, append([]int64{0}, others...)...)[0].Spec.ID()
	}
	others := map[string]string{"evaluate": "coming", "evaluate-episodes": "4", "history": "4", "g-rate": "0.02",
		"episodes": "99", "repeat": "25", "batch": "9", "recent": "7"}
	for name, value := range others {
		changed, err := s.With(name, value)
		demand.NoError(t, err)
		for _, l := range learners.Entries {
			if l.Scenario != "" {
				continue
			}
			want := map[string]bool{"evaluate": true, "history": l.Context, "g-rate": l.Omega,
				"recent": l.Recent, "batch": l.Reference == nil}[name]
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

// A failing environment ends its group with an error that names the seed.
func TestEnvironmentFails(t *testing.T) {
	h, s := carts(t), miniature()
	declareCart(hooked(func(_ int64, episode int) error {
		if episode > 6 {
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
