package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"tvps/data/artifact"
)

// Errors say what failed and why. Which flag or command helps is the caller's to add: the types tell the cases apart.

// ErrMissing is returned for a run that is not stored. A *DamagedError matches it, too (errors.Is).
var ErrMissing = errors.New("run is not stored")

// FolderError is returned for a results folder that cannot be used, written or locked: runs need another folder.
type FolderError struct {
	Dir     string
	Problem string // as "cannot be written"
	Err     error  // its cause; nil if Problem says it all
	Locks   bool   // whether its file system has no locks
}

// Error is one sentence with folder and cause.
func (e *FolderError) Error() string {
	return fmt.Sprintf("results folder %s %s%s", e.Dir, e.Problem, inParentheses(e.Err))
}

// Unwrap returns the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// WriteError is returned for a file of a run that cannot be written, as on a full disk. Steps that are stored stay:
// executing the job again continues there.
type WriteError struct {
	What string // as "result file"
	Path string
	Err  error
}

// Error is one sentence with file and cause.
func (e *WriteError) Error() string {
	return fmt.Sprintf("%s %s cannot be written%s", e.What, e.Path, inParentheses(e.Err))
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// StepError is what a step of a run failed with.
type StepError struct {
	Step int
	Err  error
}

// Error names the step.
func (e *StepError) Error() string { return fmt.Sprintf("step %d: %v", e.Step, e.Err) }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// InterruptedError is returned when the context was cancelled before all runs were done. It matches
// context.Canceled. What was done is stored: a second call continues there.
type InterruptedError struct {
	Done, Total int
}

// Error says how many runs were done.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted with %d of %d runs finished", e.Done, e.Total)
}

// Interrupted tells the command line that the error says what an interruption left.
func (e *InterruptedError) Interrupted() {}

// Unwrap returns context.Canceled.
func (e *InterruptedError) Unwrap() error { return context.Canceled }

// DamagedError names a result file that cannot be trusted. Its run counts as missing.
type DamagedError struct {
	Path   string
	Reason string
}

// Error says which file is damaged, and why.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("result file %s is damaged (%s): its run counts as missing", e.Path, e.Reason)
}

// Is makes a damaged run a missing one.
func (e *DamagedError) Is(target error) bool { return target == ErrMissing }

// newerError is the format of a result file that this program is too old to read. Its run is not missing.
type newerError int

func (e newerError) Error() string {
	return fmt.Sprintf("a newer version of this program wrote it (format %d, this one reads %d): use that version, or "+
		"another folder with --results", int(e), format)
}

// inParentheses is " (err)" without a path; empty without an error.
func inParentheses(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf(" (%v)", artifact.WithoutPath(err))
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
