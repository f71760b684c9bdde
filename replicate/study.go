package main

import (
	"strings"

	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// studyFlags are the flags of study.
type studyFlags struct {
	figureFlags
	rows   []string
	update string

	loss, verdicts bool
}

// studyCommand is the command that makes the tables of the interpretations.
func studyCommand(c lab.Catalog) *cobra.Command {
	flags := &studyFlags{figureFlags: figureFlags{catalog: c}}
	names, _ := lab.ReadingNames(paper.Readings())
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Compare the alternatives to the interpretations with the defaults",
		Long: "Compare the alternatives to the interpretations (replicate/paper/INTERPRETATIONS.md) with the\n" +
			"defaults, on the Gaussian and on CIFAR-10b: one row for each alternative, with the learners that it\n" +
			"can change. Stored runs are not computed again.",
		Args: usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	flags.registerSettings(cmd)
	flags.registerMaking(cmd, "study")
	f := cmd.Flags()
	f.Lookup("set").Usage = "setting to override, as epochs=5, or gaussian.epochs=5 for one scenario; repeatable"
	f.IntVar(&flags.stride, "stride", 0, "stride: train at every N-th step (default 0: that of the study)")
	f.StringSliceVar(&flags.panels, "scenario", nil,
		"scenarios: "+strings.Join(lab.StudyKeys(paper.Study()), ", ")+" (default: all)")
	f.StringSliceVar(&flags.rows, "row", nil,
		"rows to compare with the default, as clip-none,method1; slow ones too (default: all but the slow ones)")
	f.BoolVar(&flags.loss, "loss", false,
		"compare trainings of g by its loss on validation samples, without classifiers: scenarios "+
			strings.Join(lab.StudyKeys(paper.StudyOfG()), ", "))
	f.BoolVar(&flags.verdicts, "verdicts", false,
		"judge the claims under other readings instead: rows "+strings.Join(names, ", "))
	f.BoolVar(&flags.stored, "stored", false, "with --verdicts: compute nothing, leave out what is missing")
	flags.registerTables(cmd)
	f.StringVar(&flags.update, "update", "",
		"file whose tables are rewritten, between lines such as <!-- study:gaussian:begin --> and its end")
	return cmd
}

func (f *studyFlags) run(cmd *cobra.Command) error {
	tables := paper.Study()
	if f.loss {
		tables = paper.StudyOfG()
	}
	options, err := f.options("study")
	if err != nil {
		return err
	}
	o := lab.StudyOptions{Options: options, Rows: f.rows, Update: f.update}
	if f.verdicts {
		return f.judge(cmd, o)
	}
	if f.stored || f.tables != "" {
		return usage.Errorf("the study computes its runs: --stored and --tables are for --verdicts")
	}
	_, planned := f.catalog.StudyPlans(tables, o)
	l, err := f.begin(cmd.Context(), o.Options, planned)
	if err != nil {
		return err
	}
	_, err = l.Study(cmd.Context(), tables, o)
	return err
}

// judge makes the verdicts by reading. Unlike elsewhere, --tables stands in for runs while others are computed.
func (f *studyFlags) judge(cmd *cobra.Command, o lab.StudyOptions) error {
	if f.loss || f.update != "" {
		return usage.Errorf("--verdicts makes a page of its own: leave out --loss and --update")
	}
	_, planned := f.catalog.ReadingPlans(paper.Readings(), o)
	tables := f.tables
	if !f.stored {
		f.tables = ""
	}
	l, err := f.begin(cmd.Context(), o.Options, planned)
	if err != nil {
		return err
	}
	if tables != "" {
		if err := l.AddReadings(tables); err != nil {
			return err
		}
	}
	return l.Readings(cmd.Context(), paper.Readings(), o)
}
