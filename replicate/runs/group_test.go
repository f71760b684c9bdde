package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walkers are runs that build on their own past: the value of step t is the sum of the
// seed over steps 0..t, which the group carries from step to step in its state file.
type walkers struct {
	sums    map[string]float64 // by ID
	next    int                // first step that is not in sums
	started [][]Spec
	steps   []int
	fail    func(t int) error
}

func (w *walkers) start(_ context.Context, members []Spec, files Files) (GroupStep, func(), error) {
	w.started = append(w.started, members)
	w.sums, w.next = map[string]float64{}, 0
	state := files.State
	if text, err := os.ReadFile(state); err == nil {
		fields := strings.Fields(string(text))
		fmt.Sscan(fields[0], &w.next)
		for i, m := range members {
			var v float64
			fmt.Sscan(fields[1+i], &v)
			w.sums[m.ID()] = v
		}
	}
	return func(_ context.Context, t int) ([][]Row, error) {
		w.steps = append(w.steps, t)
		if w.fail != nil {
			if err := w.fail(t); err != nil {
				return nil, err
			}
		}
		var rows [][]Row
		text := fmt.Sprint(t + 1)
		for _, m := range members {
			for range t + 1 - w.next {
				w.sums[m.ID()] += float64(m.Seed + 1)
			}
			rows = append(rows, []Row{{t, "sum", w.sums[m.ID()]}})
			text += fmt.Sprint(" ", w.sums[m.ID()])
		}
		w.next = t + 1
		return rows, os.WriteFile(state, []byte(text), 0o644)
	}, nil, nil
}

// jobs are those of seeds 0..seeds-1.
func (w *walkers) jobs(seeds, steps int) []Job {
	group := &Group{Size: seeds, Start: w.start}
	var jobs []Job
	for seed := range seeds {
		jobs = append(jobs, Job{Spec: spec(seed), Steps: upTo(steps), Group: group})
	}
	return jobs
}

// A group that is broken off goes on from its state, with the rows of an unbroken one; its
// state file goes when all is finished.
func TestGroupGoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	var w walkers
	w.fail = func(t int) error {
		if t == 4 {
			cancel()
			return errors.New("stopped")
		}
		return nil
	}
	report, err := Execute(ctx, store, w.jobs(3, 10), Options{Workers: 2})
	if err != nil || !report.Interrupted || report.Unfinished != 3 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	for seed := range 3 {
		if state := store.State(spec(seed), upTo(10)); state != (State{Kind: Partial, Steps: 4, Of: 10}) {
			t.Errorf("seed %d: state %v", seed, state)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "test", "*"+stateSuffix)); len(left) != 1 {
		t.Errorf("state files %q, want one", left)
	}
	again := walkers{}
	var out bytes.Buffer
	report, err = Execute(t.Context(), store, again.jobs(3, 10), Options{Out: &out, Workers: 2})
	if err != nil || report.Computed != 3 || len(report.Results) != 3 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	if want := []int{4, 5, 6, 7, 8, 9}; !slices.Equal(again.steps, want) {
		t.Errorf("steps %v, want %v", again.steps, want)
	}
	checkSums(t, report, 3, 10)
	if !strings.Contains(out.String(), "test/ours seeds 0, 1, 2: done in") || !strings.Contains(out.String(), "3 runs: 0 stored, 3 to compute (6 steps)") {
		t.Errorf("output:\n%s", &out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "test", "*")); len(left) != 3 {
		t.Errorf("files left: %q", left)
	}
}

func checkSums(t *testing.T, report Report, seeds, steps int) {
	t.Helper()
	for seed := range seeds {
		rows := report.Results[spec(seed).ID()].Rows
		for i, row := range rows {
			if want := float64((seed + 1) * (i + 1)); row != (Row{i, "sum", want}) {
				t.Errorf("seed %d: row %v, want %v at %d", seed, row, want, i)
			}
		}
		if len(rows) != steps {
			t.Errorf("seed %d: %d rows, want %d", seed, len(rows), steps)
		}
	}
}

