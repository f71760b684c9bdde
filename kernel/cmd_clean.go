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
		Short: "Remove from notebooks what differs from run to run: counts, times, random ids",
		Long: "Rewrites notebooks as Jupyter writes them, without execution counts, times, random ids and\n" +
			"the state of the user interface. Sources and outputs stay. A clean file is not touched.",
		Args: someNotebooks,
		RunE: func(cmd *cobra.Command, files []string) error {
			var dirty []string
			var errs []error
			for _, file := range files {
				changed, err := clean(file, !check)
				if err != nil {
					errs = append(errs, err)
				}
				if changed {
					dirty = append(dirty, file)
				}
			}
			if check && len(dirty) > 0 {
				errs = append(errs, fmt.Errorf("not clean: %s; run `go run ./kernel clean` on them", strings.Join(dirty, ", ")))
			}
			if !check {
				for _, file := range dirty {
					fmt.Fprintln(cmd.OutOrStdout(), "cleaned", file)
				}
			}
			return errors.Join(errs...)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; exit 1 and name the files that are not clean")
	return cmd
}

// someNotebooks refuses a command line without a file.
func someNotebooks(cmd *cobra.Command, files []string) error {
	if len(files) == 0 {
		return usage.Errorf("%s needs a notebook, such as notebooks/start.ipynb", cmd.CommandPath())
	}
	return nil
}

// clean cleans a notebook file, if it is to be written, and says whether it was not clean.
func clean(file string, write bool) (changed bool, err error) {
	before, err := os.ReadFile(file)
	if err != nil {
		return false, fmt.Errorf("cannot read the notebook: %w", err)
	}
	nb, err := nbformat.Parse(before)
	if err != nil {
		return false, fmt.Errorf("%s %w", file, err)
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
