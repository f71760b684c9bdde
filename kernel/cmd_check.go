package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tvps/kernel/check"
	"tvps/kernel/setup"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func checkCommand() *cobra.Command {
	var o check.Options
	var quiet bool
	cmd := &cobra.Command{
		Use:   "check [NOTEBOOK...]",
		Short: "Run notebooks and compare their outputs with those in their files",
		Long: "Runs notebooks (default: all in notebooks/) with the parameters in their files, each in its own\n" +
			"kernel, and compares their outputs with those in the files. The numbers that cells emit, and the\n" +
			"points of their charts, must be within the tolerances in the notebook's metadata, or the default\n" +
			"ones; texts, settings and the code of charts must be the same. A notebook in Python is skipped if\n" +
			"its kernel, or a module that it imports, is not installed.\n\n" +
			"Exit codes: 1 a number differs, outputs are out of date or a notebook fails, 2 a usage error\n" +
			"or a file that is not a notebook or has damaged tolerances, 130 interrupted.",
		RunE: func(cmd *cobra.Command, files []string) error {
			if o.Jobs < 1 || o.Timeout < 0 {
				return usage.Errorf("--jobs must be at least 1 and --timeout at least 0")
			}
			for _, target := range []struct{ flag, folder string }{
				{"--results", o.Runs}, {"--out", o.Out}, {"--output", o.Output},
			} { // before a notebook runs
				if err := usage.Folder(target.folder); err != nil {
					return fmt.Errorf("%s: %w", target.flag, err)
				}
			}
			if len(files) == 0 {
				root, err := setup.FindRoot()
				if err != nil {
					return err
				}
				if files, err = allNotebooks(root); err != nil {
					return err
				}
			}
			o.Report = cmd.OutOrStdout()
			if !quiet && o.Jobs == 1 { // outputs of parallel notebooks would be mixed
				o.Live = liveOutput(o.Report)
			}
			return check.Check(cmd.Context(), files, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Update, "update", false, "write the outputs of the run into the cells whose outputs differ")
	flags.StringVar(&o.Runs, "results", "", "folder of the runs (default: a temporary folder)")
	flags.StringVar(&o.Out, "out", "", "folder of the figures' files (default: a temporary folder)")
	flags.StringVarP(&o.Output, "output", "o", "", "folder for the notebooks with their outputs (default: not written)")
	flags.IntVar(&o.Jobs, "jobs", 1, "number of parallel notebooks; with several, as --quiet")
	flags.DurationVar(&o.Timeout, "timeout", 0, "time limit for each cell, such as 10m (default: none)")
	flags.BoolVar(&quiet, "quiet", false, "print only the comparison, not the outputs of the cells")
	return cmd
}

// allNotebooks returns the notebooks of the checkout.
func allNotebooks(root string) ([]string, error) {
	folder := filepath.Join(root, "notebooks")
	all, err := fs.Glob(os.DirFS(folder), "*.ipynb")
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("no notebook found in %s", folder)
	}
	for i := range all {
		all[i] = filepath.Join(folder, all[i])
	}
	return all, nil
}
