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

func runCommand() *cobra.Command {
	var j runner.Job
	var parameters []string
	var quiet bool
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
		RunE: func(cmd *cobra.Command, files []string) error {
			if j.Timeout < 0 {
				return usage.Errorf("--timeout must be at least 0")
			}
			j.File, j.Parameters = files[0], map[string]string{}
			for _, p := range parameters {
				name, value, ok := strings.Cut(p, "=")
				if !ok || name == "" {
					return usage.Errorf("-p takes name=value, but got %q", p)
				}
				j.Parameters[name] = value
			}
			if err := usage.File(j.Output); err != nil {
				return err
			}
			if !quiet {
				j.Live = liveOutput(cmd.OutOrStdout())
			}
			started := time.Now()
			_, result, err := j.Run(cmd.Context())
			if err == nil && !quiet {
				took := time.Since(started).Round(100 * time.Millisecond)
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d cells run, %d skipped, in %v\n", j.File, result.Ran, result.Skipped, took)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&parameters, "parameter", "p", nil, "parameter to set, as `name=value`; repeatable")
	flags.StringVarP(&j.Output, "output", "o", "", "`file` for the notebook with its outputs (default: not written)")
	flags.DurationVar(&j.Timeout, "timeout", 0, "time limit for each cell, such as 10m (default: none)")
	flags.BoolVar(&j.AllowErrors, "allow-errors", false, "run all cells, also after one that fails; exit code 0")
	flags.BoolVar(&quiet, "quiet", false, "print only errors")
	return cmd
}

// liveOutput is the writer for the outputs of cells. Only a terminal gets colours.
func liveOutput(out io.Writer) io.Writer {
	if artifact.IsTerminal(out) {
		return out
	}
	return nbformat.PlainWriter{To: out}
}
