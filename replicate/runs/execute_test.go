package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tvps/ci/demand"
)

func TestFailuresDoNotStopOthers(t *testing.T) {
	failing := func(seed int, at func(t int) ([]Row, error)) Job {
		return stepJob(spec(seed), upTo(5), func(_ context.Context, t int) ([]Row, error) {
			if t == 3 {
				return at(t)
			}
			return rowsAt(seed, t), nil
		})
	}
	value := func(v float64) func(int) ([]Row, error) {
		return func(t int) ([]Row, error) { return []Row{{t, "accuracy", v}}, nil }
	}
	var array []int
	jobs := []Job{
		failing(0, func(int) ([]Row, error) { return nil, errors.New("out of luck") }),
		failing(1, func(t int) ([]Row, error) { return []Row{{t, "x", float64(array[t])}}, nil }),
		failing(2, value(math.NaN())),
		failing(3, value(math.Inf(-1))),
		startJob(spec(4), upTo(5), func(context.Context) (StepFunc, func(), error) { panic("no data") }),
		startJob(spec(5), upTo(5), func(context.Context) (StepFunc, func(), error) {
			return nil, nil, errors.New("no plugin")
		}),
		startJob(spec(6), upTo(5), func(context.Context) (StepFunc, func(), error) {
			return stepOf(testJob(6, nil, new(atomic.Int64))), func() { panic("device lost") }, nil
		}),
		testJob(7, upTo(5), new(atomic.Int64)),
	}
	want := []string{
		"step 3: out of luck", "panic: runtime error: index out of range", "step 3 reports accuracy = NaN",
		"accuracy = -Inf", "set-up: panic: no data", "set-up: no plugin", "device lost",
	}
	store := open(t, t.TempDir())
	var out bytes.Buffer
	report, err := Execute(t.Context(), store, jobs, Options{Out: &out, Workers: 3})
	demand.NoError(t, err)
	if report.Computed != 1 || len(report.Failed) != len(want) || report.Unfinished > 0 || report.Err() == nil {
		t.Fatalf("report %+v", report)
	}
	list := out.String()[strings.LastIndex(out.String(), "7 runs failed"):]
	for seed, text := range want {
		if failure := report.Failed[seed]; failure.Spec.Seed != int64(seed) || !strings.Contains(failure.Err.Error(), text) {
			t.Errorf("failure %d is %v, want %q", seed, failure, text)
		}
		state := store.State(spec(seed), upTo(5))
		if state.Kind != Failed || !strings.Contains(state.Message, text) {
			t.Errorf("state of seed %d is %v", seed, state)
		}
		demand.Words(t, list, text)
	}
	note, err := os.ReadFile(store.failedPath(spec(1)))
	if err != nil || !strings.Contains(string(note), "execute_test.go") {
		t.Errorf("the note of the panic has no stack: %v\n%s", err, note)
	}
	retryAll(t, store, len(want))
}

// retryAll computes the failed runs again, now without errors.
func retryAll(t *testing.T, store *Store, runs int) {
	for seed := range runs {
		var count atomic.Int64
		execute(t, store, nil, testJob(seed, upTo(5), &count))
		if want := int64(2); seed < 4 && count.Load() != want {
			t.Errorf("seed %d computes %d more steps, want %d", seed, count.Load(), want)
		}
		if _, err := os.Stat(store.failedPath(spec(seed))); !os.IsNotExist(err) {
			t.Errorf("the note of seed %d stays after success: %v", seed, err)
		}
	}
}

