package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
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
		e.Reason = reason(s, reply)
	}
	return e
}

// colours matches the control sequences with which kernels colour their errors.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// reasonLines is how many lines of a traceback, or of stderr, an error shows: the last ones.
const reasonLines = 20

// gonbError is the name of all errors of GoNB.
const gonbError = "ERROR"

// reason is what is known of an error: what the kernel says, and, where a program just
// ended, the last of what it printed to stderr.
func reason(s *step, reply jupyter.Reply) string {
	value, trace := strings.TrimSpace(reply.Evalue), lastLines(strings.Join(reply.Traceback, "\n"))
	switch {
	case reply.Ename == gonbError && trace == value:
		printed := strings.TrimSuffix(lastLines(stderr(s)), value) // which GoNB prints there, too
		return strings.TrimSpace(value + "\n" + printed)
	case reply.Ename == gonbError && trace != "": // it says more than the value
		return trace
	case reply.Ename != "" && reply.Ename != gonbError:
		value = reply.Ename + ": " + value
	}
	return strings.TrimSuffix(value+"\n"+trace, "\n")
}

// stderr is what a cell printed there.
func stderr(s *step) string {
	var b strings.Builder
	for _, o := range s.Outputs {
		if o.Type == nbformat.Stream && o.Name == "stderr" {
			b.WriteString(o.Text)
		}
	}
	return b.String()
}

// lastLines are the last lines of a text that are not empty, without colours.
func lastLines(text string) string {
	var lines []string
	for line := range strings.Lines(colours.ReplaceAllString(text, "")) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > reasonLines {
		lines = append([]string{"..."}, lines[len(lines)-reasonLines:]...)
	}
	return strings.Join(lines, "\n")
}
