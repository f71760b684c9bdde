// Package check runs notebooks and compares their outputs with those stored in their files. Charts are compared by
// their points, not by their pixels. The metadata of a notebook may contain tolerances of its numbers, by name or
// pattern; people edit them.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// errDiffer marks errors about outputs in files that are not those of a run.
var errDiffer = errors.New("the outputs in notebooks differ from those of a run")

// Options configures Check. Report is required.
type Options struct {
	Update  bool          // write the outputs of the run into cells whose numbers or texts differ
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
	Differences []Difference // between the numbers in the file and those of the run
	Stale       []Stale      // outputs of the file that a run no longer makes

	ran     *nbformat.Notebook // nil if it failed
	numbers int                // of the run
}

func (o Outcome) good() bool {
	return o.Err == nil && len(o.Differences)+len(o.Stale) == 0
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
	stored, rules := make([]*nbformat.Notebook, len(files)), make([][]rule, len(files))
	names := map[string]string{}
	for i, file := range files { // report all mistakes before the first cell runs
		if other := names[filepath.Base(file)]; other != "" && o.Output != "" {
			return usage.Errorf("%s and %s would be written to the same file: check one at a time", other, file)
		}
		names[filepath.Base(file)] = file
		if stored[i], err = nbformat.Read(file); err != nil {
			return usage.Error(err)
		}
		if rules[i], err = rulesOf(stored[i]); err != nil {
			return usage.Errorf("%s %w", file, err)
		}
	}
	outcomes := make([]Outcome, len(files))
	var reporting sync.Mutex
	var all errgroup.Group
	all.SetLimit(max(1, o.Jobs))
	for i, file := range files {
		all.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			begin := time.Now()
			outcome := o.one(ctx, o.job(file, environment), stored[i], rules[i])
			outcome.File, outcome.Took = file, time.Since(begin)
			reporting.Lock()
			defer reporting.Unlock()
			told := o.tell(outcome)
			if o.Update && outcome.Err == nil && !outcome.good() {
				outcome.Err = o.update(&outcome, stored[i])
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
		errs = append(errs, fmt.Errorf("%w: %s; if those of the run are right, repeat with --update", errDiffer, names))
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
	return append(all, "TVPS_DATA="), nil // a folder of the caller's may have other data
}

func (o Options) job(file string, environment []string) runner.Job {
	j := runner.Job{File: file, Env: environment, Options: runner.Options{Timeout: o.Timeout, Live: o.Live}}
	if o.Output != "" {
		j.Output = filepath.Join(o.Output, filepath.Base(file))
	}
	return j
}

// one runs a notebook and compares the outputs in its file with those of the run.
func (o Options) one(ctx context.Context, j runner.Job, stored *nbformat.Notebook, rules []rule) Outcome {
	ran, err := o.run(ctx, j)
	if why := missing(err); why != "" {
		return Outcome{Skipped: why}
	}
	if err != nil {
		return Outcome{Err: err}
	}
	numbers, err := collect(ran)
	if err == nil {
		err = verify(numbers, rules)
	}
	if err == nil {
		err = unchanged(stored, ran)
	}
	if err != nil {
		return Outcome{Err: fmt.Errorf("%s: %w", j.File, err)}
	}
	ran.Clean()
	before, _ := collect(stored) // what cannot be read is stale
	return Outcome{
		Differences: compare(before, numbers, rules), Stale: stale(stored, ran), ran: ran, numbers: len(numbers),
	}
}

// unchanged is an error if a notebook has not the cells that it had when the check began: what a user wrote meanwhile
// is neither checked nor replaced.
func unchanged(stored, now *nbformat.Notebook) error {
	if !slices.EqualFunc(stored.Cells, now.Cells, func(a, b *nbformat.Cell) bool { return a.Source == b.Source }) {
		return errors.New("it was changed since the check began: repeat the check")
	}
	return nil
}

// update writes the outputs of the run into the cells of the file that differ, and keeps the others, so that a diff of
// the file shows only real changes. What was updated is no difference any more.
func (o Options) update(outcome *Outcome, stored *nbformat.Notebook) error {
	now, err := nbformat.Read(outcome.File)
	if err == nil {
		err = unchanged(stored, now)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", outcome.File, err)
	}
	before, after := codeCells(stored), codeCells(outcome.ran)
	for _, d := range outcome.Differences {
		before[d.Cell-1].Outputs = after[d.Cell-1].Outputs
	}
	for _, s := range outcome.Stale {
		before[s.Cell-1].Outputs = after[s.Cell-1].Outputs
	}
	if err := nbformat.Write(outcome.File, stored); err != nil {
		return err
	}
	fmt.Fprintf(o.Report, "wrote the outputs of %s\n", outcome.File)
	outcome.Differences, outcome.Stale = nil, nil
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
