package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"tvps/kernel/jupyter"
)

// CellError says which cell failed and how.
type CellError struct {
	Number, Of int    // among the code cells that are run
	Source     string // of the cell
	Reason     string // why it failed
	Err        error  // of the kernel, if it was not the code that failed; may be nil
}

// sourceLines is how many lines of a cell its error shows.
const sourceLines = 5

func (e *CellError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "code cell %d of %d failed: %s\nIts source:", e.Number, e.Of, e.Reason)
	lines := strings.Split(strings.TrimSpace(e.Source), "\n")
	for i, line := range lines {
		if i == sourceLines {
			fmt.Fprintf(&b, "\n    ... (%d more lines)", len(lines)-i)
			break
		}
		b.WriteString("\n    " + strings.TrimRight(line, "\r"))
	}
	return b.String()
}

func (e *CellError) Unwrap() error { return e.Err }

// failure is the error for a cell that did not end well.
func failure(ctx context.Context, s *step, reply jupyter.Reply, err error, timeout time.Duration) error {
	e := &CellError{Number: s.number, Of: s.of, Source: s.Source, Err: err}
	switch {
	case ctx.Err() != nil && err != nil:
		return fmt.Errorf("interrupted in code cell %d of %d: %w", s.number, s.of, err)
	case errors.Is(err, context.DeadlineExceeded):
		e.Reason = fmt.Sprintf("it did not end within %v (%v)", timeout, err)
	case err != nil:
		e.Reason = err.Error()
	default:
		e.Reason = reason(reply)
	}
	return e
}

// colours matches the control sequences with which kernels colour their errors.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// tracebackLines is how many lines of a traceback an error shows: the last ones.
const tracebackLines = 30

// reason is what a kernel says of an error: the traceback if it says more than the value.
func reason(reply jupyter.Reply) string {
	value := strings.TrimSpace(reply.Evalue)
	if reply.Ename != "" && reply.Ename != "ERROR" { // GoNB calls all errors ERROR
		value = reply.Ename + ": " + value
	}
	trace := strings.TrimSpace(colours.ReplaceAllString(strings.Join(reply.Traceback, "\n"), ""))
	if trace == "" || strings.Contains(value, trace) {
		return value
	}
	lines := strings.Split(trace, "\n")
	if len(lines) > tracebackLines {
		lines = append([]string{"..."}, lines[len(lines)-tracebackLines:]...)
	}
	if value == "" || strings.Contains(trace, value) {
		return strings.Join(lines, "\n")
	}
	return value + "\n" + strings.Join(lines, "\n")
}
