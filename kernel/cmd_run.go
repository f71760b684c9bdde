package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/kernel/nbformat"
	"tvps/kernel/runner"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

type runFlags struct {
	job        runner.Job // without file and parameters
	parameters []string
	quiet      bool
}

func runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run NOTEBOOK",
		Short: "Run a notebook from the first cell to the last in a fresh kernel",
		Long: "Runs a notebook and prints the outputs of its cells. With -o the notebook with its outputs\n" +
			"is written to that file after each cell. Without -o no notebook is written.\n\n" +
			"Cells with the tag skip-execution are not run; cells with raises-exception may fail.\n" +
			"-p sets a variable that a cell with the tag parameters declares. An unknown name is refused\n" +
			"with the list of parameters.\n\n" +
			"Exit codes: 1 a cell failed, 2 a usage error, a file that is not a notebook or a kernel that\n" +
			"is not installed, 130 interrupted.",
		Args: func(cmd *cobra.Command, files []string) error {
			if len(files) > 1 {
				return usage.Errorf("%s takes one notebook, but got %q", cmd.CommandPath(), files)
			}
			return someNotebooks(cmd, files)
		},
		RunE: func(cmd *cobra.Command, files []string) error { return f.run(cmd, files[0]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.parameters, "parameter", "p", nil, "parameter to set, as `name=value`; repeatable")
	flags.StringVarP(&f.job.Output, "output", "o", "", "`file` for the notebook with its outputs (default: not written)")
	flags.DurationVar(&f.job.Timeout, "timeout", 0, "time limit for each cell, such as 10m (default: none)")
	flags.BoolVar(&f.job.AllowErrors, "allow-errors", false, "run all cells, also after one that fails; exit code 0")
	flags.BoolVar(&f.quiet, "quiet", false, "print only errors")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, file string) error {
	j, err := f.plan(file)
	if err != nil {
		return err
	}
	if !f.quiet {
		j.Live = liveOutput(cmd.OutOrStdout())
	}
	started := time.Now()
	_, result, err := j.Run(cmd.Context())
	if err == nil && !f.quiet {
		took := time.Since(started).Round(100 * time.Millisecond)
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d cells run, %d skipped, in %v\n", file, result.Ran, result.Skipped, took)
	}
	return err
}

// liveOutput is the writer for the outputs of cells. Only a terminal gets colours.
func liveOutput(out io.Writer) io.Writer {
	if artifact.IsTerminal(out) {
		return out
	}
	return nbformat.PlainWriter{To: out}
}

// plan is the job of a notebook.
func (f *runFlags) plan(file string) (j runner.Job, err error) {
	if f.job.Timeout < 0 {
		return j, usage.Errorf("--timeout must be at least 0")
	}
	j = f.job
	j.File, j.Parameters = file, map[string]string{}
	for _, p := range f.parameters {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return j, usage.Errorf("-p takes name=value, but got %q", p)
		}
		j.Parameters[name] = value
	}
	return j, usage.File(j.Output)
}
