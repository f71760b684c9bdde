// Package runner runs notebooks in a kernel without a browser, cell by cell, and writes down
// what they show. A cell that fails, hangs, prints without end or kills its kernel costs that
// cell: what was there before it is in the output notebook, which is written after each cell.
package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// Tags of cells that say how they are run, as in Jupyter's own runner.
const (
	SkipTag   = "skip-execution"   // not run; outputs that are there stay
	RaisesTag = "raises-exception" // may fail
)

// DefaultLimit is how many bytes of a stream of one cell are kept.
const DefaultLimit = 1 << 20

// Kernel is what a notebook runs in: a *jupyter.Kernel, or a scripted one in tests.
type Kernel interface {
	Execute(ctx context.Context, code string, on func(jupyter.Output)) (jupyter.Reply, error)
	Info() jupyter.Info
	Close() error
}

// Options say how a notebook is run.
type Options struct {
	Start    func(context.Context) (Kernel, error) // a fresh kernel; it is closed at the end
	Kernel   string                                // its name: cells that ran in another are run again
	Save     func(*nbformat.Notebook) error        // called after each cell; nil: nothing is saved
	Previous *nbformat.Notebook                    // what an earlier run left; its finished cells are not run again
	Timeout  time.Duration                         // for one cell; 0: none
	Live     io.Writer                             // gets what the cells show, as it comes; nil: nobody
	Limit    int                                   // bytes of a stream of one cell that are kept; 0: DefaultLimit
}

// Result counts code cells.
type Result struct{ Ran, Reused, Skipped int }

// Run runs the code cells of a notebook in order and puts their outputs into it. It stops at
// the first cell that fails, with a *CellError. If ctx ends, the running cell is interrupted,
// and the error is ctx's.
func Run(ctx context.Context, nb *nbformat.Notebook, o Options) (Result, error) {
	r := &run{nb: nb, o: o, displays: map[string][]place{}}
	if r.o.Live == nil {
		r.o.Live = io.Discard
	}
	if r.o.Limit <= 0 {
		r.o.Limit = DefaultLimit
	}
	r.plan()
	done := r.finished()
	if done == len(r.cells) { // nothing to do, so no kernel either
		r.reuse(done)
		return r.result, r.save()
	}
	k, err := o.Start(ctx)
	if err != nil {
		return r.result, err
	}
	r.kernel = k
	err = r.all(ctx, done)
	return r.result, errors.Join(err, k.Close())
}

// run is a notebook that is being run.
type run struct {
	nb       *nbformat.Notebook
	o        Options
	cells    []*step // those to run
	kernel   Kernel
	displays map[string][]place // where the outputs with a display id are
	result   Result
}

// step is a cell to run.
type step struct {
	*nbformat.Cell
	number int    // among these
	of     int    // how many there are
	hash   string // of everything that the cell can see of the notebook
}

// plan lists the cells to run and removes what earlier runs left in them.
func (r *run) plan() {
	hash := chain("", "kernel", r.o.Kernel)
	for _, c := range r.nb.Cells {
		if c.Type != nbformat.Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		delete(c.Metadata, nbformat.Record)
		if c.HasTag(SkipTag) {
			r.result.Skipped++
			continue
		}
		kind := "cell"
		if c.HasTag(RaisesTag) {
			kind = RaisesTag
		}
		hash = chain(hash, kind, c.Source)
		c.Outputs, c.ExecutionCount = nil, 0
		r.cells = append(r.cells, &step{Cell: c, number: len(r.cells) + 1, hash: hash})
	}
	for _, s := range r.cells {
		s.of = len(r.cells)
	}
}

// all runs the cells, but for those that are done, as far as the kernel allows.
func (r *run) all(ctx context.Context, done int) error {
	if info := r.kernel.Info().LanguageInfo; info != nil {
		var value map[string]any
		if json.Unmarshal(info, &value) == nil && len(value) > 0 {
			r.nb.Metadata["language_info"] = value
		}
	}
	done, err := r.resume(ctx, done)
	if err != nil {
		return err
	}
	for _, s := range r.cells[done:] {
		if err := r.cell(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// cell runs one cell, records how it ended and saves the notebook.
func (r *run) cell(ctx context.Context, s *step) error {
	fmt.Fprintf(r.o.Live, "[%d/%d] %s\n", s.number, s.of, firstLine(s.Source))
	out := newCollector(r, s)
	started := time.Now()
	reply, err := r.execute(ctx, s.Source, out.add)
	out.end()
	if err == nil && out.shellFailed(reply) {
		reply = out.shellReply()
	}
	status := statusOf(ctx, s, reply, err)
	s.ExecutionCount = s.number
	s.Metadata[nbformat.Record] = map[string]any{
		"hash": s.hash, "status": status, "seconds": time.Since(started).Round(time.Millisecond).Seconds(),
	}
	r.result.Ran++
	saved := r.save()
	if status == statusOK || status == statusRaised {
		return saved
	}
	return errors.Join(failure(ctx, s, reply, err, r.o.Timeout), saved)
}

// execute runs code within the time that a cell has.
func (r *run) execute(ctx context.Context, code string, on func(jupyter.Output)) (jupyter.Reply, error) {
	if r.o.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, r.o.Timeout)
		defer cancel()
		ctx = limited
	}
	return r.kernel.Execute(ctx, code, on)
}

// How a cell ended.
const (
	statusOK          = "ok"
	statusRaised      = "raised" // it failed, as it may
	statusError       = "error"
	statusInterrupted = "interrupted"
)

func statusOf(ctx context.Context, s *step, reply jupyter.Reply, err error) string {
	switch {
	case ctx.Err() != nil && err != nil:
		return statusInterrupted
	case err != nil:
		return statusError
	case reply.Status == "ok":
		return statusOK
	case s.HasTag(RaisesTag):
		return statusRaised
	}
	return statusError
}

func (r *run) save() error {
	if r.o.Save == nil {
		return nil
	}
	return r.o.Save(r.nb)
}

// unremarkable are the beginnings of lines that do not say what a cell does: comments,
// imports, the start of main.
var unremarkable = []string{"//", "#", "import", "\"", ")", "%%"}

// firstLine is the first line of a cell that says something, for people.
func firstLine(source string) string {
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		begins := func(with string) bool { return strings.HasPrefix(line, with) }
		if line != "" && !slices.ContainsFunc(unremarkable, begins) {
			return shorten(line, 70)
		}
	}
	return shorten(strings.TrimSpace(source), 70)
}

// shorten cuts a text to its first line and to at most n characters.
func shorten(text string, n int) string {
	text, _, more := strings.Cut(text, "\n")
	if r := []rune(text); len(r) > n {
		text, more = string(r[:n]), true
	}
	if more {
		text += " ..."
	}
	return text
}
