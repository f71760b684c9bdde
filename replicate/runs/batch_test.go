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
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walkers are runs with state: the value of step t is the sum of seed + 1 over steps 0..t, which each run keeps in its
// state file.
type walkers struct {
	sums    map[string]float64 // by ID
	next    int                // first step that is not in sums
	seeds   [][]int64          // of each group that started
	started [][]Spec           // its members
	steps   []int
	walked  map[int64]int // steps by which each seed moved
	fail    func(t int) error
}

// progress reads the first word of a run's state.
func (w *walkers) progress(spec Spec, files Files) (next int) {
	text, _ := os.ReadFile(files.State(spec))
	fmt.Sscan(string(text), &next)
	return next
}

func (w *walkers) start(_ context.Context, seeds []int64, members []Spec, files Files) (GroupStep, func(), error) {
	w.seeds, w.started = append(w.seeds, seeds), append(w.started, members)
	w.sums, w.next = map[string]float64{}, 0
	if w.walked == nil {
		w.walked = map[int64]int{}
	}
	for _, m := range members {
		if text, err := os.ReadFile(files.State(m)); err == nil {
			var v float64
			fmt.Sscan(string(text), &w.next, &v)
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
		if t < w.next { // rows before the state were lost
			w.sums, w.next = map[string]float64{}, 0
		}
		var rows [][]Row
		for _, m := range members {
			for range t + 1 - w.next {
				w.sums[m.ID()] += float64(m.Seed + 1)
				w.walked[m.Seed]++
			}
			rows = append(rows, []Row{{t, "sum", w.sums[m.ID()]}})
			if err := os.WriteFile(files.State(m), fmt.Append(nil, t+1, w.sums[m.ID()]), 0o644); err != nil {
				return nil, err
			}
		}
		w.next = t + 1
		return rows, nil
	}, nil, nil
}

// jobs are those of seeds 0..seeds-1.
func (w *walkers) jobs(seeds, steps int) []Job {
	var list []int64
	for seed := range seeds {
		list = append(list, int64(seed))
	}
	batch := batchOf(w.start, list...)
	batch.Progress = w.progress
	return jobsOf(batch, steps)
}

// starter is the type of Batch.Start.
type starter = func(context.Context, []int64, []Spec, Files) (GroupStep, func(), error)

// batchOf is a batch whose seeds all train in one program.
func batchOf(start starter, seeds ...int64) *Batch {
	return &Batch{Seeds: seeds, GroupSize: func(context.Context) (int, error) { return len(seeds), nil }, Start: start}
}

// jobsOf are the jobs of a batch.
func jobsOf(batch *Batch, steps int) []Job {
	var jobs []Job
	for _, seed := range batch.Seeds {
		jobs = append(jobs, Job{Spec: spec(int(seed)), Steps: upTo(steps), Batch: batch})
	}
	return jobs
}

// An interrupted group continues from its states, with the rows of an uninterrupted one. A state file is removed when
// its run is finished.
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
	report, err := Execute(ctx, store, w.jobs(3, 10), Options{Workers: 2})
	if err != nil || !report.Interrupted || report.Unfinished != 3 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	for seed := range 3 {
		if state := store.State(spec(seed), upTo(10)); !cmp.Equal(state, State{Kind: Partial, Steps: 4, Of: 10}) {
			t.Errorf("seed %d: state %v", seed, state)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "test", "*"+stateSuffix)); len(left) != 3 {
		t.Errorf("state files %q, want three", left)
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
	if !strings.Contains(out.String(), "test/ours seeds 0, 1, 2: done in") ||
		!strings.Contains(out.String(), "3 runs: 0 stored, 3 to compute (6 steps)") {
		t.Errorf("output:\n%s", &out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "test", "*")); len(left) != 3 {
		t.Errorf("files left: %q", left)
	}
}

// interruptedAt computes the steps before t of the batch's runs and is then interrupted.
func interruptedAt(t *testing.T, store *Store, at int, jobs func(w *walkers) []Job) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := walkers{fail: func(t int) error {
		if t == at {
			cancel()
			return errors.New("stopped")
		}
		return nil
	}}
	if report, err := Execute(ctx, store, jobs(&w), Options{}); err != nil || !report.Interrupted {
		t.Fatalf("report %+v, error %v", report, err)
	}
}

