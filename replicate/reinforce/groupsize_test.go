package reinforce

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/env"
	"tvps/replicate/experiment"
)

// measured are settings that leave the group size to a measurement.
func measured() Settings {
	s := miniature()
	s.Stack = 0
	return s
}

// counting is a Host with a cache of its own that measures for a millisecond. made counts the carts, each of which has
// to begin three episodes at least.
func counting(t *testing.T) (h *experiment.Host, made *int, log *strings.Builder) {
	h, made, log = carts(t), new(int), new(strings.Builder)
	h.CacheDir, h.Log = t.TempDir(), log
	timingOf(h).throughput = time.Millisecond
	var begun atomic.Int64
	all := 0
	build := watched(func(int) error { begun.Add(1); return nil })
	declareCart(func(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error) {
		*made++
		all++
		return build(ctx, s, seed, log)
	})
	t.Cleanup(func() {
		if n := begun.Load(); n < int64(3*all) {
			t.Errorf("%d episodes of %d carts", n, all)
		}
	})
	return h, made, log
}

// groupSize is that of a learner's batch of several seeds.
func groupSize(t *testing.T, h *experiment.Host, s Settings, series string, seeds int) int {
	t.Helper()
	list := make([]int64, seeds)
	for i := range list {
		list[i] = int64(i)
	}
	all := jobs(t, h, s, series, list...)
	for _, job := range all {
		if job.Batch != all[0].Batch || len(job.Batch.Seeds) != seeds {
			t.Errorf("%s is in another batch than seed 0, of %d seeds", job.Spec, len(job.Batch.Seeds))
		}
	}
	size, err := all[0].Batch.GroupSize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// A measurement is made once and serves all learners with networks of that size; more seeds need only the measurements
// that are missing.
func TestThroughputIsMeasuredOnce(t *testing.T) {
	h, made, log := counting(t)
	s := measured()
	for _, step := range []struct {
		name   string
		seeds  int
		series []string
		carts  int // that are made, two programs of each size
	}{
		{"three seeds", 3, []string{"sac", "sac-omega"}, 2 * (1 + 3)},
		{"again", 3, []string{"sac", "sac-omega"}, 0},
		{"fewer", 2, []string{"sac"}, 2 * 2},
		{"seven", 7, []string{"sac-omega"}, 2 * 5},
		{"networks of another size", 1, []string{"sac-context-omega", "sac-context"}, 2},
	} {
		*made = 0
		for _, series := range step.series {
			groupSize(t, h, s, series, step.seeds)
		}
		if *made != step.carts {
			t.Errorf("%s: %d carts made, want %d", step.name, *made, step.carts)
		}
	}
	text := log.String()
	if strings.Count(text, "\n") != 5 || !strings.Contains(text, "cart/sac: throughput of 5 batched seeds") ||
		!strings.Contains(text, "cart/sac-context: throughput of 1 batched seeds") {
		t.Errorf("log:\n%s", text)
	}
	other := s
	other.Hidden *= 2
	*made = 0
	if groupSize(t, h, other, "sac", 1); *made != 2 {
		t.Errorf("%d carts made for wider networks, want 2", *made)
	}
	if files, _ := filepath.Glob(filepath.Join(h.CacheDir, "stacks", "*")); len(files) != 3 {
		t.Errorf("files %q, want one for each size", files)
	}
	s.Stack = 2
	*made = 0
	if size := groupSize(t, h, s, "sac", 10); size != 2 || *made > 0 {
		t.Errorf("group size %d, %d carts made; want the setting's 2 without a measurement", size, *made)
	}
}

// Planning measures nothing, neither do stored runs.
func TestOnlyMissingRunsAreMeasured(t *testing.T) {
	h, made, _ := counting(t)
	s := measured()
	s.Episodes = 4
	store := open(t)
	if jobs(t, h, s, "sac", 0); *made > 0 {
		t.Errorf("planning made %d carts", *made)
	}
	if run(t, h, store, s, "sac", 0); *made != 3 { // two measure, one trains
		t.Errorf("%d carts made, want 3", *made)
	}
	*made, h.CacheDir = 0, t.TempDir()
	if run(t, h, store, s, "sac", 0); *made > 0 {
		t.Errorf("stored runs made %d carts", *made)
	}
}

// The fastest candidate is the one with which all seeds take the least time; none leaves a group of one.
func TestFastestGroupSize(t *testing.T) {
	all := measurements{Throughput: []throughput{{1, 60}, {2, 110}, {3, 100}, {5, 130}}}
	for _, c := range []struct{ seeds, want int }{
		{1, 1}, {4, 2}, {7, 3}, {10, 5},
		{3, 3}, // 2 are faster, but would leave a group of one
	} {
		if got := all.fastest(c.seeds); got != c.want {
			t.Errorf("%d seeds in groups of %d, want %d", c.seeds, got, c.want)
		}
	}
	if got := candidates(7); !slices.Equal(got, []int{1, 3, 5}) {
		t.Errorf("candidates of 7 seeds: %d", got)
	}
}

// A cached file that is invalid counts as none; one that cannot be written is an error that names the setting.
func TestDamagedThroughput(t *testing.T) {
	h, made, _ := counting(t)
	s := measured()
	e := configOf(h, s, "sac")
	path, _ := e.throughputFile()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := e.writeThroughput(measurements{Throughput: []throughput{{1, 75}}}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if known := e.readThroughput(); len(known.Throughput) != 1 || known.Throughput[0].PerSec != 75 {
		t.Fatalf("cached %+v", known)
	}
	for _, text := range []string{
		`{"paces": [{"seeds": 1, "steps_per_second": 5}]}`, // of an older program
		string(good[:len(good)/2]),
		strings.Replace(string(good), "75", "79", 1),
		string(good) + strings.Repeat(" ", longestMeasurements),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if known := e.readThroughput(); len(known.Throughput) > 0 {
			t.Errorf("%.200s: read %v", text, known.Throughput)
		}
	}
	if groupSize(t, h, s, "sac", 1); *made != 2 {
		t.Errorf("%d carts made, want 2", *made)
	}
	if known := e.readThroughput(); len(known.Throughput) != 1 || known.Throughput[0].PerSec <= 0 ||
		known.For["learner"] != "sac" {
		t.Errorf("cached %+v", known)
	}
	h.CacheDir = filepath.Join(h.CacheDir, "file")
	if err := os.WriteFile(h.CacheDir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = e.groupSize(t.Context(), 1)
	demand.Error(t, err, "cannot cache", "make the cache writable")
	var avoidable *experiment.AvoidableError
	if !errors.As(err, &avoidable) || avoidable.Setting != "stack" {
		t.Errorf("error %v, want one that names the setting", err)
	}
}

// An interrupted measurement is not cached.
func TestMeasurementIsInterrupted(t *testing.T) {
	h, _, _ := counting(t)
	s := measured()
	ctx, cancel := context.WithCancel(t.Context())
	declareCart(func(context.Context, Settings, int64, io.Writer) (env.Env, error) { cancel(); return &cart{}, nil })
	e := configOf(h, s, "sac")
	if _, err := e.groupSize(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if known := e.readThroughput(); len(known.Throughput) > 0 {
		t.Errorf("cached %v", known.Throughput)
	}
}
