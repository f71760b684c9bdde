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
		Short: "Add the runs of other results folders to a folder, finished and unfinished",
		Long: "Add the runs of results folders FROM to the folder INTO, which is made if need be: their union,\n" +
			"step by step, of finished and unfinished runs alike. FROM folders are only read. Merging twice\n" +
			"changes nothing, and a merge that was broken off goes on when it is called again. Exit 1 if a run\n" +
			"is left out: it is being computed, has other values at the same step, or its file is damaged.",
		Args: folders(2, 0),
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
		if same(into, folder) {
			return usage.Errorf("%s and %s are the same folder: merge others into it", into, folder)
		}
		from = append(from, store)
	}
	if info, err := os.Stat(into); err == nil && !info.IsDir() {
		return usage.Errorf("%s is a file, and must be a folder or not there", into)
	}
	store, err := runs.Open(into)
	if err != nil {
		return err
	}
	report, err := runs.Merge(cmd.Context(), store, from)
	if _, printErr := fmt.Fprintf(cmd.OutOrStdout(), "%s: runs added: %d, extended: %d, unchanged: %d\n", into, report.Added, report.Extended, report.Unchanged); err == nil {
		err = printErr
	}
	return listed(cmd.ErrOrStderr(), report.Problems, err, "left out of the merge")
}

// same tells whether two names are of one folder.
func same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
