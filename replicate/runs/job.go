package runs

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
)

// StepFunc computes the rows of step t. They must depend on the run's spec and
// on t only, not on which steps came before: each step is trained from scratch.
type StepFunc func(ctx context.Context, t int) ([]Row, error)

// Group computes the runs of several jobs together: agents of different seeds in one
// compiled program. Unlike a StepFunc it may carry state from step to step.
type Group struct {
	// Size is how many runs share a compiled program. It is no part of their specs, so that
	// runs that were computed apart, on several machines, serve a figure that would compute
	// them together; but XLA rounds a stack of three otherwise than one, so the provenance
	// tells (Provenance.Together).
	Size int
	// Start prepares the computation of the members' runs, of which some may be stored
	// already and missing here.
	Start func(ctx context.Context, members []Spec, files Files) (step GroupStep, stop func(), err error)
}

// GroupStep computes step t of every member, in their order. It is called with increasing
// t, after a break only for the steps that are missing. The rows of a member must depend
// on its spec, on t and on the group's size only, not on who the other members are and not
// on breaks.
type GroupStep func(ctx context.Context, t int) ([][]Row, error)

// Guarded returns the step with its panics turned into errors, for groups that run the
// steps of their members on goroutines.
func Guarded(step StepFunc) StepFunc {
	return func(ctx context.Context, t int) (rows []Row, err error) {
		defer recovered(&err)
		return step(ctx, t)
	}
}

// Job is a run that is wanted and how to compute it.
type Job struct {
	Spec  Spec
	Steps []int // the time steps to report

	// Start prepares the computation: load data, compile graphs. It is called
	// once, and only when a step is missing. It returns the function for one
	// step and one that frees what Start took (nil if nothing).
	Start func(ctx context.Context) (step StepFunc, stop func(), err error)
	// Step is for jobs without preparation. Give one of Start, Step and Group.
	Step StepFunc
	// Group is shared by the jobs that it computes together.
	Group *Group

	// Cost is how long one step takes relative to other jobs' steps, for the
	// estimate of the time left; 0 counts as 1.
	Cost float64
}

// Wanted is a job under the name that a figure gives its series.
type Wanted struct {
	Series string
	Job
}

// validate returns an error for a job that no caller can mean.
func (j Job) validate() error {
	if err := j.Spec.validate(); err != nil {
		return err
	}
	switch {
	case len(j.Steps) == 0:
		return fmt.Errorf("run %s has no steps: give at least one", j.Spec)
	}
	ways := 0
	for _, given := range []bool{j.Start != nil, j.Step != nil, j.Group != nil} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return fmt.Errorf("run %s must have one of Start, Step and Group", j.Spec)
	}
	return nil
}

func (j Job) cost() float64 {
	if j.Cost <= 0 {
		return 1
	}
	return j.Cost
}

// panicError is a panic of a job's function.
type panicError struct {
	value any
	stack string
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recovered turns a panic of the function that defers it into an error.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = &panicError{value: value, stack: string(debug.Stack())}
	}
}

// Options say how to execute jobs.
type Options struct {
	Workers    int        // runs computed at the same time; 0 counts as 1
	Out        io.Writer  // for progress and notes; nil for none. A terminal gets one line that updates
	Provenance Provenance // template from NewProvenance; the run's own fields are filled in
}

// Failure is a run that stopped with an error.
type Failure struct {
	Spec Spec
	Err  error
}

// Report says what became of the jobs.
type Report struct {
	Cached      int // runs that were already there, or that another process computed meanwhile
	Computed    int
	Unfinished  int // neither finished nor failed, because the context was cancelled
	Failed      []Failure
	Interrupted bool
	Quarantined []string           // damaged files, where they were found
	Results     map[string]*Result // by ID: the finished runs, with the wanted steps only
}

// Err returns nil when every run is finished, and otherwise one sentence for
// the command line to end with. It matches context.Canceled when interrupted.
func (r Report) Err() error {
	total := len(r.Results) + len(r.Failed) + r.Unfinished
	switch {
	case r.Interrupted:
		return fmt.Errorf("interrupted with %d of %d runs finished, start again to go on (%w)", len(r.Results), total, context.Canceled)
	case len(r.Failed) > 0:
		return fmt.Errorf("%d of %d runs failed, the first is %s: %w", len(r.Failed), total, r.Failed[0].Spec, r.Failed[0].Err)
	}
	return nil
}
