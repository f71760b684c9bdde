package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"tvps/kernel/nbformat"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func cleanCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "clean FILE...",
		Short: "Remove execution counts, times and random names from notebooks",
		Long: "Rewrites notebooks in Jupyter's format, without execution counts, times, random names and the\n" +
			"state of the user interface: without what differs from run to run. Sources and outputs\n" +
			"stay. A clean file is not written.\n\n" +
			"Exit codes: 1 a file cannot be written, or --check found one that is not clean, 2 a usage\n" +
			"error or a file that is not a notebook.",
		Args: someNotebooks,
		RunE: func(cmd *cobra.Command, files []string) error {
			var dirty []string
			var errs []error
			for _, file := range files {
				changed, err := clean(file, !check)
				if err != nil {
					errs = append(errs, err)
				}
				if changed && !check {
					fmt.Fprintln(cmd.OutOrStdout(), "cleaned", file)
				} else if changed {
					dirty = append(dirty, file)
				}
			}
			if len(dirty) > 0 {
				errs = append(errs, fmt.Errorf("notebooks are not clean: %s; run `go run ./kernel clean` on them",
					strings.Join(dirty, ", ")))
			}
			return errors.Join(errs...)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false,
		"report the files that are not clean and change nothing; exit 1 if there are any")
	return cmd
}

// someNotebooks is the argument check of commands that need at least one file.
func someNotebooks(cmd *cobra.Command, files []string) error {
	if len(files) == 0 {
		return usage.Errorf("%s needs a notebook, such as notebooks/01-start.ipynb", cmd.CommandPath())
	}
	return nil
}

// clean reports whether a notebook file is not clean, and with write cleans it.
func clean(file string, write bool) (changed bool, err error) {
	before, err := os.ReadFile(file)
	if err != nil {
		return false, usage.Errorf("cannot read the notebook: %w", err)
	}
	nb, err := nbformat.Parse(before)
	if err != nil {
		return false, usage.Errorf("%s %w", file, err)
	}
	nb.Clean()
	after, err := nb.Bytes()
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	if write {
		err = nbformat.WriteFile(file, after)
	}
	return err == nil, err
}
