package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/drift"
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
		"number of shuffles of the times for each question, at least %d", drift.LeastPermutations))
	cmd.Flags().StringVar(&f.out, "out", filepath.Join("figures", "out", "drift"), "folder of the page")
	return cmd
}

func (f *driftFlags) run(cmd *cobra.Command, file string) error {
	if err := usage.Folder(f.out); err != nil {
		return err
	}
	source, err := f.source(file)
	if err != nil {
		return err
	}
	if f.permutations < drift.LeastPermutations || f.permutations > crossfit.MaxPermutations {
		return usage.Errorf("--permutations %d: give a number from %d to %d", f.permutations, drift.LeastPermutations,
			crossfit.MaxPermutations)
	}
	fit, err := f.fit()
	if err != nil {
		return err
	}
	fit.Permutations = f.permutations
	p, err := drift.Prepare(drift.Request{Source: source, Fit: fit, Seed: f.seed})
	if err != nil {
		return mistake(err)
	}
	b, err := f.open(cmd.Context(), file, f.json, filepath.Join(f.out, "index.html"))
	if err != nil {
		return err
	}
	defer b.Finalize()
	progress, stop := shareReporter(os.Stderr)
	r, err := p.Measure(cmd.Context(), b.Backend, progress)
	stop()
	if err != nil {
		return mistake(err)
	}
	if err := b.VerifyPlugin(); err != nil {
		return err
	}
	if err := r.WritePage(f.out); err != nil {
		return err
	}
	if err := writeJSON(f.json, r); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Page: %s\n%s", filepath.Join(f.out, "index.html"), r)
	return err
}

// shareReporter returns a function that shows the share of the work done with the time left, and one that ends it.
func shareReporter(out *os.File) (show func(share float64, next string), stop func()) {
	begin := time.Now()
	bar := artifact.NewDisplay(out)
	show = func(share float64, next string) {
		if share > 0 {
			left := time.Duration(float64(time.Since(begin)) * (1 - share) / share)
			next += fmt.Sprintf(", about %s left", left.Round(time.Second))
		}
		bar.Show(share, next)
	}
	return show, bar.Clear
}