// Runs that were interrupted in a group of three continue alone and in groups of other sizes; those at different steps
// continue apart, next to a seed that fills the program. None starts again, in whichever order.
func TestGroupsAreSplitByProgress(t *testing.T) {
	store := open(t, t.TempDir())
	interruptedAt(t, store, 4, func(w *walkers) []Job { return w.jobs(3, 10) })
	alone := func(seed int64) func(w *walkers) []Job {
		return func(w *walkers) []Job {
			batch := batchOf(w.start, seed)
			batch.Progress = w.progress
			return jobsOf(batch, 10)
		}
	}
	interruptedAt(t, store, 6, alone(1))
	if state := store.State(spec(1), upTo(10)); state.Steps != 6 {
		t.Fatalf("alone it came to %v", state)
	}
	var w walkers
	var out bytes.Buffer
	report := execute(t, store, &out, w.jobs(5, 10)...) // 0 and 2 at step 4, 1 at 6, 3 and 4 at 0
	checkSums(t, report, 5, 10)
	if want := map[int64]int{0: 6, 1: 4, 2: 6, 3: 10, 4: 10}; !cmp.Equal(w.walked, want) {
		t.Errorf("steps by seed %v, want %v", w.walked, want)
	}
	if got := fmt.Sprint(w.seeds); got != "[[0 2] [1 0] [3 4]]" {
		t.Errorf("groups %s", got)
	}
	if text := out.String(); !strings.Contains(text, "seeds 0, 1, 2, 3, 4 are not at the same step") ||
		strings.Contains(text, "FAILED") {
		t.Errorf("output\n%s", text)
	}
	if left, _ := filepath.Glob(filepath.Join(store.dir, "test", "*")); len(left) != 5 {
		t.Errorf("files left: %q", left)
	}
}

// A run whose rows before its state were lost starts again, and only that one. A finished one does not train.
func TestSplitOfLostRows(t *testing.T) {
	store := open(t, t.TempDir())
	interruptedAt(t, store, 4, func(w *walkers) []Job { return w.jobs(3, 10) })
	if err := os.Truncate(store.partialPath(spec(1)), 0); err != nil {
		t.Fatal(err)
	}
	os.Remove(store.partialPath(spec(2)))
	begunWith(t, store, spec(2), upTo(10), session(0, "a"))
	var w walkers
	report := execute(t, store, nil, w.jobs(3, 10)...)
	if want := map[int64]int{0: 6, 1: 10}; !cmp.Equal(w.walked, want) {
		t.Errorf("steps by seed %v, want %v", w.walked, want)
	}
	for _, seed := range []int{0, 1} {
		if rows := report.Results[spec(seed).ID()].Rows; rows[9].Value != float64(10*(seed+1)) {
			t.Errorf("seed %d: %v", seed, rows)
		}
	}
}

// A group that finds other progress than it was told is asked again.
func TestRegroup(t *testing.T) {
	var w walkers
	asked := 0
	batch := batchOf(func(ctx context.Context, seeds []int64, members []Spec, files Files) (GroupStep, func(), error) {
		if asked++; asked == 1 {
			return nil, nil, fmt.Errorf("a state is damaged: %w", ErrRegroup)
		}
		return w.start(ctx, seeds, members, files)
	}, 0, 1)
	store := open(t, t.TempDir())
	checkSums(t, execute(t, store, nil, jobsOf(batch, 3)...), 2, 3)
	if asked != 2 || len(w.started) != 1 {
		t.Errorf("asked %d times, started %v", asked, w.started)
	}
	if notes, _ := filepath.Glob(filepath.Join(store.dir, "test", "*"+failedSuffix)); len(notes) != 0 {
		t.Errorf("notes of a failure: %q", notes)
	}
}

