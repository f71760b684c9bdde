package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/drift"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// driftFlags are those of drift.
type driftFlags struct {
	tableFlags
	permutations int
	out          string
}

func driftCommand() *cobra.Command {
	f := &driftFlags{}
	cmd := &cobra.Command{
		Use:   "drift TABLE",
		Short: "Say whether your own table has drifted: when, in x, y or y given x, and by which columns",
		Long: "Say whether a table (CSV, also compressed, or Parquet) has drifted: in x, in y or in y given x, by tests\n" +
			"against shuffled times; when, by two-sample tests of each block of time against the one before and against\n" +
			"the present; by which columns; and which part of the past resembles the present. Prints a summary and\n" +
			"writes a page. Whether weighting would have helped is another question.",
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.register(cmd)
	cmd.Flags().IntVar(&f.permutations, "permutations", crossfit.DefaultConfig().Permutations, fmt.Sprintf(
		"number of shuffles of the times for each question, at least %d", tables.LeastPermutations))
	cmd.Flags().StringVar(&f.out, "out", filepath.Join("figures", "out", "drift"), "folder of the page")
	return cmd
}

func (f *driftFlags) run(cmd *cobra.Command, file string) error {
	q, err := f.asked(cmd, file)
	if err != nil {
		return err
	}
	if f.permutations < tables.LeastPermutations || f.permutations > crossfit.MaxPermutations {
		return usage.Errorf("--permutations %d: give a number from %d to %d", f.permutations, tables.LeastPermutations,
			crossfit.MaxPermutations)
	}
	q.Fit.Permutations = f.permutations
	p, err := prepared(file, drift.Prepare, q)
	if err != nil {
		return mistake(err)
	}
	fmt.Fprint(cmd.ErrOrStderr(), p.Begin())
	return f.page(cmd, file, f.out, func() (pageResult, error) {
		progress, stop := shareReporter()
		defer stop()
		r, err := p.Measure(cmd.Context(), progress)
		return driftPage{r}, err
	})
}

// shareReporter returns a function that shows the share of the work done with the time left, and one that ends it.
func shareReporter() (show func(share float64, next string), stop func()) {
	begin := time.Now()
	bar := artifact.NewDisplay(os.Stderr)
	show = func(share float64, next string) {
		if share >= .1 { // before, programs are compiled, which tells nothing of the rest
			left := time.Duration(float64(time.Since(begin)) * (1 - share) / share)
			next += fmt.Sprintf(", about %s left", left.Round(time.Second))
		}
		bar.Show(share, next)
	}
	return show, bar.Clear
}