// With Again a finished run is computed again and replaced, and an unfinished one continues.
func TestAgain(t *testing.T) {
	store, calls := open(t, t.TempDir()), 0
	run := func(value float64, again bool, failsAt int) *Result {
		job := stepJob(spec(0), upTo(5), func(_ context.Context, step int) ([]Row, error) {
			if calls++; step == failsAt {
				return nil, errors.New("out of luck")
			}
			return []Row{{step, "accuracy", value}}, nil
		})
		job.Again, calls = again, 0
		report, err := Execute(t.Context(), store, []Job{job}, Options{})
		demand.NoError(t, err)
		return report.Results[job.Spec.ID()]
	}
	run(1, false, -1)
	if r := run(2, false, -1); calls != 0 || r.Rows[0].Value != 1 {
		t.Errorf("a stored run: %d steps, %v", calls, r.Rows)
	}
	if r := run(3, true, -1); calls != 5 || r.Rows[0].Value != 3 {
		t.Errorf("again: %d steps, %v", calls, r.Rows)
	}
	run(4, true, 3)
	if _, steps := store.Begun(spec(0), false); steps != 3 {
		t.Errorf("%d steps are stored of an unfinished run", steps)
	}
	if r := run(5, true, -1); calls != 2 || r.Rows[0].Value != 4 || r.Rows[4].Value != 5 {
		t.Errorf("continued: %d steps, %v", calls, r.Rows)
	}
	if r, err := store.Read(spec(0)); err != nil || r.Rows[0].Value != 4 {
		t.Errorf("the finished run was not replaced: %v", err)
	}
	start, steps := store.Begun(spec(0), true)
	if steps != 5 || time.Since(start) > time.Minute {
		t.Errorf("%d steps of %v", steps, start)
	}
}

// As many runs as workers are computed in parallel: each waits for all the others.
func TestWorkersAreParallel(t *testing.T) {
	const workers = 3
	var here atomic.Int64
	all := make(chan struct{})
	var jobs []Job
	for seed := range workers {
		jobs = append(jobs, stepJob(spec(seed), upTo(1), func(_ context.Context, step int) ([]Row, error) {
			if here.Add(1) == workers {
				close(all)
			}
			select {
			case <-all:
				return rowsAt(seed, step), nil
			case <-time.After(10 * time.Second):
				return nil, errors.New("the others did not start")
			}
		}))
	}
	report, err := Execute(t.Context(), open(t, t.TempDir()), jobs, Options{Workers: workers})
	if err != nil || report.Computed != workers {
		t.Errorf("report %+v, error %v", report, err)
	}
}

func TestLongestRunFirst(t *testing.T) {
	var order []int64
	job := func(seed int, cost float64, steps int) Job {
		job := startJob(spec(seed), upTo(steps), func(context.Context) (StepFunc, func(), error) {
			order = append(order, int64(seed))
			return func(_ context.Context, t int) ([]Row, error) { return rowsAt(seed, t), nil }, nil, nil
		})
		job.Cost = always(cost)
		return job
	}
	store := open(t, t.TempDir())
	execute(t, store, nil, job(4, 100, 3)) // three of its five steps are known below, so 200 of 500 is left
	order = nil
	jobs := []Job{job(0, 10, 5), job(1, 70, 5), job(2, 10, 5), job(3, 1, 60), job(4, 100, 5)}
	_, err := Execute(t.Context(), store, jobs, Options{Workers: 1})
	demand.NoError(t, err)
	demand.List(t, order, []int64{1, 4, 3, 0, 2}, "runs began in the order")
}

// TestWriteErrorEndsAll: a full disk concerns every run. It is one error, not that of each run, and leaves no notes.
func TestWriteErrorEndsAll(t *testing.T) {
	full := &WriteError{"result file", "0.jsonl.zst", errors.New("no space left")}
	store, others := open(t, t.TempDir()), new(atomic.Int64)
	jobs := []Job{stepJob(spec(0), upTo(9), func(context.Context, int) ([]Row, error) { return nil, full }),
		testJob(1, upTo(5), others), testJob(2, upTo(5), others)}
	var out bytes.Buffer
	_, err := Execute(t.Context(), store, jobs, Options{Out: &out})
	if !errors.Is(err, full) || strings.Contains(out.String(), "no space") {
		t.Errorf("error %v, output %q", err, &out)
	}
	if others.Load() != 0 || store.State(spec(0), upTo(9)).Kind != Missing {
		t.Errorf("%d further steps, state %v", others.Load(), store.State(spec(0), upTo(9)))
	}
}

