// Package check runs notebooks at the tiny scale and compares the numbers that they emit with golden files, one JSON
// file per notebook in ci/golden/notebooks. Charts are compared by their points, not by their pixels. Package ci
// decides what counts as a difference. The golden file itself contains the tolerances, by name or pattern; people
// edit them.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
	"tvps/kernel/runner"
)

// ErrDiffer marks errors about numbers that differ from their goldens.
var ErrDiffer = errors.New("notebooks differ from their goldens")

// Options configures Check. Goldens and Report are required.
type Options struct {
	Goldens string        // folder of the golden files
	Update  bool          // rewrite golden files of notebooks whose numbers differ
	Runs    string        // folder of the runs; empty: a temporary folder
	Out     string        // folder of the figures' files; empty: a temporary folder
	Output  string        // folder for the notebooks with their outputs; empty: not written
	Timeout time.Duration // limit for each cell; 0: none
	Live    io.Writer     // gets the outputs of the cells as text; nil: discarded
	Report  io.Writer     // gets the differences and a line for each notebook

	run func(context.Context, runner.Job) (*nbformat.Notebook, error) // nil: Job.Run; replaced in tests
}

// Check checks the notebooks one after the other, each in the kernel that it names, and reports all differences. A
// notebook that fails does not stop the others. One whose kernel, or a Python module that it imports, is not installed
// is skipped, and Report says so; only the kernel of this checkout must be there. The error wraps ErrDiffer if numbers
// differ, and the errors of notebooks that failed.
func Check(ctx context.Context, files []string, o Options) error {
	if o.run == nil {
		o.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
			nb, _, err := j.Run(ctx)
			return nb, err
		}
	}
	tmp, err := os.MkdirTemp("", "tvps-check-")
	if err != nil {
		return fmt.Errorf("cannot create a temporary folder for the runs: %w", err)
	}
	defer os.RemoveAll(tmp)
	environment, err := o.environment(tmp)
	if err != nil {
		return err
	}
	var jobs []runner.Job
	for _, file := range files { // report all mistakes before the first cell runs
		j, err := o.job(file, environment)
		if err != nil {
			return err
		}
		jobs = append(jobs, j)
	}
	var errs []error
	var differ []string
	for _, j := range jobs {
		same, err := o.one(ctx, j)
		if err != nil {
			errs = append(errs, err)
		} else if !same {
			differ = append(differ, j.File)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(differ) > 0 {
		names := strings.Join(differ, ", ")
		errs = append(errs, fmt.Errorf("%w: %s; if the new numbers are right, repeat with --update", ErrDiffer, names))
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
func (o Options) job(file string, environment []string) (runner.Job, error) {
	j := runner.Job{File: file, Timeout: o.Timeout, Live: o.Live, Env: environment}
	nb, err := nbformat.Read(file)
	if err != nil {
		return runner.Job{}, err
	}
	parameters, err := nb.Parameters()
	if err != nil {
		return runner.Job{}, fmt.Errorf("%s %w", file, err)
	}
	if slices.ContainsFunc(parameters, func(p nbformat.Parameter) bool { return p.Name == "scale" }) {
		j.Parameters = map[string]string{"scale": "tiny"}
	}
	if o.Output != "" {
		if err := os.MkdirAll(o.Output, 0o755); err != nil {
			return runner.Job{}, fmt.Errorf("cannot create the folder for the notebooks: %w", err)
		}
		j.Output = filepath.Join(o.Output, filepath.Base(file))
	}
	return j, nil
}

// golden is the path of a notebook's golden file.
func (o Options) golden(notebook string) string {
	name := filepath.Base(notebook)
	return filepath.Join(o.Goldens, strings.TrimSuffix(name, filepath.Ext(name))+".json")
}

// one runs a notebook and compares its numbers with its golden file, or with Update rewrites that file. same is false
// if differences remain.
func (o Options) one(ctx context.Context, j runner.Job) (same bool, err error) {
	file := o.golden(j.File)
	g, err := readGolden(file)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case isNew && !o.Update:
		return false, fmt.Errorf("%s has no golden file %s: create it with --update", j.File, file)
	case err != nil && !isNew:
		return false, err
	}
	begin := time.Now()
	nb, err := o.run(ctx, j)
	if why := missing(err); why != "" {
		o.say("%s: skipped: %s\n", j.File, why)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	got, err := collect(nb)
	if err != nil {
		return false, fmt.Errorf("%s: %w", j.File, err)
	}
	var differences []Difference
	if !isNew { // for a new golden file, every number would be a difference
		differences = compare(g, got)
	}
	took := time.Since(begin).Round(100 * time.Millisecond)
	o.say("%s: %d numbers, %d differences, in %v\n", j.File, len(got), len(differences), took)
	if err := Report(o.Report, differences); err != nil {
		return false, err
	}
	if !o.Update {
		return len(differences) == 0, nil
	}
	if g, err = updated(g, got); err != nil {
		return false, fmt.Errorf("%s: %w; %s was not changed", j.File, err, file)
	}
	written, err := g.write(file)
	if written {
		o.say("wrote %s\n", file)
	}
	return true, err
}

// missing says what a notebook of another language lacks on this machine: its kernel, or a module that it imports. It
// is empty for other errors, and if the kernel of this checkout is not installed.
func missing(err error) string {
	var cell *runner.CellError
	switch {
	case errors.Is(err, jupyter.ErrNoKernel):
		return "its kernel is not installed"
	case errors.As(err, &cell) && cell.Name == "ModuleNotFoundError":
		reason, _, _ := strings.Cut(cell.Reason, "\n")
		return reason
	}
	return ""
}

func (o Options) say(format string, args ...any) { fmt.Fprintf(o.Report, format, args...) }
