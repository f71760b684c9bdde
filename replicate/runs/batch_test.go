package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

// walkers are runs with state: the value of step t is the sum of seed + 1 over steps 0..t, which the group keeps in its
// state file.
type walkers struct {
	state   walkerState
	seeds   [][]int64 // of each group that started
	started [][]Spec  // its members
	steps   []int
	stopped int // groups
	fail    func(t int) error
}

// walkerState is from where a group continues.
type walkerState struct {
	Next int             // first step that is not in Sums
	Sums map[int64]int64 // by seed
}

func (w *walkers) start(_ context.Context, seeds []int64, members []Spec, files Files) (GroupStep, func(), error) {
	w.seeds, w.started, w.state = append(w.seeds, seeds), append(w.started, members), walkerState{}
	path := files.State(members[0])
	if text, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(text, &w.state); err != nil {
			return nil, nil, err
		}
	}
	return func(_ context.Context, t int) ([][]Row, error) {
		w.steps = append(w.steps, t)
		if w.fail != nil {
			if err := w.fail(t); err != nil {
				return nil, err
			}
		}
		if w.state.Sums == nil {
			w.state.Sums = map[int64]int64{}
		}
		for ; w.state.Next <= t; w.state.Next++ {
			for _, seed := range seeds {
				w.state.Sums[seed] += seed + 1
			}
		}
		var rows [][]Row
		for _, m := range members {
			rows = append(rows, []Row{{t, "sum", float64(w.state.Sums[m.Seed])}})
		}
		text, err := json.Marshal(w.state)
		if err != nil {
			return nil, err
		}
		return rows, os.WriteFile(path, text, 0o644)
	}, func() { w.stopped++ }, nil
}

// jobs are those of seeds 0..seeds-1.
func (w *walkers) jobs(seeds, steps int) []Job {
	var list []int64
	for seed := range seeds {
		list = append(list, int64(seed))
	}
	return jobsOf(batchOf(w.start, list...), steps)
}

// starter is the type of Batch.Start.
type starter = func(context.Context, []int64, []Spec, Files) (GroupStep, func(), error)

// batchOf is a batch whose seeds all train in one program.
func batchOf(start starter, seeds ...int64) *Batch {
	return &Batch{Seeds: seeds, GroupSize: len(seeds), Start: start}
}

// jobsOf are the jobs of a batch.
func jobsOf(batch *Batch, steps int) []Job {
	var jobs []Job
	for _, seed := range batch.Seeds {
		jobs = append(jobs, Job{Spec: spec(int(seed)), Steps: upTo(steps), Batch: batch})
	}
	return jobs
}

// An interrupted group continues from its state, with the rows of an uninterrupted one. The state file is removed when
// the runs are finished.
func TestGroupContinues(t *testing.T) {
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
	var out bytes.Buffer
	report, err := Execute(ctx, store, w.jobs(3, 10), Options{Workers: 2, Out: &out})
	if err != nil || report.Unfinished != 3 || len(report.Failed) != 0 || w.stopped != 1 ||
		!errors.Is(report.Err(), context.Canceled) || !strings.Contains(out.String(), "interrupted: 3 runs not finished") {
		t.Fatalf("report %+v, error %v, stopped %d times, output:\n%s", report, err, w.stopped, &out)
	}
	for seed := range 3 {
		if state := store.State(spec(seed), upTo(10)); !cmp.Equal(state, State{Kind: Partial, Steps: 4, Of: 10}) {
			t.Errorf("seed %d: state %v", seed, state)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "test", "*"+stateSuffix)); len(left) != 1 {
		t.Errorf("state files %q, want one", left)
	}
	again := walkers{}
	out.Reset()
	report, err = Execute(t.Context(), store, again.jobs(3, 10), Options{Out: &out, Workers: 2})
	if err != nil || report.Computed != 3 || len(report.Results) != 3 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	demand.List(t, again.steps, []int{4, 5, 6, 7, 8, 9}, "steps")
	checkSums(t, report, 3, 10)
	if !strings.Contains(out.String(), "test/ours seeds 0, 1, 2: done in") ||
		!strings.Contains(out.String(), "3 runs: 0 stored, 3 to compute (6 steps)") {
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
		demand.Equal(t, len(rows), steps, "rows of seed %d", seed)
	}
}