// Only the members that lack steps are computed, and only once together.
func TestGroupLeavesOutStoredMembers(t *testing.T) {
	store := open(t, t.TempDir())
	var first walkers
	execute(t, store, nil, first.jobs(2, 5)...)
	var second walkers
	report := execute(t, store, nil, second.jobs(4, 5)...)
	if len(second.started) != 1 || len(second.started[0]) != 2 || second.started[0][0].Seed != 2 || second.started[0][1].Seed != 3 {
		t.Errorf("started with %v, want seeds 2 and 3", second.started)
	}
	if report.Computed != 2 || report.Cached != 2 {
		t.Errorf("%d computed, %d cached", report.Computed, report.Cached)
	}
	checkSums(t, report, 4, 5)
	for seed, want := range []int{2, 2, 4, 4} {
		if got := report.Results[spec(seed).ID()].Provenance.Together; got != want {
			t.Errorf("seed %d: %d runs in its program, want %d", seed, got, want)
		}
	}
}

// A failure is that of every member, and a wrong number of rows is one.
func TestGroupFails(t *testing.T) {
	store := open(t, t.TempDir())
	w := walkers{fail: func(t int) error {
		if t == 2 {
			panic("out of luck")
		}
		return nil
	}}
	report, err := Execute(t.Context(), store, w.jobs(3, 5), Options{})
	if err != nil || len(report.Failed) != 3 || !strings.Contains(report.Failed[2].Err.Error(), "out of luck") {
		t.Errorf("report %+v, error %v", report, err)
	}
	short := &Group{Start: func(context.Context, []Spec, Files) (GroupStep, func(), error) {
		return func(context.Context, int) ([][]Row, error) { return make([][]Row, 1), nil }, nil, nil
	}}
	jobs := []Job{{Spec: spec(7), Steps: upTo(1), Group: short}, {Spec: spec(8), Steps: upTo(1), Group: short}}
	report, err = Execute(t.Context(), store, jobs, Options{})
	if err != nil || len(report.Failed) != 2 || !strings.Contains(report.Failed[0].Err.Error(), "rows of 1 runs for 2") {
		t.Errorf("report %+v, error %v", report, err)
	}
}

// A step's panic is an error, with the stack for the failure's note.
func TestGuarded(t *testing.T) {
	_, err := Guarded(func(context.Context, int) ([]Row, error) { panic("out of luck") })(t.Context(), 1)
	var panicked *panicError
	if !errors.As(err, &panicked) || err.Error() != "panic: out of luck" || !strings.Contains(panicked.stack, "TestGuarded") {
		t.Errorf("error %v", err)
	}
	rows, err := Guarded(func(_ context.Context, t int) ([]Row, error) { return []Row{{t, "x", 2}}, nil })(t.Context(), 4)
	if err != nil || !slices.Equal(rows, []Row{{4, "x", 2}}) {
		t.Errorf("rows %v, error %v", rows, err)
	}
}

// While another holds one of its runs, a group waits and holds none.
func TestGroupClaimsAllOrNone(t *testing.T) {
	store := open(t, t.TempDir())
	if err := store.checkWritable("test"); err != nil {
		t.Fatal(err)
	}
	release, ok, err := store.claim(spec(1))
	if !ok || err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan Report)
	go func() {
		report, _ := Execute(ctx, store, new(walkers).jobs(3, 3), Options{Out: noteWriter(func(text string) {
			if strings.Contains(text, "by another process") {
				cancel()
			}
		})})
		waiting <- report
	}()
	if report := <-waiting; !report.Interrupted || report.Unfinished != 3 {
		t.Errorf("report %+v", report)
	}
	for _, seed := range []int{0, 2} {
		if store.locked(spec(seed)) {
			t.Errorf("seed %d is locked while the group waits", seed)
		}
	}
	release()
	checkSums(t, execute(t, store, nil, new(walkers).jobs(3, 3)...), 3, 3)
}

// noteWriter hands on what is written.
type noteWriter func(text string)

func (w noteWriter) Write(p []byte) (int, error) { w(string(p)); return len(p), nil }
