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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
)

// Shards that are computed at the same time, or one after the other, compute each step once. The last one writes the
// bytes of an unsharded run, and leaves no other file.
func TestShardsEqualTheWhole(t *testing.T) {
	want := uninterrupted(t, 0, upTo(11))
	for _, n := range []int{1, 3, 11} {
		for _, parallel := range []bool{false, true} {
			store := open(t, t.TempDir())
			var count atomic.Int64
			var wait sync.WaitGroup
			for k := 1; k <= n; k++ {
				work := func() {
					report := execute(t, store, nil, testJob(0, upTo(11), &count).Part(k, n))
					if got := report.Results[spec(0).ID()]; !slices.Equal(got.Rows, wantRows(0, got.Steps)) || report.Computed != 1 {
						t.Errorf("shard %d of %d: %+v", k, n, report)
					}
				}
				if !parallel {
					work()
					continue
				}
				wait.Go(work)
			}
			wait.Wait()
			if count.Load() != 11 || !bytes.Equal(secondFrame(t, store, spec(0)), want) {
				t.Errorf("%d shards, parallel %v: %d steps computed, or other bytes", n, parallel, count.Load())
			}
			if left, _ := filepath.Glob(filepath.Join(store.dir, "test", "*")); len(left) != 1 {
				t.Errorf("%d shards, parallel %v: files left %q", n, parallel, left)
			}
		}
	}
}

// Every reader sees the steps of all shards; a shard does not compute what another file has; the whole run takes them.
func TestReadersSeeAllShards(t *testing.T) {
	store := open(t, t.TempDir())
	var count atomic.Int64
	begunWith(t, store, spec(0), []int{3}, session(0, "whole"))
	execute(t, store, nil, testJob(0, upTo(10), &count).Part(1, 3)) // 0, 3, 6, 9
	execute(t, store, nil, testJob(0, upTo(10), &count).Part(3, 3)) // 2, 5, 8
	if count.Load() != 6 {
		t.Errorf("%d steps computed, want 6: step 3 was there", count.Load())
	}
	for _, pattern := range []string{"*", "*/*"} {
		if left, _ := filepath.Glob(filepath.Join(store.dir, "test", pattern+lockSuffix)); len(left) != 0 {
			t.Errorf("lock files left: %q", left)
		}
	}
	if got := store.State(spec(0), upTo(10)); got.Kind != Partial || got.Steps != 7 {
		t.Errorf("state %v, want 7 steps", got)
	}
	if specs, problems, err := store.Unfinished(); len(specs) != 1 || len(problems) != 0 || err != nil {
		t.Errorf("unfinished: %v, %v, %v", specs, problems, err)
	}
	into := open(t, t.TempDir())
	merge(t, 0, into, store)
	if got := into.State(spec(0), upTo(10)); got.Steps != 7 {
		t.Errorf("merged: %v, want 7 steps", got)
	}
	for _, s := range []*Store{store, into} {
		count.Store(0)
		execute(t, s, nil, testJob(0, upTo(10), &count))
		if count.Load() != 3 || !bytes.Equal(secondFrame(t, s, spec(0)), uninterrupted(t, 0, upTo(10))) {
			t.Errorf("%d steps computed afterwards, want 3, or other bytes", count.Load())
		}
	}
	p := execute(t, store, nil, testJob(0, upTo(10), &count)).Results[spec(0).ID()].Provenance
	if p.Commits[0] != "whole" || !p.Start.Equal(session(0, "").Start) {
		t.Errorf("provenance %+v", p)
	}
}

// Merging into a folder with shards keeps their steps, in one file.
func TestMergeIntoShards(t *testing.T) {
	a, into := open(t, t.TempDir()), open(t, t.TempDir())
	execute(t, a, nil, testJob(0, upTo(10), new(atomic.Int64)).Part(1, 2))
	execute(t, into, nil, testJob(0, upTo(9), new(atomic.Int64)).Part(2, 2))
	merge(t, 0, into, a)
	if got := into.State(spec(0), upTo(10)); got.Steps != 9 {
		t.Errorf("%v, want 9 steps", got)
	}
	if left, _ := filepath.Glob(filepath.Join(into.dir, "test", "*")); len(left) != 1 {
		t.Errorf("files left: %q", left)
	}
}

// A shard that is killed loses at most the running step, and its file is read by whoever continues.
func TestKilledShardContinues(t *testing.T) {
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	t.Setenv(envShard, "2")
	command, output := startChild(t, dir, log, 1, 30, 5*time.Millisecond)
	store := open(t, dir)
	waitFor(t, "some steps", func() bool { return store.State(spec(0), upTo(30)).Steps >= 3 })
	state := store.State(spec(0), upTo(30))
	command.Process.Kill()
	command.Wait()
	if state.Kind != Running || len(state.By) != 1 || state.By[0].PID != command.Process.Pid {
		t.Errorf("state %v, by %+v, want process %d (%s)", state, state.By, command.Process.Pid, output)
	}
	begun := len(countLines(t, log))
	command, output = startChild(t, dir, log, 1, 30, 0)
	if err := command.Wait(); err != nil {
		t.Fatal(err, output)
	}
	twice := 0
	for _, n := range countLines(t, log) {
		twice += n - 1
	}
	if twice > 1 || len(countLines(t, log)) != 15 || begun == 15 {
		t.Errorf("%d steps computed again, %d of 15 computed, %d before the kill", twice, len(countLines(t, log)), begun)
	}
	t.Setenv(envShard, "1")
	command, output = startChild(t, dir, log, 1, 30, 0)
	if err := command.Wait(); err != nil {
		t.Fatal(err, output)
	}
	if !bytes.Equal(secondFrame(t, store, spec(0)), uninterrupted(t, 0, upTo(30))) {
		t.Error("other bytes than the uninterrupted run")
	}
}

