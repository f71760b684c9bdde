package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/kernel/nbformat"
	"tvps/kernel/runner"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

type runFlags struct {
	job        runner.Job // what the jobs of all notebooks have in common
	parameters []string
	output     string
	quiet      bool
}

func runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run NOTEBOOK...",
		Short: "Run notebooks from the first cell to the last, each in a fresh kernel",
		Long: "Runs notebooks and prints the outputs of their cells. With -o the notebook with its outputs\n" +
			"is written to that file after each cell. Without -o no notebook is written.\n\n" +
			"Cells with the tag skip-execution are not run; cells with raises-exception may fail.\n" +
			"-p sets a variable that a cell with the tag parameters declares. An unknown name is refused\n" +
			"with the list of parameters.\n\n" +
			"Exit codes: 1 a cell failed, 2 a usage error, a file that is not a notebook or a kernel that\n" +
			"is not installed, 130 interrupted.",
		Args: someNotebooks,
		RunE: func(cmd *cobra.Command, files []string) error { return f.run(cmd, files) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.parameters, "parameter", "p", nil, "parameter to set, as `name=value`; repeatable")
	flags.StringVarP(&f.output, "output", "o", "",
		"`file` for the notebook with its outputs; a folder for several notebooks (default: not written)")
	flags.DurationVar(&f.job.Timeout, "timeout", 0, "time limit for each cell, such as 10m (default: none)")
	flags.BoolVar(&f.job.AllowErrors, "allow-errors", false, "run all cells, also after one that fails; exit code 0")
	flags.BoolVar(&f.quiet, "quiet", false, "print only errors")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, files []string) error {
	jobs, err := f.plan(files)
	if err != nil {
		return err
	}
	prepared := make([]*runner.Prepared, len(jobs))
	for i := range jobs { // report all mistakes before the first cell runs
		if !f.quiet {
			jobs[i].Live = liveOutput(cmd.OutOrStdout())
		}
		if prepared[i], err = jobs[i].Prepare(); err != nil {
			return err
		}
		if note := prepared[i].Note(); note != "" {
			fmt.Fprintln(os.Stderr, jobs[i].File, note)
		}
	}
	var errs []error
	for i, p := range prepared {
		if cmd.Context().Err() != nil {
			break // the notebook before has an error that says so
		}
		started := time.Now()
		_, result, err := p.Run(cmd.Context())
		if errs = append(errs, err); err == nil && !f.quiet {
			took := time.Since(started).Round(100 * time.Millisecond)
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d cells run, %d skipped, in %v\n", jobs[i].File, result.Ran, result.Skipped, took)
		}
	}
	return errors.Join(append(errs, cmd.Context().Err())...)
}

// liveOutput is the writer for the outputs of cells. Only a terminal gets colours.
func liveOutput(out io.Writer) io.Writer {
	if artifact.IsTerminal(out) {
		return out
	}
	return nbformat.PlainWriter{To: out}
}

func (f *runFlags) plan(files []string) ([]runner.Job, error) {
	if f.job.Timeout < 0 {
		return nil, usage.Errorf("--timeout must be at least 0")
	}
	parameters := map[string]string{}
	for _, p := range f.parameters {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usage.Errorf("-p takes name=value, but got %q", p)
		}
		parameters[name] = value
	}
	inputs, taken := map[string]string{}, map[string]string{} // files by their real path
	for _, file := range files {
		inputs[realPath(file)] = file
	}
	var jobs []runner.Job
	for _, file := range files {
		j := f.job
		j.File, j.Parameters = file, parameters
		if j.Output = target(f.output, file, len(files)); j.Output != "" {
			at := realPath(j.Output)
			if other, ok := taken[at]; ok {
				return nil, usage.Errorf("%s and %s would both be written to %s", other, file, j.Output)
			}
			// Only a notebook with its own outputs may replace a notebook that is run.
			if input, ok := inputs[at]; ok && input != file {
				return nil, usage.Errorf("a result of %s would be written over the notebook %s; name another file", file, j.Output)
			}
			taken[at] = file
		}
		if err := usage.KeepForeign(j.Output, "is no notebook", "--output", `"nbformat"`); err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// realPath is a file's path without symbolic links. A path that cannot be resolved only becomes absolute.
func realPath(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if absolute, err := filepath.Abs(file); err == nil {
		return absolute
	}
	return file
}

// target is the file for a notebook with its outputs. It is path itself, or a file in path if path is a folder or there
// are several notebooks. An empty path stays empty: no result is written.
func target(path, file string, files int) string {
	info, err := os.Stat(path)
	folder := err == nil && info.IsDir() || strings.HasSuffix(path, "/") ||
		strings.HasSuffix(path, string(os.PathSeparator))
	if path == "" || files == 1 && !folder {
		return path
	}
	return filepath.Join(path, filepath.Base(file))
}