// TestRankAndEnded: runs of a lower rank are computed first, whatever they cost; Ended sees each run that finished or
// failed once it has, and its line is printed.
func TestRankAndEnded(t *testing.T) {
	store := open(t, t.TempDir())
	var computed []int
	ranked := func(seed, rank, steps int) Job {
		job := stepJob(spec(seed), upTo(steps), func(_ context.Context, t int) ([]Row, error) {
			if t == 0 {
				computed = append(computed, seed)
			}
			if seed == 3 {
				return nil, errors.New("out of luck")
			}
			return rowsAt(seed, t), nil
		})
		job.Rank = rank
		return job
	}
	var out bytes.Buffer
	var seen []string
	options := Options{Out: &out, Ended: func(r Report) string {
		seen = append(seen, fmt.Sprintf("%d finished, %d failed", len(r.Results), len(r.Failed)))
		return fmt.Sprintf("so far: %d", len(r.Results))
	}}
	first := []Job{ranked(0, 2, 9), ranked(1, 1, 2), ranked(2, 1, 4), ranked(3, 0, 1)}
	again := ranked(1, 9, 2) // a run that is wanted twice counts by the lower rank
	_, err := Execute(t.Context(), store, append([]Job{again}, first...), options)
	demand.NoError(t, err)
	demand.List(t, computed, []int{3, 2, 1, 0}, "computed the seeds")
	want := []string{"0 finished, 1 failed", "1 finished, 1 failed", "2 finished, 1 failed", "3 finished, 1 failed"}
	if !slices.Equal(seen, want) || strings.Count(out.String(), "\nso far: ") != 4 {
		t.Errorf("Ended saw %q, want %q; printed\n%s", seen, want, &out)
	}
	seen = nil
	if _, err := Execute(t.Context(), store, first[:3], options); err != nil || seen != nil {
		t.Errorf("all is stored, but Ended saw %q (%v)", seen, err)
	}
	if _, err := Execute(t.Context(), store, append(first[:3:3], ranked(4, 0, 1)), options); err != nil ||
		len(seen) != 2 || seen[1] != "4 finished, 0 failed" {
		t.Errorf("three runs are stored and one is new: Ended saw %q (%v)", seen, err)
	}
}

// cellDisplay is a Display that records its calls.
type cellDisplay struct {
	bytes.Buffer
	fractions []float64
	texts     []string
}

func (s *cellDisplay) Show(fraction float64, text string) {
	s.fractions, s.texts = append(s.fractions, fraction), append(s.texts, text)
}
func (s *cellDisplay) Clear() {}

// always is the cost of steps that are equally long.
func always(cost float64) func(int) float64 { return func(int) float64 { return cost } }

// The time left is estimated from the cost of the steps, not from their number, and without the time until the first,
// which loads data and compiles. Plain lines come at most every 10 seconds; a writer that is a Display gets all of it.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var cell cellDisplay
		for _, p := range []*progress{newProgress(&out), newProgress(&cell)} {
			steps := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
			cheap := &task{jobs: []Job{{Spec: spec(0), Cost: always(2)}}, left: steps}
			dear := &task{jobs: []Job{{Spec: spec(1), Cost: always(8)}}, left: steps}
			p.begin(3, 2, amount{steps: 20, weight: 100})
			time.Sleep(time.Minute)
			for _, t := range steps {
				time.Sleep(2 * time.Second)
				p.step(cheap, t)
			}
			p.finished(cheap, 20*time.Second, true)
			p.finished(dear, 0, false)
		}
		want := "3 runs: 1 stored, 2 to compute (20 steps)\n" +
			"5%: 1/20 steps\n" +
			"30%: 6/20 steps\n" +
			"test/ours seed 0: done in 20s (10/20 steps, about 1m20s left)\n" +
			"test/ours seed 1: done by another process (10/10 steps)\n"
		demand.Equal(t, out.String(), want, "progress")
		demand.Equal(t, strings.Count(cell.String(), "\n"), 3, "lines in\n%s", &cell)
		if want := []float64{0, .05, .1}; !slices.Equal(cell.fractions[:3], want) ||
			cell.texts[7] != "7/20 steps, about 1m26s left" {
			t.Errorf("shown are %v, %q", cell.fractions, cell.texts)
		}
	})
}

// The cheap steps with which `all` begins say nothing of the others: no time is shown until they took a minute.
func TestProgressOfCheapSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cell cellDisplay
		p := newProgress(&cell)
		steps := []int{1, 2, 3, 4, 5}
		cheap := &task{jobs: []Job{{Spec: spec(0), Cost: always(1)}}, left: steps}
		p.begin(2, 2, amount{steps: 10, weight: 299})
		for _, t := range steps {
			time.Sleep(20 * time.Second)
			p.step(cheap, t)
		}
		if got := cell.texts[3:]; strings.Contains(got[0], "left") || !strings.HasSuffix(got[1], "about 1h38m20s left") {
			t.Errorf("shown are %q", got)
		}
	})
}
