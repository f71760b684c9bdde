package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
)

// task is what one worker computes at a time: the jobs of a group.
type task struct {
	jobs  []Job
	seeds []int64 // of the group, also those whose runs are stored
	left  []int   // steps that are counted in the progress and not yet done
	waits int     // attempts so far that found runs held by another process
}

// newTasks turns jobs whose runs are missing into tasks, one for each group, ordered by their first jobs.
func newTasks(jobs []Job) []*task {
	var tasks []*task
	batches := map[*Batch][]*task{} // the groups of each batch
	for _, job := range jobs {
		if batches[job.Batch] == nil {
			for _, seeds := range split(job.Batch.Seeds, job.Batch.GroupSize) {
				batches[job.Batch] = append(batches[job.Batch], &task{seeds: seeds})
			}
		}
		groups := batches[job.Batch]
		one := groups[slices.IndexFunc(groups, func(t *task) bool { return slices.Contains(t.seeds, job.Spec.Seed) })]
		if len(one.jobs) == 0 {
			tasks = append(tasks, one)
		}
		one.jobs = append(one.jobs, job)
	}
	return tasks
}

// String names the task's runs for people: "claw/sac seeds 0, 1, 2".
func (t *task) String() string {
	first := t.jobs[0].Spec
	if len(t.jobs) == 1 {
		return first.String()
	}
	var seeds []string
	for _, job := range t.jobs {
		seeds = append(seeds, fmt.Sprint(job.Spec.Seed))
	}
	return fmt.Sprintf("%s/%s seeds %s", first.Experiment, first.Learner, strings.Join(seeds, ", "))
}

// amount is how much work steps are.
func (t *task) amount(steps ...int) amount {
	sum := amount{steps: len(steps)}
	for _, job := range t.jobs {
		sum.weight += job.Work(steps...)
	}
	return sum
}

// rank is the lowest rank of the jobs.
func (t *task) rank() int {
	return slices.MinFunc(t.jobs, func(a, b Job) int { return cmp.Compare(a.Rank, b.Rank) }).Rank
}

// start prepares the task's jobs.
func (t *task) start(ctx context.Context, members []Spec, files Files) (step GroupStep, stop func(), err error) {
	defer recovered(&err)
	if step, stop, err = t.jobs[0].Batch.Start(ctx, t.seeds, members, files); stop == nil {
		stop = func() {}
	}
	return step, stop, err
}

// member is a run of a task while it is computed.
type member struct {
	job      Job
	index    int           // of the job in its task
	rows     map[int][]Row // of the finished steps
	todo     []int         // the wanted steps that are missing
	sessions []Provenance
	session  Provenance // this one
	seconds  float64
	file     *os.File // to which its steps are appended
}

// open reads the stored steps of a claimed run and opens its file to append the missing ones. If none is missing it
// returns the result instead. together is the number of seeds in its program.
func (e *executor) open(job Job, together int) (*member, *Result, error) {
	spec := job.Spec
	var prior *Result
	if !job.Again {
		var err error
		switch prior, err = e.store.Read(spec); {
		case errors.As(err, new(*DamagedError)):
			e.progress.note("%v", err)
		case err != nil && !errors.Is(err, ErrMissing):
			return nil, nil, err
		case err == nil && prior.has(job.Steps):
			return nil, prior, nil
		}
	}
	part, err := e.store.unfinished(spec)
	if err != nil {
		return nil, nil, err
	}
	m := &member{job: job, rows: map[int][]Row{}, session: e.opts.Provenance.forRun(job.Spec, together)}
	if prior != nil { // a finished file that lacks wanted steps
		m.addStored(prior.byStep(), []Provenance{prior.Provenance}, prior.Provenance.Seconds)
	}
	m.addStored(part.rows, part.sessions, part.seconds)
	m.todo = missing(job.Steps, m.rows)
	if len(m.todo) == 0 && len(m.sessions) > 0 { // killed between its last step and its last write
		m.session = m.sessions[len(m.sessions)-1]
	}
	path := e.store.partialPath(spec)
	if m.file, err = openPartial(path, spec, part, m.session); artifact.IsDiskFull(err) {
		return nil, nil, &WriteError{"file of steps", path, err}
	} else if err != nil {
		folder := filepath.Join(e.store.dir, spec.Experiment)
		return nil, nil, &FolderError{Dir: folder, Problem: "cannot be written", Err: err}
	}
	return m, nil, nil
}

// addStored adds stored steps. Of a step that is stored twice the first one counts.
func (m *member) addStored(rows map[int][]Row, sessions []Provenance, seconds float64) {
	addSteps(m.rows, rows)
	m.sessions = append(m.sessions, sessions...)
	m.seconds += seconds
}

// add stores the rows of a step, if it is one that is missing.
func (m *member) add(t int, rows []Row, seconds float64) error {
	if !slices.Contains(m.todo, t) {
		return nil
	}
	if err := checkRows(t, rows); err != nil {
		return err
	}
	// The operating system has the bytes then, so a killed process loses nothing. The disk may not: the checksum finds
	// steps that a power failure has damaged.
	line := sealed(partialLine{Step: &finishedStep{t, seconds, rows}})
	if _, err := m.file.Write(line); err != nil {
		return &WriteError{fmt.Sprintf("step %d in", t), m.file.Name(), err}
	}
	m.rows[t] = rows
	m.seconds += seconds
	return nil
}

// result is the finished run.
func (m *member) result() *Result {
	r := &Result{Spec: m.job.Spec, Provenance: m.session.following(m.sessions, m.seconds),
		Steps: slices.Sorted(maps.Keys(m.rows))}
	for _, t := range r.Steps {
		r.Rows = append(r.Rows, m.rows[t]...)
	}
	return r
}
