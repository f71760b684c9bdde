package runs

import (
	"context"
	"fmt"
	"io"
)

// StepFunc computes the rows of step t. They must depend on the run's spec and on t only, not on which steps came
// before: each step is trained from scratch.
type StepFunc func(ctx context.Context, t int) ([]Row, error)

// Job is a run that is wanted and how to compute it.
type Job struct {
	Spec  Spec
	Steps []int  // the time steps to report
	Batch *Batch // shared by the jobs whose seeds can train in one program; Alone for a run that trains by itself

	// Again has a finished run computed again: its numbers may have changed for a reason that Spec does not know. An
	// unfinished one continues.
	Again bool

	// Rank orders the queue: runs of a lower rank are computed first, within a rank the longest.
	Rank int

	// Cost is the declared length of step t, for the order of the queue and the time left. Only its relation to that of
	// other steps counts. nil: all have length 1.
	Cost func(t int) float64
}

// Wanted is a job under the name that a figure gives its series.
type Wanted struct {
	Series string
	Job
}

// Work is the declared length of some steps together.
func (j Job) Work(steps ...int) (sum float64) {
	if j.Cost == nil {
		return float64(len(steps))
	}
	for _, t := range steps {
		sum += j.Cost(t)
	}
	return sum
}

// Options say how to execute jobs.
type Options struct {
	Workers    int        // number of parallel runs; 0 counts as 1
	Out        io.Writer  // for progress and notes; nil for none. A terminal gets one line that updates
	Provenance Provenance // template from NewProvenance; the run's own fields are filled in

	// Ended is called when runs have finished or failed, with the report so far, and at the start if runs are stored and
	// others missing. It is called by one goroutine at a time; a worker waits for it. A line that it returns is printed.
	// nil: not called.
	Ended func(Report) string
}

// Failure is a run that stopped with an error.
type Failure struct {
	Spec Spec
	Err  error
}

// Report says what became of the jobs.
type Report struct {
	Cached     int // runs that were stored, or that another process computed meanwhile
	Computed   int
	Unfinished int // neither finished nor failed, because the context was cancelled
	Failed     []Failure
	Results    map[string]*Result // by ID: the finished runs, with the wanted steps only
}

// Err returns nil if every run is finished, an *InterruptedError if the context was cancelled before, otherwise the
// first failure with the number of runs that failed.
func (r Report) Err() error {
	total := len(r.Results) + len(r.Failed) + r.Unfinished
	switch {
	case r.Unfinished > 0:
		return &InterruptedError{Done: len(r.Results), Total: total}
	case len(r.Failed) > 0:
		first := r.Failed[0]
		return fmt.Errorf("%d of %d runs failed, the first is %s: %w", len(r.Failed), total, first.Spec, first.Err)
	}
	return nil
}
