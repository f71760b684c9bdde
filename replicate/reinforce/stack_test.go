package reinforce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/data/env"
	"tvps/replicate/runs"
)

// open settings leave the number of seeds that train together to a measurement.
func openStack() Settings {
	s := miniature()
	s.Stack = 0
	return s
}

// counting is an Env of carts that counts them, with a cache of its own. Each has to run
// through three episodes at least.
func counting(t *testing.T) (e *Env, made *int, told *strings.Builder) {
	e, made, told = carts(t), new(int), new(strings.Builder)
	e.CacheDir, e.Log, e.moment = t.TempDir(), told, time.Millisecond
	var begun atomic.Int64
	all := 0
	ride := watched(func(int) error { begun.Add(1); return nil })
	e.robot = func(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error) {
		*made++
		all++
		return ride(ctx, s, seed, log)
	}
	t.Cleanup(func() {
		if n := begun.Load(); n < int64(3*all) {
			t.Errorf("%d episodes of %d robots", n, all)
		}
	})
	return e, made, told
}

// groupsOf is how many seeds train together in each group of a learner's jobs.
func groupsOf(t *testing.T, e *Env, s Settings, name string, seeds int) []int {
	t.Helper()
	list := make([]int64, seeds)
	for i := range list {
		list[i] = int64(i)
	}
	jobs, err := Jobs(e, s, []string{name}, list, MeasureReturn)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	var last *runs.Group
	for _, job := range jobs {
		if job.Group != last && last != nil && last.Size != sizes[len(sizes)-1] {
			t.Errorf("a group of %d says that it has %d", sizes[len(sizes)-1], last.Size)
		}
		if job.Group != last {
			sizes, last = append(sizes, 0), job.Group
		}
		sizes[len(sizes)-1]++
	}
	return sizes
}

func measure(t *testing.T, e *Env, s Settings, seeds int, series ...string) {
	t.Helper()
	if err := MeasureStack(t.Context(), e, s, series, seeds, 2); err != nil {
		t.Fatal(err)
	}
}

// What is measured once is known afterwards, also for learners of the same size, and more
// seeds need only the measurements that are lacking.
func TestStackIsMeasuredOnce(t *testing.T) {
	e, made, told := counting(t)
	s := openStack()
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
		{"another size", 1, []string{"sac-context-omega", "sac-context"}, 2},
	} {
		*made = 0
		if measure(t, e, s, step.seeds, step.series...); *made != step.carts {
			t.Errorf("%s: %d robots made, want %d", step.name, *made, step.carts)
		}
	}
	if text := told.String(); strings.Count(text, "\n") != 5 || !strings.Contains(text, "cheetah/sac: 5 together make") || !strings.Contains(text, "cheetah/sac-context: 1 together") {
		t.Errorf("told:\n%s", text)
	}
	other := s
	other.Hidden *= 2
	*made = 0
	if measure(t, e, other, 1, "sac"); *made != 2 {
		t.Errorf("%d robots made for wider networks, want 2", *made)
	}
	if files, _ := filepath.Glob(filepath.Join(e.CacheDir, "stacks", "*")); len(files) != 3 {
		t.Errorf("files %q, want one for each size", files)
	}
	s.Stack = 2
	*made = 0
	if measure(t, e, s, 10, "sac"); *made > 0 {
		t.Error("measured though the settings say how many")
	}
}

// Groups are of the size with which all seeds together take the least time, as even as can
// be, and none is of one seed beside others of more.
func TestGroupsAreOfTheFastestSize(t *testing.T) {
	e, _, _ := counting(t)
	s := openStack()
	sizes := func(want string, seeds int) {
		t.Helper()
		if got := fmtInts(groupsOf(t, e, s, "sac-omega", seeds)); got != want {
			t.Errorf("%d seeds in groups of %s, want %s", seeds, got, want)
		}
	}
	sizes("2 2 3", 7) // nothing is known
	if err := e.keepPaces(s, "sac", paces{Paces: []pace{{1, 60}, {2, 110}, {3, 100}, {5, 130}}}); err != nil {
		t.Fatal(err)
	}
	sizes("1", 1)
	sizes("2 2", 4)
	sizes("3", 3) // 2 are faster, but one would be left alone
	sizes("2 2 3", 7)
	sizes("5 5", 10)
	s.Stack = 4
	sizes("3 4", 7)
	s.Stack = 2
	sizes("1 2", 3)
}

// A record that cannot be read counts as none; one that cannot be written is an error that
// says what to do.
func TestDamagedStackRecord(t *testing.T) {
	e, made, _ := counting(t)
	s := openStack()
	file, _ := e.stackFile(s, "sac")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"paces": [{"seeds": 0, "steps_per_second": 5}, {"seeds": 1, "steps_per_second": -5}]}`, `{"paces": [{"seeds": 1, "st`} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if n := e.stack(s, "sac", 5); n != unmeasured {
			t.Errorf("%s: %d seeds together, want %d", text, n, unmeasured)
		}
	}
	if measure(t, e, s, 1, "sac"); *made != 2 {
		t.Errorf("%d robots made, want 2", *made)
	}
	if known := e.readPaces(s, "sac"); len(known.Paces) != 1 || known.Paces[0].PerSec <= 0 || known.For["learner"] != "sac" {
		t.Errorf("kept %+v", known)
	}
	e.CacheDir = filepath.Join(e.CacheDir, "file")
	if err := os.WriteFile(e.CacheDir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := MeasureStack(t.Context(), e, s, []string{"sac"}, 1, 1); err == nil || !strings.Contains(err.Error(), "--set stack=N") {
		t.Errorf("error %v, want one that names the setting", err)
	}
}

// An interrupt ends a measurement and keeps nothing of it.
func TestStackMeasurementIsInterrupted(t *testing.T) {
	e, _, _ := counting(t)
	s := openStack()
	ctx, cancel := context.WithCancel(t.Context())
	e.robot = func(context.Context, Settings, int64, io.Writer) (env.Env, error) { cancel(); return &cart{}, nil }
	if err := MeasureStack(ctx, e, s, []string{"sac"}, 3, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if known := e.readPaces(s, "sac"); len(known.Paces) > 0 {
		t.Errorf("kept %v", known.Paces)
	}
}

func fmtInts(values []int) string { return strings.Trim(fmt.Sprint(values), "[]") }