// The state of a group that an older program wrote is removed with a note.
func TestStateOfAnOlderProgram(t *testing.T) {
	store := open(t, t.TempDir())
	older := store.olderState([]Spec{spec(0), spec(1)})
	if err := store.checkWritable("test"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(older, []byte("7 8 9"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	checkSums(t, execute(t, store, &out, new(walkers).jobs(2, 3)...), 2, 3)
	if isThere(older) || !strings.Contains(out.String(), "the state of an older program cannot be used") {
		t.Errorf("output\n%s", &out)
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

// Only runs that lack steps are members of the group.
func TestGroupLeavesOutStoredMembers(t *testing.T) {
	store := open(t, t.TempDir())
	var first walkers
	execute(t, store, nil, first.jobs(2, 5)...)
	var second walkers
	report := execute(t, store, nil, second.jobs(4, 5)...)
	if got := second.started; len(got) != 1 || len(got[0]) != 2 || got[0][0].Seed != 2 || got[0][1].Seed != 3 {
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

// A group's failure is that of every member. A wrong number of rows is a failure.
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
	short := batchOf(func(context.Context, []int64, []Spec, Files) (GroupStep, func(), error) {
		return func(context.Context, int) ([][]Row, error) { return make([][]Row, 1), nil }, nil, nil
	}, 7, 8)
	report, err = Execute(t.Context(), store, jobsOf(short, 1), Options{})
	if err != nil || len(report.Failed) != 2 || !strings.Contains(report.Failed[0].Err.Error(), "rows of 1 runs for 2") {
		t.Errorf("report %+v, error %v", report, err)
	}
}

// A step's panic is an error, with the stack for the failure's note.
func TestGuarded(t *testing.T) {
	_, err := Guarded(func(context.Context, int) ([]Row, error) { panic("out of luck") })(t.Context(), 1)
	var panicked *panicError
	if !errors.As(err, &panicked) || err.Error() != "panic: out of luck" ||
		!strings.Contains(panicked.stack, "TestGuarded") {
		t.Errorf("error %v", err)
	}
	rows, err := Guarded(func(_ context.Context, t int) ([]Row, error) { return []Row{{t, "x", 2}}, nil })(t.Context(), 4)
	if err != nil || !slices.Equal(rows, []Row{{4, "x", 2}}) {
		t.Errorf("rows %v, error %v", rows, err)
	}
}

// While another process holds one of its runs, a group waits and holds none.
func TestGroupClaimsAllOrNone(t *testing.T) {
	store := open(t, t.TempDir())
	if err := store.checkWritable("test"); err != nil {
		t.Fatal(err)
	}
	release, err := store.claim(spec(1))
	if release == nil || err != nil {
		t.Fatal("not claimed", err)
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

func TestGroupSizes(t *testing.T) {
	for _, c := range []struct {
		n, size int
		want    string
	}{
		{1, 3, "[1]"}, {3, 3, "[3]"}, {4, 3, "[2 2]"}, {7, 3, "[2 2 3]"}, {10, 3, "[2 3 2 3]"},
		{10, 1, "[1 1 1 1 1 1 1 1 1 1]"},
	} {
		if got := fmt.Sprint(GroupSizes(c.n, c.size)); got != c.want {
			t.Errorf("%d seeds in groups of at most %d: %s, want %s", c.n, c.size, got, c.want)
		}
	}
}

// The group size is asked for once, and only if a run is missing. Groups follow from all seeds of the batch: stored
// runs change none. Each group is a task of its own.
func TestBatchIsSplitIntoEvenGroups(t *testing.T) {
	store := open(t, t.TempDir())
	asked := 0
	jobs := func(w *walkers) []Job {
		batch := batchOf(w.start, 0, 1, 2, 3, 4, 5, 6)
		batch.GroupSize = func(context.Context) (int, error) { asked++; return 3, nil }
		return jobsOf(batch, 4)
	}
	var first walkers
	var out bytes.Buffer
	report := execute(t, store, &out, jobs(&first)...)
	checkSums(t, report, 7, 4)
	if got := fmt.Sprint(first.seeds); asked != 1 || got != "[[4 5 6] [0 1] [2 3]]" { // the largest first
		t.Errorf("asked %d times, groups %s", asked, got)
	}
	if want := "7 runs: 0 stored, 7 to compute (12 steps)"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
	for seed, want := range []int{2, 2, 2, 2, 3, 3, 3} {
		if got := report.Results[spec(seed).ID()].Provenance.Together; got != want {
			t.Errorf("seed %d: %d seeds in its program, want %d", seed, got, want)
		}
	}
	if execute(t, store, nil, jobs(new(walkers))...); asked != 1 {
		t.Error("asked for the group size though all runs are stored")
	}
	if err := os.Remove(store.donePath(spec(5))); err != nil {
		t.Fatal(err)
	}
	var again walkers
	report = execute(t, store, nil, jobs(&again)...)
	checkSums(t, report, 7, 4)
	got := fmt.Sprint(again.seeds, len(again.started[0]), again.started[0][0].Seed)
	if asked != 2 || got != "[[4 5 6]] 1 5" || report.Computed != 1 {
		t.Errorf("asked %d times, groups and members %s, report %+v", asked, got, report)
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

// If GroupSize fails, only the runs of its batch fail.
func TestGroupSizeFails(t *testing.T) {
	for want, size := range map[string]func(context.Context) (int, error){
		"no device":     func(context.Context) (int, error) { return 0, errors.New("no device") },
		"a group of 0":  func(context.Context) (int, error) { return 0, nil },
		"out of memory": func(context.Context) (int, error) { panic("out of memory") },
	} {
		store := open(t, t.TempDir())
		batch := batchOf(new(walkers).start, 0, 1)
		batch.GroupSize = size
		jobs := append(jobsOf(batch, 3), testJob(7, upTo(2), new(atomic.Int64)))
		report, err := Execute(t.Context(), store, jobs, Options{})
		if err != nil || report.Computed != 1 || len(report.Failed) != 2 || report.Interrupted {
			t.Fatalf("report %+v, error %v", report, err)
		}
		for seed, failure := range report.Failed {
			state := store.State(spec(seed), upTo(3))
			if failure.Spec.Seed != int64(seed) || !strings.Contains(failure.Err.Error(), want) ||
				state.Kind != Failed || !strings.Contains(state.Message, want) {
				t.Errorf("failure %v, state %v, want %q", failure, state, want)
			}
		}
	}
}

// Cancelled while group sizes are found: nothing has failed, and no other batch is asked.
func TestGroupSizeIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	first, second := batchOf(new(walkers).start, 0, 1), batchOf(new(walkers).start, 2)
	first.GroupSize = func(ctx context.Context) (int, error) { cancel(); return 0, ctx.Err() }
	second.GroupSize = func(context.Context) (int, error) { t.Error("the second batch is asked"); return 1, nil }
	report, err := Execute(ctx, open(t, t.TempDir()), append(jobsOf(first, 3), jobsOf(second, 3)...), Options{})
	if err != nil || !report.Interrupted || report.Unfinished != 3 || len(report.Failed) != 0 {
		t.Errorf("report %+v, error %v", report, err)
	}
	var interrupted *InterruptedError
	if !errors.As(report.Err(), &interrupted) || interrupted.Total != 3 || !errors.Is(report.Err(), context.Canceled) {
		t.Errorf("error %v", report.Err())
	}
}

// A folder that cannot be written is found before GroupSize measures.
func TestGroupSizeOfAnUnwritableFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "test"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	batch := batchOf(new(walkers).start, 0)
	batch.GroupSize = func(context.Context) (int, error) { t.Error("asked"); return 1, nil }
	_, err := Execute(t.Context(), open(t, dir), jobsOf(batch, 1), Options{})
	if !errors.As(err, new(*FolderError)) {
		t.Errorf("error %v", err)
	}
}
