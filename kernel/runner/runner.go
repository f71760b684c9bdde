// Package runner runs notebooks in a kernel without a browser, cell by cell, and records their outputs. The
// output notebook is written after each cell. So a cell that fails, hangs, prints without end or kills its kernel loses
// only its own work, and so does a kill of the runner.
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

// Tags of cells that change how they are run, as in Jupyter's own runner.
const (
	skipTag   = "skip-execution"   // not run; keeps its outputs
	raisesTag = "raises-exception" // may fail without ending the run
)

// Kernel runs the code of cells: a *jupyter.Kernel, or a scripted one in tests.
type Kernel interface {
	Execute(ctx context.Context, code string, on func(jupyter.Output)) (jupyter.Reply, error)
	Language() json.RawMessage
	Close() error
}

// Options configures Run. Start is required.
type Options struct {
	Start   func(context.Context) (Kernel, error) // starts a fresh kernel; Run closes it
	Save    func(*nbformat.Notebook) error        // called after each cell; nil: not saved
	Timeout time.Duration                         // limit for each cell; 0: none
	Live    io.Writer                             // gets the outputs as text when they arrive; nil: discarded

	AllowErrors bool // run all cells, also after one that fails; not if the kernel dies
}

// Result counts the code cells that ran, or were skipped by their tag.
type Result struct{ Ran, Skipped int }

// Run runs the code cells of a notebook in order and stores their outputs in it. It stops at the first cell that
// fails, with a *CellError. If ctx ends, Run interrupts the running cell and returns an error that wraps ctx's.
func Run(ctx context.Context, nb *nbformat.Notebook, o Options) (Result, error) {
	r := &run{nb: nb, o: o, displays: map[string][]displayed{}}
	if r.o.Live == nil {
		r.o.Live = io.Discard
	}
	if r.o.Save == nil {
		r.o.Save = func(*nbformat.Notebook) error { return nil }
	}
	r.plan()
	if len(r.cells) == 0 { // no kernel is started
		return r.result, r.o.Save(r.nb)
	}
	k, err := o.Start(ctx)
	if err != nil {
		return r.result, err
	}
	r.kernel = k
	err = r.all(ctx)
	return r.result, errors.Join(err, k.Close())
}

type run struct {
	nb       *nbformat.Notebook
	o        Options
	cells    []*step // the cells to run
	kernel   Kernel
	displays map[string][]displayed // the outputs by display id
	result   Result
}

type step struct {
	*nbformat.Cell
	number int // its number among the cells to run, from 1
}

// plan lists the cells to run and removes the outputs of earlier runs from them.
func (r *run) plan() {
	for _, c := range r.nb.Cells {
		if c.Type != nbformat.Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		if c.HasTag(skipTag) {
			r.result.Skipped++
			continue
		}
		c.Outputs, c.ExecutionCount = nil, 0
		r.cells = append(r.cells, &step{Cell: c, number: len(r.cells) + 1})
	}
}

func (r *run) all(ctx context.Context) error {
	var info map[string]any
	if json.Unmarshal(r.kernel.Language(), &info) == nil && len(info) > 0 { // there may be none
		r.nb.Metadata["language_info"] = info
	}
	for _, s := range r.cells {
		if err := r.cell(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) cell(ctx context.Context, s *step) error {
	fmt.Fprintf(r.o.Live, "[%d/%d] %s\n", s.number, len(r.cells), firstLine(s.Source))
	out := &collector{r: r, cell: s, texts: map[int]*strings.Builder{}}
	reply, err := r.execute(ctx, s.Source, out.add)
	out.finish()
	s.ExecutionCount = s.number
	r.result.Ran++
	saved := r.o.Save(r.nb)
	switch {
	case err == nil && (reply.Status == "ok" || s.HasTag(raisesTag) || r.o.AllowErrors):
		return saved
	case r.o.AllowErrors && ctx.Err() == nil && !errors.Is(err, jupyter.ErrKernelDied):
		fmt.Fprintln(r.o.Live, err) // such as its time limit
		return saved
	}
	return errors.Join(r.failure(ctx, s, reply, err), saved)
}

// execute runs code within the time limit of a cell.
func (r *run) execute(ctx context.Context, code string, on func(jupyter.Output)) (jupyter.Reply, error) {
	if r.o.Timeout > 0 {
		late := fmt.Errorf("it did not end within %v", r.o.Timeout)
		limited, cancel := context.WithTimeoutCause(ctx, r.o.Timeout, late)
		defer cancel()
		ctx = limited
	}
	return r.kernel.Execute(ctx, code, on)
}

// unremarkable lists prefixes of lines that do not say what a cell does: comments, imports, the start of main.
var unremarkable = []string{"//", "#", "import", "\"", ")", "%%"}

// firstLine is the first line of a cell that says what it does, for the progress display.
func firstLine(source string) string {
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		begins := func(with string) bool { return strings.HasPrefix(line, with) }
		if line != "" && !slices.ContainsFunc(unremarkable, begins) {
			return fmt.Sprintf("%.70s", line)
		}
	}
	return fmt.Sprintf("%.70s", strings.TrimSpace(source))
}
