package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Execute brings all jobs to their end: it takes finished runs from the store,
// computes the missing steps of the others, and leaves runs that another
// process is at work on to that process, waiting for them last. A run that
// fails or panics does not stop the others. When ctx is cancelled the steps so
// far are kept. Jobs with the same spec count as one with the steps of all.
//
// The error is for what concerns every run: a job that makes no sense, or a
// results folder that cannot be written. The rest is in the report: see
// Report.Err.
func Execute(ctx context.Context, store *Store, jobs []Job, opts Options) (Report, error) {
	tasks, err := newTasks(jobs)
	if err != nil {
		return Report{}, err
	}
	e := &executor{store: store, opts: opts, progress: newProgress(opts.Out)}
	e.report.Results = make(map[string]*Result, len(tasks))
	if e.opts.Provenance.Command == nil {
		e.opts.Provenance = NewProvenance(e.opts.Provenance.Backend, e.opts.Provenance.Versions)
	}
	e.plan(tasks)
	if err := e.checkWritable(); err != nil {
		return e.report, err
	}
	var workers sync.WaitGroup
	for range max(1, min(opts.Workers, len(e.queue))) {
		workers.Go(func() { e.work(ctx) })
	}
	workers.Wait()
	return e.finish(ctx), nil
}

// executor is one call of Execute.
type executor struct {
	store    *Store
	opts     Options
	progress *progress

	mutex  sync.Mutex // guards what follows
	queue  []*task
	active int // tasks that a worker has in hand
	report Report
}

// task is a job on its way.
type task struct {
	job      Job
	left     int       // steps that are counted in the progress and not yet done
	earliest time.Time // when to look again at a run that another process holds
	held     bool      // whether the user was told about that
}

// work is what the task has left to do, in the unit of Job.Cost.
func (t *task) work() float64 { return float64(t.left) * t.job.cost() }

// pollInterval is how often a run held by another process is looked at.
const pollInterval = 250 * time.Millisecond

// newTasks checks the jobs and joins those of the same run.
func newTasks(jobs []Job) ([]*task, error) {
	var tasks []*task
	byID := map[string]*task{}
	for _, job := range jobs {
		if err := job.validate(); err != nil {
			return nil, err
		}
		id := job.Spec.ID()
		if byID[id] == nil {
			byID[id] = &task{job: job}
			byID[id].job.Steps = nil
			tasks = append(tasks, byID[id])
		}
		byID[id].job.Steps = append(byID[id].job.Steps, job.Steps...)
	}
	for _, task := range tasks {
		slices.Sort(task.job.Steps)
		task.job.Steps = slices.Compact(task.job.Steps)
	}
	return tasks, nil
}

// plan answers from the store what it can, queues the rest, and says what made
// runs new.
func (e *executor) plan(tasks []*task) {
	var reasons []string
	count := map[string]int{}
	weight := 0.0
	for _, task := range tasks {
		spec := task.job.Spec
		result, err := e.load(spec, e.store.Load)
		if err == nil && result.has(task.job.Steps) {
			e.report.Cached++
			e.report.Results[spec.ID()] = result.Only(task.job.Steps)
			continue
		}
		if err != nil && !errors.Is(err, ErrMissing) {
			e.report.Failed = append(e.report.Failed, Failure{spec, err})
			continue
		}
		known, _ := e.store.known(spec)
		task.left = len(missing(task.job.Steps, known))
		weight += task.work()
		e.queue = append(e.queue, task)
		if why := e.store.Explain(spec); why != "" && len(known) == 0 {
			reason := fmt.Sprintf("%s/%s is new: %s", spec.Experiment, spec.Learner, why)
			if count[reason]++; count[reason] == 1 {
				reasons = append(reasons, reason)
			}
		}
	}
	for _, reason := range reasons {
		e.progress.note("%s (%s)", reason, plural(count[reason], "run"))
	}
	// The longest run first, so that no worker is left alone with it at the end.
	slices.SortStableFunc(e.queue, func(a, b *task) int { return cmp.Compare(b.work(), a.work()) })
	steps := 0
	for _, task := range e.queue {
		steps += task.left
	}
	e.progress.begin(len(tasks), len(e.queue), steps, weight)
}

// checkWritable fails before anything is computed that could not be kept.
func (e *executor) checkWritable() error {
	checked := map[string]bool{}
	for _, task := range e.queue {
		experiment := task.job.Spec.Experiment
		if checked[experiment] {
			continue
		}
		checked[experiment] = true
		if err := e.store.checkWritable(experiment); err != nil {
			return err
		}
	}
	return nil
}

// load reads a finished run and tells the user about a damaged file.
func (e *executor) load(spec Spec, read func(Spec) (*Result, error)) (*Result, error) {
	result, err := read(spec)
	var damaged *DamagedError
	if errors.As(err, &damaged) && damaged.MovedTo != "" {
		e.progress.note("%v", err)
		e.mutex.Lock()
		e.report.Quarantined = append(e.report.Quarantined, damaged.Path)
		e.mutex.Unlock()
	}
	return result, err
}

// missing returns the wanted steps that are not known.
func missing(steps []int, known map[int][]Row) []int {
	return slices.DeleteFunc(slices.Clone(steps), func(t int) bool { _, ok := known[t]; return ok })
}

