package runs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

// tear appends an incomplete step, as kill -9 during a write does.
func tear(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	demand.NoError(t, err)
	defer file.Close()
	line := stepLine(0, 19)
	file.Write(line[:len(line)-1])
}

// However an unfinished run's file is cut or altered, only correct steps are read from it, with their session and time.
func TestPartialFileTrustsNothing(t *testing.T) {
	store := open(t, t.TempDir())
	path := store.partialPath(spec(0))
	begun(t, store, spec(0), upTo(8), Provenance{Commit: "a"})
	data := demand.Read(t, path)
	check := func(data []byte) int {
		part := parsePartial(data, spec(0).ID())
		for step, rows := range part.rows {
			if !cmp.Equal(rows, rowsAt(0, step)) {
				t.Errorf("step %d is read as %v", step, rows)
			}
			if len(part.sessions) != 1 || part.sessions[0].Commit != "a" {
				t.Errorf("step %d is of %+v", step, part.sessions)
			}
		}
		demand.Equal(t, part.seconds, float64(len(part.rows)), "seconds of %d steps", len(part.rows))
		if int(part.size) > len(data) {
			t.Errorf("size %d of %d", part.size, len(data))
		}
		return len(part.rows)
	}
	if n := check(data); n != 8 {
		t.Fatalf("%d steps of the whole file", n)
	}
	if n := check(append(bytes.Clone(data), stepLine(0, 7)...)); n != 8 {
		t.Errorf("a step is there twice: %d steps", n)
	}
	before := 0
	for at := range data {
		n := check(data[:at])
		if n < before || n > before+1 {
			t.Errorf("cut to %d bytes: %d steps after %d", at, n, before)
		}
		before = n
		altered := bytes.Clone(data)
		altered[at] ^= 4
		check(altered)
		altered[at] = 0
		check(altered)
	}
	for line, at := range regexp.MustCompile(`,"sum":"\w+"`).FindAllIndex(data, -1) {
		withoutSum := slices.Concat(data[:at[0]], data[at[1]:])
		demand.Equal(t, check(withoutSum), max(0, line-2), "steps where line %d has no sum", line)
	}
	tear(t, path)
	begun(t, store, spec(0), []int{8}, Provenance{})
	again := demand.Read(t, path)
	if part := parsePartial(again, spec(0).ID()); len(part.rows) != 9 || int(part.size) != len(again) {
		t.Errorf("after an incomplete write: %d steps in %d of %d bytes", len(part.rows), part.size, len(again))
	}
	if part := parsePartial(data, spec(1).ID()); len(part.rows) != 0 || part.size != 0 {
		t.Error("another run's steps are read")
	}
}

