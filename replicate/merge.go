package main

import (
	"fmt"
	"os"

	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge INTO FROM...",
		Short: "Add the finished and unfinished runs of other results folders to a folder",
		Long: "Add the finished and unfinished runs of the results folders FROM to the folder INTO, step by step.\n" +
			"INTO is created if it does not exist; FROM folders are only read. Merging twice changes nothing,\n" +
			"and an interrupted merge continues when it is called again. Exit 1 if a run is left out, because\n" +
			"it is being computed, has other values at the same step, or its file is damaged.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage.Errorf("`%s` takes results folders, but got %d of them (see `%s --help`)",
					cmd.UseLine(), len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return merge(cmd, args[0], args[1:]) },
	}
}

func merge(cmd *cobra.Command, into string, others []string) error {
	var from []*runs.Store
	for _, folder := range others {
		store, err := runs.View(folder)
		if err != nil {
			return usage.Error(err)
		}
		if sameFolder(into, folder) {
			return usage.Errorf("%s and %s are the same folder: name another one to merge from", into, folder)
		}
		from = append(from, store)
	}
	if info, err := os.Stat(into); err == nil && !info.IsDir() {
		return usage.Errorf("%s is a file: name a folder, or one that does not exist yet", into)
	}
	store, err := runs.Open(into)
	if err != nil {
		return err
	}
	report, err := runs.Merge(cmd.Context(), store, from)
	_, printErr := fmt.Fprintf(cmd.OutOrStdout(), "%s: runs added: %d, extended: %d, unchanged: %d\n",
		into, report.Added, report.Extended, report.Unchanged)
	if err == nil {
		err = printErr
	}
	return printProblems(cmd.ErrOrStderr(), report.Problems, err, "left out of the merge")
}

// sameFolder tells whether two paths name the same folder.
func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
