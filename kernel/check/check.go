// Package check runs notebooks at the tiny scale and compares the numbers that they emit
// with goldens, one JSON file a notebook in ci/golden/notebooks. Charts are compared by
// their points, not by their pixels. The rule for a difference is that of package ci; the
// tolerances stand in the golden file itself, by name or pattern, for people to edit.
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

	"tvps/kernel/nbformat"
	"tvps/kernel/runner"
)

// Kernel is the kernel that the notebooks run in.
const Kernel = "tvps"

// ErrDiffer is what errors are if numbers differ from their goldens.
var ErrDiffer = errors.New("notebooks differ from their goldens")

// Options say what is checked. Runs and Out are the folders of runs and figures; where one
// is empty a temporary folder takes its place.
type Options struct {
	Goldens string // the folder of the golden files
	Update  bool   // write the goldens anew where they differ
	Runs    string
	Out     string
	Output  string        // folder for the notebooks with their outputs; empty: nowhere
	Timeout time.Duration // for one cell; 0: none
	Live    io.Writer     // gets what the cells show; nil: nobody
	Report  io.Writer     // gets the differences and a line for each notebook

	run func(context.Context, runner.Job) (*nbformat.Notebook, error) // tests put theirs here
}

// Check checks all the notebooks, one after the other, and reports all differences. The
// error is ErrDiffer if that is all.
func Check(ctx context.Context, files []string, o Options) error {
	if o.run == nil {
		o.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
			nb, _, err := j.Run(ctx)
			return nb, err
		}
	}
	tmp, err := os.MkdirTemp("", "tvps-check-")
	if err != nil {
		return fmt.Errorf("no temporary folder for the runs: %w", err)
	}
	defer os.RemoveAll(tmp)
	environment, err := o.environment(tmp)
	if err != nil {
		return err
	}
	var jobs []runner.Job
	for _, file := range files { // all mistakes come before the first cell runs
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
		errs = append(errs, fmt.Errorf("%w: %s; if the new numbers are right, call again with --update", ErrDiffer, strings.Join(differ, ", ")))
	}
	return errors.Join(errs...)
}

// environment are the variables of the kernel: whoever calls gets the same numbers.
func (o Options) environment(tmp string) ([]string, error) {
	var all []string
	for _, v := range []struct{ name, dir, instead string }{
		{"TVPS_RESULTS", o.Runs, "results"}, {"TVPS_OUT", o.Out, "out"},
	} {
		if v.dir == "" {
			v.dir = filepath.Join(tmp, v.instead)
		}
		dir, err := filepath.Abs(v.dir) // the kernel works in the notebook's folder
		if err != nil {
			return nil, fmt.Errorf("cannot tell the folder %s: %w", v.dir, err)
		}
		all = append(all, v.name+"="+dir)
	}
	return append(all, "TVPS_DATA="), nil // the tiny scale has its data in the program
}

// job is the run of a notebook, at the tiny scale if it has one.
func (o Options) job(file string, environment []string) (runner.Job, error) {
	j := runner.Job{File: file, Kernel: Kernel, Timeout: o.Timeout, Live: o.Live, Env: environment}
	nb, err := nbformat.Read(file)
	if err != nil {
		return j, err
	}
	parameters, err := nb.Parameters()
	if err != nil {
		return j, fmt.Errorf("%s %w", file, err)
	}
	if slices.ContainsFunc(parameters, func(p nbformat.Parameter) bool { return p.Name == "scale" }) {
		j.Parameters = map[string]string{"scale": "tiny"}
	}
	if o.Output != "" {
		if err := os.MkdirAll(o.Output, 0o755); err != nil {
			return j, fmt.Errorf("no folder for the notebooks: %w", err)
		}
		j.Output = filepath.Join(o.Output, filepath.Base(file))
	}
	return j, nil
}

// golden is the golden file of a notebook.
func (o Options) golden(notebook string) string {
	name := filepath.Base(notebook)
	return filepath.Join(o.Goldens, strings.TrimSuffix(name, filepath.Ext(name))+".json")
}

// one runs a notebook and compares or updates its golden. It is not the same if there are
// differences that stay.
func (o Options) one(ctx context.Context, j runner.Job) (same bool, err error) {
	file := o.golden(j.File)
	g, err := readGolden(file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && !o.Update:
		return false, fmt.Errorf("%s has no golden %s yet: make it with --update", j.File, file)
	case err != nil && !missing:
		return false, err
	}
	begin := time.Now()
	nb, err := o.run(ctx, j)
	if err != nil {
		return false, err
	}
	got, err := collect(nb)
	if err != nil {
		return false, fmt.Errorf("%s: %w", j.File, err)
	}
	var differences []Difference
	if !missing { // of a new golden all numbers would be new
		differences = compare(g, got)
	}
	o.say("%s: %d numbers, %d differences, in %v\n", j.File, len(got), len(differences), time.Since(begin).Round(100*time.Millisecond))
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

func (o Options) say(format string, args ...any) { fmt.Fprintf(o.Report, format, args...) }