// work takes tasks from the queue until none is left or ctx is cancelled.
func (e *executor) work(ctx context.Context) {
	for ctx.Err() == nil {
		task, over := e.next()
		switch {
		case over:
			return
		case task == nil:
			select {
			case <-ctx.Done():
			case <-time.After(pollInterval / 5):
			}
		default:
			e.attempt(ctx, task)
		}
	}
}

// next takes the first task whose time has come; over is true when there is
// and will be none.
func (e *executor) next() (next *task, over bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	i := slices.IndexFunc(e.queue, func(t *task) bool { return !time.Now().Before(t.earliest) })
	if i < 0 {
		return nil, len(e.queue) == 0 && e.active == 0
	}
	next = e.queue[i]
	e.queue = slices.Delete(e.queue, i, i+1)
	e.active++
	return next, false
}

// attempt claims a task's run and brings it to its end, or puts the task back
// when another process holds the run or ctx is cancelled.
func (e *executor) attempt(ctx context.Context, task *task) {
	spec := task.job.Spec
	var result *Result
	computed := false
	release, ok, err := e.store.claim(spec)
	if ok {
		result, computed, err = e.compute(ctx, task)
		release()
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.active--
	switch {
	case err != nil && ctx.Err() != nil: // interrupted: what the error says is only how
		e.queue = append(e.queue, task)
	case err != nil:
		e.report.Failed = append(e.report.Failed, Failure{spec, err})
		e.progress.failed(task, err)
	case !ok:
		if !task.held {
			e.progress.note("%s is being computed by another process: waiting for it", spec)
		}
		task.held, task.earliest = true, time.Now().Add(pollInterval)
		e.queue = append(e.queue, task)
	default:
		e.report.Results[spec.ID()] = result.Only(task.job.Steps)
		if computed {
			e.report.Computed++
		} else {
			e.report.Cached++
		}
		e.progress.finished(task, result, computed)
	}
}

// compute computes the missing steps of a claimed run and saves it; computed
// is false when another process had finished it meanwhile.
func (e *executor) compute(ctx context.Context, task *task) (result *Result, computed bool, err error) {
	spec := task.job.Spec
	prior, err := e.load(spec, e.store.loadClaimed)
	if err != nil && !errors.Is(err, ErrMissing) {
		return nil, false, err
	}
	if err == nil && prior.has(task.job.Steps) {
		return prior, false, nil
	}
	so, err := readPartial(e.store.partialPath(spec), spec)
	if err != nil {
		return nil, false, err
	}
	rows, sessions, seconds := so.rows, so.sessions, so.seconds
	if prior != nil { // it lacks steps: add them
		for t, stepRows := range prior.byStep() {
			rows[t] = stepRows
		}
		sessions = append([]Provenance{prior.Provenance}, sessions...)
		seconds += prior.Provenance.Seconds
	}
	session := e.opts.Provenance.forRun(spec)
	file, err := openPartial(e.store.partialPath(spec), spec, so, session)
	if err != nil {
		return nil, false, fmt.Errorf("its steps cannot be kept (%w): make the results folder writable or choose another with --results", cause(err))
	}
	todo := missing(task.job.Steps, rows)
	if len(todo) == 0 && len(sessions) > 0 { // killed between its last step and its last write
		session = sessions[len(sessions)-1]
	}
	spent, err := e.steps(ctx, task, todo, rows, file)
	file.close()
	if err == nil {
		result = newResult(spec, session.following(sessions, seconds+spent), rows)
		err = e.store.save(result)
	}
	if err != nil && ctx.Err() == nil {
		if noteErr := e.store.saveFailure(spec, err); noteErr != nil {
			err = fmt.Errorf("%w (and no note of it can be written: %w)", err, cause(noteErr))
		}
	}
	return result, true, err
}

// steps computes the steps todo into rows, keeping each as it is done.
func (e *executor) steps(ctx context.Context, task *task, todo []int, rows map[int][]Row, file *partialWriter) (seconds float64, err error) {
	e.progress.expect(task, len(todo))
	if len(todo) == 0 {
		return 0, nil
	}
	begin := time.Now()
	step, stop, err := task.job.start(ctx)
	if err != nil {
		return 0, fmt.Errorf("set-up: %w", err)
	}
	defer func() {
		defer recovered(&err)
		stop()
	}()
	for _, t := range todo {
		if err := ctx.Err(); err != nil {
			return seconds, err
		}
		stepRows, err := runStep(ctx, step, t)
		if err != nil {
			return seconds, fmt.Errorf("step %d: %w", t, err)
		}
		if err := checkRows(t, stepRows); err != nil {
			return seconds, err
		}
		spent := time.Since(begin).Seconds() // with the set-up, in the first step
		if err := file.append(t, stepRows, spent); err != nil {
			return seconds, fmt.Errorf("step %d cannot be kept (%w): free some space and start again", t, cause(err))
		}
		rows[t] = stepRows
		seconds += spent
		begin = time.Now()
		e.progress.step(task, t, len(stepRows))
	}
	return seconds, nil
}

// runStep calls step and turns its panic into an error.
func runStep(ctx context.Context, step StepFunc, t int) (rows []Row, err error) {
	defer recovered(&err)
	return step(ctx, t)
}

// finish completes the report and prints its summary.
func (e *executor) finish(ctx context.Context) Report {
	report := e.report
	report.Unfinished = len(e.queue)
	report.Interrupted = ctx.Err() != nil && report.Unfinished > 0
	slices.SortFunc(report.Failed, func(a, b Failure) int { return strings.Compare(a.Spec.String(), b.Spec.String()) })
	e.progress.end(report)
	return report
}
