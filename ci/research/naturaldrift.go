package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/ci/demand"
	"tvps/ci/research/natural"
	"tvps/ci/research/natural/charts"
	"tvps/data/artifact"
	"tvps/replicate/runs"
	"tvps/replicate/tables/backtest"
	"tvps/replicate/usage"

	"github.com/gomlx/gomlx/support/xslices"
	"github.com/spf13/cobra"
)

// naturalFlags are those of naturaldrift.
type naturalFlags struct {
	tables, suites  []string
	folder, results string
	workers         int
	stored          bool
}

func naturalCommand() *cobra.Command {
	f := &naturalFlags{}
	cmd := &cobra.Command{
		Use:   "naturaldrift",
		Short: "Compare rules that weight the past on real tables, and draw the pages",
		Long: "Back-test all rules of weighting on the tables of the benchmark, write the losses of each test block, and draw\n" +
			"pages and pictures from all losses that are stored. Finished test blocks are kept: after an interruption the same\n" +
			"command continues. tables.py in the folder makes the tables that are not in the repository; a table that is\n" +
			"not there is left out. Trainers run by python3, or what TVPS_PYTHON names, with pandas, pyarrow and lightgbm.",
		Args:        usage.NoArguments,
		Annotations: map[string]string{usage.Continues: "true"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.tables, "table", nil, "tables to compute (default: all)")
	flags.StringSliceVar(&f.suites, "suite", nil, "models with their rules: "+strings.Join(suiteNames(), ", ")+" (default: all)")
	flags.StringVar(&f.folder, "folder", filepath.Join("figures", "gallery", "archive", "natural-drift"), "folder of tables, losses and pages")
	flags.StringVar(&f.results, "results", "results", "folder of the runs")
	flags.IntVar(&f.workers, "workers", 1, "number of models that train in parallel")
	flags.BoolVar(&f.stored, "stored", false, "compute nothing, draw the stored losses")
	return cmd
}

// suiteNames are those of the suites.
func suiteNames() []string {
	return xslices.Map(natural.Suites, func(s natural.Suite) string { return s.Name })
}

func (f *naturalFlags) run(cmd *cobra.Command) error {
	known := xslices.Map(natural.Datasets, func(t natural.Dataset) string { return t.Name })
	if err := errors.Join(usage.Known("there is no table", f.tables, known),
		usage.Known("there is no suite", f.suites, suiteNames())); err != nil {
		return err
	}
	if info, err := os.Stat(f.folder); err != nil || !info.IsDir() {
		return usage.Errorf("--folder %s: there is no such folder", f.folder)
	}
	if !f.stored {
		if err := f.compute(cmd.Context()); err != nil {
			return err
		}
	}
	all, err := natural.Read(f.folder)
	if err != nil {
		return err
	}
	generated, err := natural.Report(f.folder, all)
	if err != nil {
		return err
	}
	if err := charts.Pictures(f.folder, all); err != nil {
		return err
	}
	for _, b := range generated {
		page := filepath.Join(f.folder, b.Page)
		text, err := os.ReadFile(page)
		if err == nil {
			text, err = demand.SetBlock(text, b.Name, b.Text)
		}
		if err == nil {
			err = artifact.Replace(page, text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("cannot rewrite %s: %w", page, err)
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Page: %s\n", filepath.Join(f.folder, "README.md"))
	return err
}

// compute runs what is missing.
func (f *naturalFlags) compute(ctx context.Context) error {
	store, err := runs.Open(f.results)
	if err != nil {
		return err
	}
	h := backtest.Host{Store: store, Workers: f.workers, Log: os.Stderr}
	for _, s := range natural.Suites {
		for _, t := range natural.Datasets {
			if f.tables != nil && !slices.Contains(f.tables, t.Name) || f.suites != nil && !slices.Contains(f.suites, s.Name) {
				continue
			}
			fmt.Fprintf(os.Stderr, "%s, %s\n", t.Name, s.Name)
			err := natural.Run(ctx, h, s, t, f.folder)
			if err == nil && len(s.Kinds) > 0 {
				err = natural.MeasureDrift(ctx, t, f.folder)
			}
			if errors.Is(err, fs.ErrNotExist) && f.tables == nil {
				fmt.Fprintf(os.Stderr, "%s is left out: %v\n", t.Name, err)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
