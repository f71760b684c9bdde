// Package check runs notebooks at the tiny scale and compares the numbers that they emit with golden files, one JSON
// file per notebook in ci/golden/notebooks. Charts are compared by their points, not by their pixels. The
// golden file itself contains the tolerances, by name or pattern; people edit them.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
	"tvps/kernel/runner"
	"tvps/replicate/usage"

	"golang.org/x/sync/errgroup"
)

// errDiffer marks errors about numbers that differ from their goldens.
var errDiffer = errors.New("notebooks differ from their goldens")

// Options configures Check. Goldens and Report are required.
type Options struct {
	Goldens string        // folder of the golden files
	Update  bool          // rewrite golden files of notebooks whose numbers differ, and outputs that are out of date
	Runs    string        // folder of the runs; empty: a temporary folder
	Out     string        // folder of the figures' files; empty: a temporary folder
	Output  string        // folder for the notebooks with their outputs; empty: not written
	Timeout time.Duration // limit for each cell; 0: none
	Jobs    int           // number of notebooks that run at the same time; 0: 1
	Report  io.Writer     // gets the differences and a line for each notebook
	Live    io.Writer     // gets the outputs of the cells, with one job; nil: they are discarded

	run func(context.Context, runner.Job) (*nbformat.Notebook, error) // nil: its Run; replaced in tests
}

// Outcome is the result of one notebook.
type Outcome struct {
	File        string
	Took        time.Duration
	Skipped     string       // why it was not run; empty if it was
	Err         error        // why it failed; nil if it did not
	Differences []Difference // from its golden file, of the numbers of the run
	Stored      []Difference // the same, of the numbers in the outputs of the file
	Stale       []Stale      // outputs of the file that a run no longer makes

	stored, ran *nbformat.Notebook // ran is nil if it failed
	golden      golden
	got         []number // the numbers of the run
}

func (o Outcome) good() bool {
	return o.Err == nil && len(o.Differences)+len(o.Stored)+len(o.Stale) == 0
}

// Check checks the notebooks, each in the kernel that it names, and reports all differences. A notebook that fails does
// not stop the others. One whose kernel, or a Python module that it imports, is not installed is skipped, and Report
// says so; only the kernel of this checkout must be there. The error wraps errDiffer if numbers differ or outputs are
// out of date, and the errors of notebooks that failed.
func Check(ctx context.Context, files []string, o Options) error {
	if o.run == nil {
		o.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
			nb, _, err := j.Run(ctx)
			return nb, err
		}
	}
	tmp, remove, err := artifact.TempFolder("tvps-check-")
	if err != nil {
		return fmt.Errorf("cannot create a temporary folder for the runs: %w", err)
	}
	defer func() { _ = remove() }()
	environment, err := o.environment(tmp)
	if err != nil {
		return err
	}
	jobs, stored := make([]runner.Job, len(files)), make([]*nbformat.Notebook, len(files))
	names := map[string]string{}
	for i, file := range files { // report all mistakes before the first cell runs
		if other := names[filepath.Base(file)]; other != "" && (o.Update || o.Output != "") {
			return usage.Errorf("%s and %s would be written to the same file: check one at a time", other, file)
		}
		names[filepath.Base(file)] = file
		if stored[i], err = nbformat.Read(file); err != nil {
			return usage.Error(err)
		}
		if jobs[i], err = o.job(file, stored[i], environment); err != nil {
			return err
		}
	}
	outcomes := make([]Outcome, len(jobs))
	var reporting sync.Mutex
	var all errgroup.Group
	all.SetLimit(max(1, o.Jobs))
	for i := range jobs {
		all.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			begin := time.Now()
			outcome := o.one(ctx, jobs[i], stored[i])
			outcome.File, outcome.Took = jobs[i].File, time.Since(begin)
			reporting.Lock()
			defer reporting.Unlock()
			told := o.tell(outcome)
			if o.Update && outcome.Err == nil && outcome.Skipped == "" {
				outcome.Err = o.update(&outcome)
			}
			outcomes[i] = outcome
			return told
		})
	}
	err = all.Wait()
	outcomes = slices.DeleteFunc(outcomes, func(o Outcome) bool { return o.File == "" }) // not started, after ctx's end
	return errors.Join(verdict(outcomes), err)
}

// verdict is the error of all outcomes together; nil if all are good.
func verdict(outcomes []Outcome) error {
	var errs []error
	var differ []string
	for _, outcome := range outcomes {
		if outcome.Err != nil {
			errs = append(errs, outcome.Err)
		} else if !outcome.good() {
			differ = append(differ, outcome.File)
		}
	}
	if len(differ) > 0 {
		names := strings.Join(differ, ", ")
		errs = append(errs, fmt.Errorf("%w: %s; if the new numbers and outputs are right, repeat with --update",
			errDiffer, names))
	}
	return errors.Join(errs...)
}