// After a kill between the last step and the writing of the result nothing is computed, not even the set-up.
func TestKilledBeforeTheLastWrite(t *testing.T) {
	store := open(t, t.TempDir())
	begun(t, store, spec(0), upTo(8), Provenance{Commit: "then"})
	killed := func(suffixes ...string) {
		for _, suffix := range suffixes {
			demand.Write(t, store.path(spec(0), suffix), "")
			demand.Write(t, filepath.Join(store.dir, "test", "."+spec(0).ID()+suffix+"123"), "")
		}
	}
	killed(stateSuffix, fileSuffix)
	os.Remove(store.donePath(spec(0)))
	report := execute(t, store, nil, startJob(spec(0), upTo(8), func(context.Context) (StepFunc, func(), error) {
		return nil, nil, errors.New("must not be called")
	}))
	provenance := report.Results[spec(0).ID()].Provenance
	if provenance.Commit != "then" || provenance.Seconds != 8 {
		t.Errorf("provenance %+v", provenance)
	}
	if !bytes.Equal(secondFrame(t, store, spec(0)), uninterrupted(t, 0, upTo(8))) {
		t.Error("other bytes than the uninterrupted run")
	}
	if left, _ := os.ReadDir(filepath.Join(store.dir, "test")); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

// A finished run gets the steps that it lacks, and only those are computed. A larger stride computes nothing and
// returns only the wanted rows.
func TestOtherSteps(t *testing.T) {
	store := open(t, t.TempDir())
	var count atomic.Int64
	execute(t, store, nil, testJob(0, []int{8, 0, 4}, &count))
	if state := store.State(spec(0), upTo(10)); state.Kind != Partial || state.Steps != 3 {
		t.Errorf("state %v", state)
	}
	report := execute(t, store, nil, testJob(0, upTo(10), &count))
	if count.Load() != 10 || report.Computed != 1 {
		t.Errorf("%d steps computed, want 10", count.Load())
	}
	if !bytes.Equal(secondFrame(t, store, spec(0)), uninterrupted(t, 0, upTo(10))) {
		t.Error("other bytes than the run with all steps")
	}
	report = execute(t, store, nil, testJob(0, []int{1, 5}, &count), testJob(0, []int{9}, &count))
	if report.Cached != 1 || count.Load() != 10 {
		t.Errorf("cached %d, %d steps computed", report.Cached, count.Load())
	}
	if diff := cmp.Diff(wantRows(0, []int{1, 5, 9}), report.Results[spec(0).ID()].Rows); diff != "" {
		t.Error(diff)
	}
	if state := store.State(spec(0), []int{1, 5}); state.Kind != Done {
		t.Errorf("state %v", state)
	}
}

// Where locks exclude no other machine, a process whose run another one has taken says so and ends, also after kill -9.
// One that is alone then completes the runs, with the same bytes.
func TestLocksThatAreAlwaysGranted(t *testing.T) {
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	store := open(t, dir)
	killed, _ := startChild(t, dir, log, 200*time.Millisecond)
	first, firstOut := startChild(t, dir, log, 10*time.Millisecond)
	demand.Soon(t, "a step that both compute", func() bool {
		text, _ := os.ReadFile(log)
		lines := strings.Split(string(text), "\n")
		return len(slices.Compact(slices.Sorted(slices.Values(lines)))) < len(lines)
	})
	killed.Process.Kill()
	killed.Wait()
	second, secondOut := startChild(t, dir, log, 0)
	for process, output := range map[*exec.Cmd]*bytes.Buffer{first: firstOut, second: secondOut} {
		if err := process.Wait(); err != nil && !strings.Contains(output.String(), "locked one file twice") {
			t.Errorf("%v\n%s", err, output)
		}
	}
	last, lastOut := startChild(t, dir, log, 0)
	if err := last.Wait(); err != nil {
		t.Errorf("%v\n%s", err, lastOut)
	}
	for seed := range childSeeds {
		if !bytes.Equal(secondFrame(t, store, spec(seed)), uninterrupted(t, seed, upTo(childSteps))) {
			t.Errorf("seed %d: other bytes than those of one process", seed)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "test", "*")); len(left) != childSeeds {
		t.Errorf("files left: %q", left)
	}
}

// A run that another process holds is awaited at the end, and computed if that process releases it unfinished. Waiting
// takes few attempts, which do not come at the same time as another waiter's.
func TestHeldRunIsWaitedFor(t *testing.T) {
	codec() // outside of the bubble: only the bubble may use channels made in it
	synctest.Test(t, func(t *testing.T) {
		store := open(t, t.TempDir())
		release := claimed(t, store, spec(0))
		var mutex sync.Mutex
		var attempts []time.Time
		inject(t, func(file *os.File, how int) error {
			err := systemFlock(file, how)
			if errors.Is(err, syscall.EWOULDBLOCK) && how == lockExclusive {
				mutex.Lock()
				attempts = append(attempts, time.Now())
				mutex.Unlock()
			}
			return err
		})
		other := testJob(1, upTo(1), new(atomic.Int64))
		otherDone := false
		step := stepOf(other)
		other.Batch = Alone(1, func(context.Context) (StepFunc, func(), error) {
			return step, func() { otherDone = true }, nil
		})
		var out bytes.Buffer
		var count atomic.Int64
		var wait sync.WaitGroup
		wait.Go(func() {
			report := execute(t, store, &out, testJob(0, upTo(2), &count), other)
			if report.Computed+report.Cached != 2 || count.Load() != 2 { // the other waiter may be faster
				t.Errorf("report %+v, %d steps", report, count.Load())
			}
		})
		wait.Go(func() { execute(t, store, nil, testJob(0, upTo(2), &count)) })
		time.Sleep(time.Hour)
		mutex.Lock()
		if n := len(attempts); n < 1000 || n > 2500 { // two waiters, each about every 5 seconds
			t.Errorf("%d attempts in an hour", n)
		}
		slices.SortFunc(attempts, time.Time.Compare)
		last := attempts[len(attempts)-1000:]
		if distinct := slices.CompactFunc(slices.Clone(last), time.Time.Equal); len(distinct) != len(last) {
			t.Errorf("of 1000 attempts %d at the same time as another", len(last)-len(distinct))
		}
		mutex.Unlock()
		if !otherDone {
			t.Error("the other job waits for the held one")
		}
		released := time.Now()
		release()
		wait.Wait()
		if took := time.Since(released); took > 2*longestPause {
			t.Errorf("continued %s after the release", took)
		}
		demand.Equal(t, strings.Count(out.String(), "is being computed by another process (on "), 1, "reports in\n%s", &out)
	})
}
