package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"
)

// work takes tasks from the queue until none is left or ctx is cancelled. Tasks whose runs another process holds stand
// at its end: their worker waits before it tries again.
func (e *executor) work(ctx context.Context) {
	for task := e.next(); task != nil; task = e.next() {
		if task.waits > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pauseAfter(task.waits)):
			}
		}
		if ctx.Err() == nil && e.attempt(ctx, task) {
			e.callEnded()
		} else {
			e.putBack(task)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// next takes the first task of the queue; nil if there is none.
func (e *executor) next() *task {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if len(e.queue) == 0 {
		return nil
	}
	next := e.queue[0]
	e.queue = e.queue[1:]
	return next
}

func (e *executor) putBack(task *task) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.queue = append(e.queue, task)
}

// callEnded calls Options.Ended.
func (e *executor) callEnded() {
	if e.opts.Ended == nil {
		return
	}
	e.ended.Lock()
	defer e.ended.Unlock()
	e.mutex.Lock()
	report := e.report
	report.Results, report.Failed = maps.Clone(report.Results), slices.Clone(report.Failed)
	e.mutex.Unlock()
	if line := e.opts.Ended(report); line != "" {
		e.progress.note("%s", line)
	}
}

// attempt claims a task's runs and completes them, unless another process holds one of them or ctx is cancelled. It
// tells whether the runs have ended.
func (e *executor) attempt(ctx context.Context, task *task) (ended bool) {
	var results []*Result
	computed := 0
	held, blocked, err := e.claim(task)
	ok := blocked == nil
	if ok && err == nil {
		results, computed, err = e.compute(ctx, task, held)
		held.release()
	}
	if ofEveryRun(err) {
		e.stop(err) // only the first one counts
	}
	var by Holder
	if blocked != nil && task.waits == 0 { // as only the first attempt is reported
		by, _ = e.store.holder(*blocked)
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch {
	case err != nil && ctx.Err() != nil: // interrupted: the error says only where
	case errors.Is(err, errLost):
		task.waits++
		e.progress.note("%s: %v, so another process may compute it: waiting for it", task, err)
	case err != nil:
		for _, job := range task.jobs {
			e.report.Failed = append(e.report.Failed, Failure{job.Spec, err})
		}
		e.progress.failed(task, err)
		return true
	case !ok:
		if task.waits++; task.waits == 1 {
			e.progress.note("%s is being computed by another process%s: waiting for it", task, by.inParentheses())
		}
	default:
		var took time.Duration
		for i, result := range results {
			e.report.Results[result.Spec.ID()] = result.Only(task.jobs[i].Steps)
			took += time.Duration(result.Provenance.Seconds * float64(time.Second))
		}
		e.report.Computed += computed
		e.report.Cached += len(results) - computed
		e.progress.finished(task, took, computed > 0)
		return true
	}
	return false
}

// claim takes the locks of all runs of a task. If another process holds one, blocked, it takes none.
func (e *executor) claim(task *task) (taken locks, blocked *Spec, err error) {
	for _, job := range task.jobs {
		pauses := claimPauses
		if task.waits > 0 { // another attempt comes
			pauses = nil
		}
		one, err := e.store.claim(job.Spec, pauses...)
		if err != nil {
			taken.release()
			return nil, nil, err
		}
		if one == nil {
			taken.release()
			return nil, &job.Spec, nil
		}
		taken = append(taken, one)
	}
	return taken, nil, nil
}

// compute computes the missing steps of a task's claimed runs and saves them, as long as it holds the locks. It returns
// the runs in the order of the jobs, and how many of them it computed: the others were finished by another process
// meanwhile.
func (e *executor) compute(ctx context.Context, task *task, held locks) (results []*Result, computed int, err error) {
	results = make([]*Result, len(task.jobs))
	var members []*member
	defer func() {
		for _, m := range members {
			m.file.Close()
		}
	}()
	for i, job := range task.jobs {
		m, done, err := e.open(job, len(task.seeds))
		if err != nil {
			return nil, 0, err
		}
		if results[i] = done; done == nil {
			m.index = i
			members = append(members, m)
		}
	}
	if err = cmp.Or(e.steps(ctx, task, members, held), held.check()); err == nil {
		for _, m := range members {
			results[m.index] = m.result()
			m.file.Close() // Windows removes no open file
			err = cmp.Or(err, e.store.save(results[m.index]))
		}
	}
	if err != nil && ctx.Err() == nil && !ofEveryRun(err) && !errors.Is(err, errLost) {
		for _, m := range members {
			if noteErr := e.store.saveFailure(m.job.Spec, err); noteErr != nil {
				err = fmt.Errorf("%w (and no note of it can be written: %w)", err, artifact.WithoutPath(noteErr))
			}
		}
	}
	return results, len(members), err
}

// steps computes the members' missing steps and stores each at once.
func (e *executor) steps(ctx context.Context, task *task, members []*member, held locks) (err error) {
	var todo []int
	var specs []Spec
	for _, m := range members {
		todo, specs = append(todo, m.todo...), append(specs, m.job.Spec)
	}
	todo = distinct(todo)
	e.progress.expect(task, todo)
	if len(todo) == 0 {
		return nil
	}
	begin := time.Now()
	step, stop, err := task.start(ctx, specs, Files{e.store})
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	defer func() {
		defer recovered(&err)
		stop()
	}()
	for _, t := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := runStep(ctx, step, t)
		if err != nil {
			return &StepError{t, err}
		}
		seconds := time.Since(begin).Seconds() / float64(len(members)) // the first step's includes the set-up
		if err := held.check(); err != nil {
			return err
		}
		for i, m := range members {
			if err := m.add(t, rows[i], seconds); err != nil {
				return err
			}
		}
		begin = time.Now()
		e.progress.step(task, t)
	}
	return nil
}

// runStep calls step and turns its panic into an error.
func runStep(ctx context.Context, step GroupStep, t int) (rows [][]Row, err error) {
	defer recovered(&err)
	return step(ctx, t)
}

// finish completes the report and prints its summary.
func (e *executor) finish() Report {
	report := e.report
	for _, task := range e.queue {
		report.Unfinished += len(task.jobs)
	}
	slices.SortFunc(report.Failed, func(a, b Failure) int { return strings.Compare(a.Spec.String(), b.Spec.String()) })
	e.progress.end(report)
	return report
}