// environment returns the kernel's variables. They override the caller's, so every caller gets the same numbers.
func (o Options) environment(tmp string) ([]string, error) {
	var all []string
	for _, v := range []struct{ name, dir, instead string }{
		{"TVPS_RESULTS", o.Runs, "results"}, {"TVPS_OUT", o.Out, "out"},
	} {
		if v.dir == "" {
			v.dir = filepath.Join(tmp, v.instead)
		}
		dir, err := filepath.Abs(v.dir) // the kernel's working directory is the notebook's folder
		if err != nil {
			return nil, fmt.Errorf("cannot resolve the folder %s: %w", v.dir, err)
		}
		all = append(all, v.name+"="+dir)
	}
	return append(all, "TVPS_DATA="), nil // the data of the tiny scale are embedded in the program
}

// job makes the job for a notebook: at the tiny scale, if the notebook has a parameter scale.
func (o Options) job(file string, nb *nbformat.Notebook, environment []string) (runner.Job, error) {
	j := runner.Job{File: file, Env: environment, Options: runner.Options{Timeout: o.Timeout, Live: o.Live}}
	parameters, err := nb.Parameters()
	if err != nil {
		return runner.Job{}, usage.Errorf("%s %w", file, err)
	}
	if slices.ContainsFunc(parameters, func(p nbformat.Parameter) bool { return p.Name == "scale" }) {
		j.Parameters = map[string]string{"scale": "tiny"}
	}
	if o.Output != "" {
		j.Output = filepath.Join(o.Output, filepath.Base(file))
	}
	return j, nil
}

func (o Options) golden(notebook string) string {
	name := filepath.Base(notebook)
	return filepath.Join(o.Goldens, strings.TrimSuffix(name, filepath.Ext(name))+".json")
}

// one runs a notebook and compares its numbers with its golden file, and the outputs of the run with those of the file.
func (o Options) one(ctx context.Context, j runner.Job, stored *nbformat.Notebook) Outcome {
	file := o.golden(j.File)
	g, err := readGolden(file)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case isNew && !o.Update:
		return Outcome{Err: fmt.Errorf("%s has no golden file %s: create it with --update", j.File, file)}
	case err != nil && !isNew:
		return Outcome{Err: err}
	}
	ran, err := o.run(ctx, j)
	if why := missing(err); why != "" {
		return Outcome{Skipped: why}
	}
	if err != nil {
		return Outcome{Err: err}
	}
	outcome := Outcome{stored: stored, ran: ran, golden: g}
	if outcome.got, err = collect(ran); err != nil {
		outcome.Err = fmt.Errorf("%s: %w", j.File, err)
		return outcome
	}
	if !isNew { // for a new golden file, every number would be a difference
		outcome.Differences = compare(g, outcome.got)
	}
	ran.Clean()
	if !sameSources(stored, ran) {
		return outcome // its outputs are those of other parameters
	}
	if outcome.Stale = stale(stored, ran); len(outcome.Stale) > 0 || isNew {
		return outcome
	}
	outcome.Stored = ofStored(g, stored)
	return outcome
}

// ofStored compares the numbers in the outputs of the file with the golden ones. A file without outputs passes.
func ofStored(g golden, file *nbformat.Notebook) []Difference {
	numbers, err := collect(file)
	if err != nil || len(numbers) == 0 {
		return nil
	}
	return compare(g, numbers)
}

// sameSources says whether the cells of the file and of the run have the same sources: the parameters of the file are
// those of the run.
func sameSources(file, run *nbformat.Notebook) bool {
	return slices.EqualFunc(file.Cells, run.Cells, func(a, b *nbformat.Cell) bool { return a.Source == b.Source })
}

// update rewrites the golden file, and the outputs of the notebook if they are out of date. What was updated is no
// difference any more.
func (o Options) update(outcome *Outcome) error {
	file := o.golden(outcome.File)
	g, err := updated(outcome.golden, outcome.got)
	if err != nil {
		return fmt.Errorf("%s: %w; %s was not changed", outcome.File, err, file)
	}
	written, err := g.write(file)
	if err != nil {
		return err
	}
	if written {
		fmt.Fprintf(o.Report, "wrote %s\n", file)
	}
	if written && sameSources(outcome.stored, outcome.ran) {
		outcome.Stored = ofStored(g, outcome.stored)
	}
	if len(outcome.Stale)+len(outcome.Stored) > 0 {
		refreshed(outcome.stored, outcome.ran)
		if err := nbformat.Write(outcome.File, outcome.stored); err != nil {
			return err
		}
		fmt.Fprintf(o.Report, "wrote the outputs of %s\n", outcome.File)
	}
	outcome.Differences, outcome.Stored, outcome.Stale = nil, nil, nil
	return nil
}

// missing says what a notebook of another language lacks on this machine: its kernel, or a module that it imports. It
// is empty for other errors, and if the kernel of this checkout is not installed.
func missing(err error) string {
	if errors.Is(err, jupyter.ErrNoKernel) {
		return "its kernel is not installed"
	}
	if cell, ok := errors.AsType[*runner.CellError](err); ok && cell.Name == "ModuleNotFoundError" {
		reason, _, _ := strings.Cut(cell.Reason, "\n")
		return reason
	}
	return ""
}