// blocked starts a job whose first step waits until release is called.
func blocked(t *testing.T, store *Store, job Job) (release func()) {
	t.Helper()
	begun, goOn, ended := make(chan bool), make(chan bool), make(chan bool)
	step := job.Step
	job.Step = func(ctx context.Context, t int) ([]Row, error) {
		select {
		case begun <- true:
		default:
		}
		<-goOn
		return step(ctx, t)
	}
	go func() {
		defer close(ended)
		execute(t, store, nil, job)
	}()
	<-begun
	return func() { close(goOn); <-ended }
}

// A shard and the whole run exclude each other, other shards do not. What is held is left out with NoWait.
func TestNoWait(t *testing.T) {
	whole := func() Job { return testJob(0, upTo(10), new(atomic.Int64)) }
	other := testJob(1, upTo(2), new(atomic.Int64))
	for name, c := range map[string]struct {
		first, second Job
		held          bool
	}{
		"whole, whole":       {whole(), whole(), true},
		"shard, whole":       {whole().Part(1, 3), whole(), true},
		"whole, shard":       {whole(), whole().Part(1, 3), true},
		"shard, same shard":  {whole().Part(1, 3), whole().Part(1, 3), true},
		"shard, other shard": {whole().Part(1, 3), whole().Part(2, 3), false},
	} {
		store := open(t, t.TempDir())
		release := blocked(t, store, c.first)
		report, err := Execute(t.Context(), store, []Job{c.second, other}, Options{NoWait: true, Workers: 2})
		if err != nil || report.Results[spec(1).ID()] == nil || (len(report.Held) == 1) != c.held || report.Interrupted {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		var held *HeldError
		if errors.As(report.Err(), &held) != c.held {
			t.Errorf("%s: %v", name, report.Err())
		}
		if c.held {
			demand.Error(t, report.Err(), "1 of 2 runs left out", "test/ours seed 0", "another process",
				fmt.Sprintf("process %d", os.Getpid()))
		}
		release()
		if execute(t, store, nil, whole()); store.locked(spec(0)) {
			t.Errorf("%s: still locked", name)
		}
		if left, _ := filepath.Glob(filepath.Join(store.dir, "test", "*")); len(left) != 2 {
			t.Errorf("%s: files left: %q", name, left)
		}
	}
}

// What is no shard is an error before anything is computed.
func TestShardErrors(t *testing.T) {
	job := testJob(0, upTo(4), new(atomic.Int64))
	for words, change := range map[string]func(j *Job){
		`shard "../x"`:   func(j *Job) { j.Shard = "../x" },
		"no shard":       func(j *Job) { j.Shard = "" },
		"step 9":         func(j *Job) { j.Steps = []int{1, 9} },
		"has no steps":   func(j *Job) { *j = job.Part(5, 5) },
		"one of a batch": func(j *Job) { j.Step, j.Batch = nil, batchOf(new(walkers).start, 0) },
	} {
		j := job.Part(1, 2)
		change(&j)
		_, err := Execute(t.Context(), open(t, t.TempDir()), []Job{j}, Options{})
		demand.Error(t, err, words)
	}
	_, err := Execute(t.Context(), open(t, t.TempDir()), []Job{job.Part(1, 2), job.Part(2, 2)}, Options{})
	demand.Error(t, err, "1of2", "2of2", "one after the other")
}

// A failed shard says so, until it is done.
func TestShardFails(t *testing.T) {
	store := open(t, t.TempDir())
	job := testJob(0, upTo(4), new(atomic.Int64)).Part(1, 2)
	job.Step = func(context.Context, int) ([]Row, error) { return nil, errors.New("out of luck") }
	report, err := Execute(t.Context(), store, []Job{job}, Options{})
	if err != nil || len(report.Failed) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	execute(t, store, nil, testJob(0, upTo(4), new(atomic.Int64)).Part(2, 2))
	if state := store.State(spec(0), upTo(4)); state.Kind != Failed || !strings.Contains(state.Message, "out of luck") {
		t.Errorf("state %v", state)
	}
	execute(t, store, nil, testJob(0, upTo(7), new(atomic.Int64)).Part(1, 2))
	if state := store.State(spec(0), upTo(8)); state.Kind != Partial || state.Steps != 6 {
		t.Errorf("state %v", state)
	}
}
