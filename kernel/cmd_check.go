package main

import (
	"fmt"
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
		Short: "Run notebooks at the tiny scale and compare their numbers with the goldens",
		Long: "Runs notebooks (default: all in notebooks/) at the tiny scale in the kernel \"tvps\" and\n" +
			"compares the numbers that their cells emit, and the points of their charts, with\n" +
			"ci/golden/notebooks/NAME.json. The tolerances stand in that file: of the rules under\n" +
			"\"tolerances\" the first that matches a name counts; put a number's own before the others.\n" +
			"--update keeps the rules, and the numbers that are within their tolerance.\n\n" +
			"Exit codes: 1 a number differs or a notebook fails, 2 a mistake in the command line.",
		RunE: func(cmd *cobra.Command, files []string) error {
			root, err := setup.FindRoot()
			if err != nil {
				return err
			}
			if o.Timeout < 0 {
				return usage.Errorf("--timeout must be at least 0")
			}
			if files, err = notebooksToCheck(root, files); err != nil {
				return err
			}
			if o.Goldens == "" {
				o.Goldens = filepath.Join(root, "ci", "golden", "notebooks")
			}
			o.Report = cmd.OutOrStdout()
			if !quiet {
				o.Live = cmd.OutOrStdout()
			}
			return check.Check(cmd.Context(), files, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Update, "update", false, "write the goldens of notebooks that differ")
	flags.StringVar(&o.Goldens, "goldens", "", "folder of the goldens (default ci/golden/notebooks)")
	flags.StringVar(&o.Runs, "results", "", "folder of the runs (default: a temporary one)")
	flags.StringVar(&o.Out, "out", "", "folder of the figures' files (default: a temporary one)")
	flags.StringVarP(&o.Output, "output", "o", "", "folder to write the notebooks to with their outputs (default: nowhere)")
	flags.DurationVar(&o.Timeout, "timeout", 0, "time that a cell may take, such as 10m (default: any)")
	flags.BoolVar(&quiet, "quiet", false, "print the comparison only, not what the cells show")
	return cmd
}

// notebooksToCheck are the files given, or all of the checkout's.
func notebooksToCheck(root string, files []string) ([]string, error) {
	if len(files) == 0 {
		all, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
		if err != nil || len(all) == 0 {
			return nil, fmt.Errorf("there is no notebook in %s", filepath.Join(root, "notebooks"))
		}
		files = all
	}
	if err := readable(files); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, file := range files {
		if other, ok := names[stem(file)]; ok {
			return nil, usage.Errorf("%s and %s would have the same golden", other, file)
		}
		names[stem(file)] = file
	}
	return files, nil
}