// A group's failure is that of every member.
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
}

// While another process holds one of its runs, a group waits and holds none.
func TestGroupClaimsAllOrNone(t *testing.T) {
	store := open(t, t.TempDir())
	demand.NoError(t, store.checkWritable("test"))
	release := claimed(t, store, spec(1))
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
	if report := <-waiting; report.Unfinished != 3 {
		t.Errorf("report %+v", report)
	}
	for _, seed := range []int{0, 2} {
		if _, held := store.holder(spec(seed)); held {
			t.Errorf("seed %d is locked while the group waits", seed)
		}
	}
	release()
	checkSums(t, execute(t, store, nil, new(walkers).jobs(3, 3)...), 3, 3)
}

// noteWriter calls itself with what is written.
type noteWriter func(text string)

func (w noteWriter) Write(p []byte) (int, error) { w(string(p)); return len(p), nil }

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		n, size int
		want    string
	}{
		{0, 3, "[]"}, {1, 3, "[[0]]"}, {3, 3, "[[0 1 2]]"}, {4, 3, "[[0 1] [2 3]]"}, {3, 1, "[[0] [1] [2]]"},
		{7, 3, "[[0 1] [2 3] [4 5 6]]"}, {10, 3, "[[0 1] [2 3 4] [5 6] [7 8 9]]"},
	} {
		got := fmt.Sprint(split([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}[:c.n], c.size))
		demand.Equal(t, got, c.want, "%d seeds in groups of at most %d", c.n, c.size)
	}
}

// Groups follow from all seeds of the batch: stored runs change none. Each group is a task of its own.
func TestBatchIsSplitIntoEvenGroups(t *testing.T) {
	store := open(t, t.TempDir())
	jobs := func(w *walkers) []Job {
		batch := batchOf(w.start, 0, 1, 2, 3, 4, 5, 6)
		batch.GroupSize = 3
		return jobsOf(batch, 4)
	}
	var first walkers
	var out bytes.Buffer
	report := execute(t, store, &out, jobs(&first)...)
	checkSums(t, report, 7, 4)
	if got := fmt.Sprint(first.seeds); got != "[[4 5 6] [0 1] [2 3]]" { // the largest first
		t.Errorf("groups %s", got)
	}
	demand.Words(t, out.String(), "7 runs: 0 stored, 7 to compute (12 steps)")
	for seed, want := range []int{2, 2, 2, 2, 3, 3, 3} {
		got := report.Results[spec(seed).ID()].Provenance.Together
		demand.Equal(t, got, want, "seeds in the program of seed %d", seed)
	}
	demand.NoError(t, os.Remove(store.donePath(spec(5))))
	var again walkers
	report = execute(t, store, nil, jobs(&again)...)
	checkSums(t, report, 7, 4)
	got := fmt.Sprint(again.seeds, len(again.started[0]), again.started[0][0].Seed)
	if got != "[[4 5 6]] 1 5" || report.Computed != 1 {
		t.Errorf("groups and members %s, report %+v", got, report)
	}
}

// A run that two batches want is computed in the first one, with the steps of both.
func TestRunOfTwoBatches(t *testing.T) {
	var a, b walkers
	jobs := slices.Concat(jobsOf(batchOf(a.start, 0, 1), 2), jobsOf(batchOf(b.start, 1, 2), 4))
	report := execute(t, open(t, t.TempDir()), nil, jobs...)
	if fmt.Sprint(a.seeds, b.seeds) != "[[0 1]] [[1 2]]" || len(b.started[0]) != 1 ||
		!slices.Equal(a.steps, []int{0, 1, 2, 3}) {
		t.Errorf("seeds %v and %v, members %v and %v, steps %v", a.seeds, b.seeds, a.started, b.started, a.steps)
	}
	if report.Computed != 3 || len(report.Results[spec(0).ID()].Rows) != 2 || len(report.Results[spec(1).ID()].Rows) != 4 {
		t.Errorf("report %+v", report)
	}
}
