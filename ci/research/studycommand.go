package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tvps/ci/research/study"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

var catalog = lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)

// studyFlags are those of study and readings.
type studyFlags struct {
	scale, seeds, tables string
	stored               bool
	open                 lab.OpenOptions
	options              study.Options
}

// register adds the flags of both commands; name is that of the output folder.
func (f *studyFlags) register(cmd *cobra.Command, name string) {
	cmd.Args = usage.NoArguments
	cmd.Annotations = map[string]string{usage.Continues: "true"}
	flags := cmd.Flags()
	flags.StringVar(&f.open.Results, "results", "results", "folder of the runs")
	flags.StringVar(&f.options.Out, "out", filepath.Join("figures", "out", name), "output folder")
	flags.IntVar(&f.options.Workers, "workers", runtime.NumCPU(), "number of parallel runs")
	flags.StringVar(&f.open.Backend, "backend", "", "backend: xla:cpu, xla:cuda or go (default xla:cpu, or go without it)")
}

func studyCommand() *cobra.Command {
	f := &studyFlags{}
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Compare other readings of the paper with the defaults",
		Long: "Compare the alternatives to the interpretations (replicate/paper/INTERPRETATIONS.md) with the defaults:\n" +
			"one table for each scenario, one row for each alternative, with the learners that it can change. Scenarios\n" +
			"that begin with g- compare trainings of g by its loss on validation samples, without classifiers. Stored\n" +
			"runs are not computed again.",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.study(cmd.Context()) },
	}
	f.register(cmd, "study")
	flags := cmd.Flags()
	flags.StringVar(&f.scale, "scale", string(experiment.Small), "tiny, small or paper")
	flags.StringVar(&f.seeds, "seeds", "", "seeds, as 0-2 or 0,4 (default: those of the table)")
	flags.StringSliceVar(&f.options.Panels, "scenario", []string{"gaussian", "cifar10b"},
		"scenarios: "+strings.Join(study.Keys(study.Tables()), ", "))
	flags.StringArrayVar(&f.options.Overrides, "set", nil,
		"setting to override, as epochs=5, or gaussian.epochs=5 for one scenario; repeatable")
	flags.StringSliceVar(&f.options.Rows, "row", nil,
		"rows to compare with the default, as clip-none,method1; slow ones too (default: all but the slow ones)")
	flags.StringVar(&f.options.Update, "update", "",
		"file whose tables are rewritten, between lines such as <!-- study:gaussian:begin --> and its end")
	return cmd
}

func readingsCommand() *cobra.Command {
	f := &studyFlags{scale: string(experiment.Small)}
	cmd := &cobra.Command{
		Use:   "readings",
		Short: "Judge the claims of the paper under its other readings",
		Long: "Judge the claims of the paper under each reading by the same seeds and steps, and draw the page of the verdicts.\n" +
			"Runs that neither --results nor --tables have are computed.",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.readings(cmd.Context()) },
	}
	f.register(cmd, "readings")
	flags := cmd.Flags()
	flags.StringSliceVar(&f.options.Rows, "row", nil,
		"readings: "+strings.Join(study.ReadingNames(study.Readings()), ", ")+" (default: all)")
	flags.StringVar(&f.tables, "tables", filepath.Join("figures", "gallery"),
		"folder of drawn figures: their tables replace runs that are not stored")
	flags.BoolVar(&f.stored, "stored", false, "compute nothing, leave out what is missing")
	return cmd
}

// lab opens the lab.
func (f *studyFlags) lab(ctx context.Context) (l *lab.Lab, err error) {
	o := &f.options
	if o.Scale, err = experiment.ParseScale(f.scale); err != nil {
		return nil, usage.Error(err)
	}
	if f.seeds != "" {
		if o.Seeds, err = claims.ParseSeeds(f.seeds); err != nil {
			return nil, err
		}
	}
	f.open.Open, f.open.Stdout, f.open.Stderr = backend.Options{Log: os.Stderr}, os.Stdout, os.Stderr
	if f.stored {
		f.open.Tables = f.tables
		return lab.OpenStored(catalog, f.open)
	}
	return lab.Open(ctx, catalog, f.open)
}

func (f *studyFlags) study(ctx context.Context) error {
	l, err := f.lab(ctx)
	if err != nil {
		return err
	}
	_, _, err = study.Make(ctx, l, study.Tables(), f.options)
	return err
}

func (f *studyFlags) readings(ctx context.Context) error {
	l, err := f.lab(ctx)
	if err != nil {
		return err
	}
	if err := study.AddReadings(l, f.tables); err != nil {
		return err
	}
	return study.Judge(ctx, l, study.Readings(), f.options)
}
