package runs

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Execute completes all jobs. It takes finished runs from the store and computes the missing steps of the others.
// Runs locked by another process are left to that process and awaited at the end. A run that fails or panics does not
// stop the others. When ctx is cancelled the finished steps stay. Jobs with the same spec count as one: the first, with
// the steps of all.
//
// The error is for what concerns every run, which ends them all: an invalid job, a *FolderError or a *WriteError. All
// others are in the report: see Report.Err.
func Execute(ctx context.Context, store *Store, jobs []Job, opts Options) (Report, error) {
	jobs, err := joined(jobs)
	if err != nil {
		return Report{}, err
	}
	e := &executor{store: store, opts: opts, progress: newProgress(opts.Out)}
	e.report.Results = make(map[string]*Result, len(jobs))
	if e.opts.Provenance.Command == nil {
		e.opts.Provenance = NewProvenance(e.opts.Provenance.Backend, e.opts.Provenance.Versions)
	}
	if err := e.plan(jobs); err != nil {
		return e.report, err
	}
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e.stop = stop
	var workers sync.WaitGroup
	if len(e.queue) > 0 && len(e.report.Results) > 0 {
		workers.Go(e.callEnded)
	}
	for range max(1, min(opts.Workers, len(e.queue))) {
		workers.Go(func() { e.work(working) })
	}
	workers.Wait()
	if cause := context.Cause(working); cause != context.Cause(ctx) {
		e.progress.clear()
		return e.report, cause
	}
	return e.finish(), nil
}

// joined checks the jobs' identities and joins those of the same run: the first one with the steps of all
// and the lowest rank.
func joined(jobs []Job) ([]Job, error) {
	var wanted []*Job
	byID := map[string]*Job{}
	for _, job := range jobs {
		if err := job.Spec.validate(); err != nil {
			return nil, err
		}
		id := job.Spec.ID()
		if byID[id] == nil {
			one := job
			one.Steps = nil
			byID[id] = &one
			wanted = append(wanted, &one)
		}
		byID[id].Rank = min(byID[id].Rank, job.Rank)
		byID[id].Steps = append(byID[id].Steps, job.Steps...)
	}
	out := make([]Job, len(wanted))
	for i, job := range wanted {
		job.Steps = distinct(job.Steps)
		out[i] = *job
	}
	return out, nil
}

// ofEveryRun tells whether all runs would have the error of one.
func ofEveryRun(err error) bool {
	return errors.As(err, new(*WriteError)) || errors.As(err, new(*FolderError))
}

// executor is one call of Execute.
type executor struct {
	store    *Store
	opts     Options
	progress *progress
	stop     context.CancelCauseFunc // ends all runs, with an error that all of them would have

	ended sync.Mutex // held while Options.Ended is called

	mutex  sync.Mutex // guards what follows
	queue  []*task
	report Report
}

// The pause between attempts to lock a run that another process computes doubles from the first to the longest.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
)

// pauseAfter is the pause after so many attempts. It varies by a half, as many processes may wait for one run.
func pauseAfter(attempts int) time.Duration {
	pause := min(firstPause<<min(attempts-1, 10), longestPause)
	return pause/2 + rand.N(pause)
}

// plan takes what it can from the store and queues tasks for the missing runs. It fails if the folder cannot be
// written.
func (e *executor) plan(jobs []Job) error {
	var open []Job
	todo := map[string][]int{} // missing steps by ID
	checked := map[string]bool{}
	for _, job := range jobs {
		known, ready := e.stored(job)
		if ready {
			continue
		}
		if experiment := job.Spec.Experiment; !checked[experiment] { // before anything is computed that could not be stored
			checked[experiment] = true
			if err := e.store.checkWritable(experiment); err != nil {
				return err
			}
		}
		open = append(open, job)
		todo[job.Spec.ID()] = missing(job.Steps, known)
	}
	var all amount
	for _, task := range newTasks(open) {
		var left []int
		for _, job := range task.jobs {
			left = append(left, todo[job.Spec.ID()]...)
		}
		task.left = distinct(left)
		all.add(task.amount(task.left...))
		e.queue = append(e.queue, task)
	}
	// Within a rank the longest run first, so that no worker is left alone with it at the end.
	slices.SortStableFunc(e.queue, func(a, b *task) int {
		longer := cmp.Compare(b.amount(b.left...).weight, a.amount(a.left...).weight)
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), longer)
	})
	e.progress.begin(len(jobs), len(open), all)
	return nil
}

// stored looks a job's run up in the store. ready is true if nothing is left to do, because the run is finished or
// cannot be read; otherwise known are its stored steps.
func (e *executor) stored(job Job) (known map[int][]Row, ready bool) {
	if job.Again {
		part, _ := e.store.unfinished(job.Spec)
		return part.rows, false
	}
	result, err := e.store.Read(job.Spec) // a damaged run is computed again
	switch {
	case err == nil && result.has(job.Steps):
		e.report.Cached++
		e.report.Results[job.Spec.ID()] = result.Only(job.Steps)
		return nil, true
	case err != nil && !errors.Is(err, ErrMissing):
		e.report.Failed = append(e.report.Failed, Failure{job.Spec, err})
		return nil, true
	}
	known, _, _ = e.store.known(job.Spec)
	return known, false
}

// distinct sorts the list in place and returns it with each number once.
func distinct(steps []int) []int {
	slices.Sort(steps)
	return slices.Compact(steps)
}

// missing returns the wanted steps that are not known.
func missing(steps []int, known map[int][]Row) []int {
	return slices.DeleteFunc(slices.Clone(steps), func(t int) bool { _, ok := known[t]; return ok })
}
