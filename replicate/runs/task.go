package runs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// task is a job on its way, or the jobs of a group.
type task struct {
	jobs     []Job
	left     int       // steps that are counted in the progress and not yet done
	earliest time.Time // when to look again at a run that another process holds
	held     bool      // whether the user was told about that
}

// newTasks checks the jobs, joins those of the same run and brings those of a group
// together.
func newTasks(jobs []Job) ([]*task, error) {
	var wanted []*Job
	byID := map[string]*Job{}
	for _, job := range jobs {
		if err := job.validate(); err != nil {
			return nil, err
		}
		id := job.Spec.ID()
		if byID[id] == nil {
			one := job
			one.Steps = nil
			byID[id] = &one
			wanted = append(wanted, &one)
		}
		byID[id].Steps = append(byID[id].Steps, job.Steps...)
	}
	var tasks []*task
	byGroup := map[*Group]*task{}
	for _, job := range wanted {
		job.Steps = distinct(job.Steps)
		if job.Group != nil && byGroup[job.Group] != nil {
			byGroup[job.Group].jobs = append(byGroup[job.Group].jobs, *job)
			continue
		}
		one := &task{jobs: []Job{*job}}
		tasks = append(tasks, one)
		if job.Group != nil {
			byGroup[job.Group] = one
		}
	}
	return tasks, nil
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

// cost is how long one step takes.
func (t *task) cost() float64 {
	sum := 0.0
	for _, job := range t.jobs {
		sum += job.cost()
	}
	return sum
}

// work is what the task has left to do, in the unit of Job.Cost.
func (t *task) work() float64 { return float64(t.left) * t.cost() }

func (t *task) specs() []Spec {
	out := make([]Spec, len(t.jobs))
	for i, job := range t.jobs {
		out[i] = job.Spec
	}
	return out
}

// start prepares the task's jobs; a job alone is a group of one.
func (t *task) start(ctx context.Context, members []Spec, files Files) (step GroupStep, stop func(), err error) {
	defer recovered(&err)
	job := t.jobs[0]
	if job.Group != nil {
		step, stop, err = job.Group.Start(ctx, members, files)
	} else {
		one := job.Step
		if job.Start != nil {
			one, stop, err = job.Start(ctx)
		}
		step = func(ctx context.Context, t int) ([][]Row, error) {
			rows, err := one(ctx, t)
			return [][]Row{rows}, err
		}
	}
	if stop == nil {
		stop = func() {}
	}
	return step, stop, err
}

// statePath is the file in which a group keeps what it needs to go on.
func (s *Store) statePath(members []Spec) string {
	ids := make([]string, len(members))
	for i, spec := range members {
		ids[i] = spec.ID()
	}
	name := digest([]byte(strings.Join(ids, " ")))[:idLength]
	return filepath.Join(s.dir, members[0].Experiment, name+stateSuffix)
}

// member is a run of a task while it is computed.
type member struct {
	job      Job
	rows     map[int][]Row // by step, so far
	todo     []int         // the wanted steps that are missing
	sessions []Provenance
	session  Provenance // this one
	seconds  float64
	file     *partialWriter
}

// open reads what there is of a claimed run and gets ready to go on; it returns the
// result instead if nothing is missing.
func (e *executor) open(job Job) (*member, *Result, error) {
	spec := job.Spec
	prior, err := e.load(spec, e.store.loadClaimed)
	if err != nil && !errors.Is(err, ErrMissing) {
		return nil, nil, err
	}
	if err == nil && prior.has(job.Steps) {
		return nil, prior, nil
	}
	so, err := readPartial(e.store.partialPath(spec), spec)
	if err != nil {
		return nil, nil, err
	}
	m := &member{job: job, rows: so.rows, sessions: so.sessions, seconds: so.seconds, session: e.opts.Provenance.forRun(job)}
	if prior != nil { // it lacks steps: add them
		for t, stepRows := range prior.byStep() {
			m.rows[t] = stepRows
		}
		m.sessions = append([]Provenance{prior.Provenance}, m.sessions...)
		m.seconds += prior.Provenance.Seconds
	}
	if m.file, err = openPartial(e.store.partialPath(spec), spec, so, m.session); err != nil {
		return nil, nil, fmt.Errorf("its steps cannot be kept (%w): make the results folder writable or choose another with --results", cause(err))
	}
	m.todo = missing(job.Steps, m.rows)
	if len(m.todo) == 0 && len(m.sessions) > 0 { // killed between its last step and its last write
		m.session = m.sessions[len(m.sessions)-1]
	}
	return m, nil, nil
}

// add keeps the rows of a step, if it is one that is missing.
func (m *member) add(t int, rows []Row, seconds float64) error {
	if !slices.Contains(m.todo, t) {
		return nil
	}
	if err := checkRows(t, rows); err != nil {
		return err
	}
	if err := m.file.append(t, rows, seconds); err != nil {
		return fmt.Errorf("step %d cannot be kept (%w): free some space and start again", t, cause(err))
	}
	m.rows[t] = rows
	m.seconds += seconds
	return nil
}

// result is the finished run.
func (m *member) result() *Result {
	return newResult(m.job.Spec, m.session.following(m.sessions, m.seconds), m.rows)
}
