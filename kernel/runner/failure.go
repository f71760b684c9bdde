package runner

import (
	"context"
	"fmt"
	"strings"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
	"tvps/replicate/usage"
)

// CellError is the error of a cell that failed.
type CellError struct {
	Number, Of int    // the cell is number Number, from 1, of the Of code cells to run
	Source     string // the cell's source
	Name       string // the kernel's name for the failure, such as ModuleNotFoundError; empty if Err is not nil
	Reason     string // why it failed
	Err        error  // the kernel's error; nil if the code itself failed
}

// sourceLines is the number of source lines that the error message shows.
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

// failure makes the error for a cell that did not succeed: a *CellError, or ctx's error if ctx ended.
func (r *run) failure(ctx context.Context, s *step, reply jupyter.Reply, err error) error {
	e := &CellError{Number: s.number, Of: len(r.cells), Source: s.Source, Err: err}
	switch {
	case ctx.Err() != nil && err != nil:
		return usage.Interruptedf("interrupted in code cell %d of %d", s.number, len(r.cells))
	case err != nil:
		e.Reason = err.Error()
	default:
		e.Name, e.Reason = reply.Ename, reason(s, reply)
	}
	return e
}

// reasonLines is the number of last lines of a traceback, or of stderr, that an error message shows.
const reasonLines = 20

// gonbError is the name that GoNB gives to every error.
const gonbError = "ERROR"

// reason describes an error: the kernel's message and traceback. If GoNB reports only the exit status of a program,
// the last lines that it printed to stderr follow.
func reason(s *step, reply jupyter.Reply) string {
	value, trace := strings.TrimSpace(reply.Evalue), lastLines(strings.Join(reply.Traceback, "\n"))
	switch {
	case reply.Ename != gonbError && reply.Ename != "":
		value = reply.Ename + ": " + value
	case trace == value:
		trace = strings.TrimSuffix(lastLines(stderr(s)), value) // GoNB prints the value to stderr, too
	case strings.Contains(trace, value):
		return trace
	}
	return strings.TrimSpace(value + "\n" + trace)
}

func stderr(s *step) string {
	var b strings.Builder
	for _, o := range s.Outputs {
		if o.Type == nbformat.Stream && o.Name == "stderr" {
			b.WriteString(o.Text)
		}
	}
	return b.String()
}

// lastLines returns the last lines of a text that are not empty, without colours.
func lastLines(text string) string {
	var lines []string
	for line := range strings.Lines(nbformat.PlainText(text)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > reasonLines {
		lines = append([]string{"..."}, lines[len(lines)-reasonLines:]...)
	}
	return strings.Join(lines, "\n")
}
