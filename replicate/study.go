package main

import (
	"os"
	"strings"

	"tvps/gomlx_models/backend"
	"tvps/replicate/cli"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/study"

	"github.com/spf13/cobra"
)

// studyCommand makes the tables that INTERPRETATIONS.md quotes.
func studyCommand(c lab.Catalog) *cobra.Command {
	flags, tables := &figureFlags{catalog: c}, paper.Study()
	var rows []string
	var update string
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Compare the alternatives to the interpretations with the defaults",
		Long: "What the alternatives to the interpretations (replicate/paper/INTERPRETATIONS.md) do on the Gaussian and on one label shift: " +
			"one row for each, with the learners that it can change. Runs that are there are not computed again.",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := flags.options("study")
			if err != nil {
				return err
			}
			o := study.Options{Options: options, Rows: rows, Update: update}
			if _, err := study.Plans(c, tables, o); err != nil {
				return err // before a plugin is fetched for nothing
			}
			l, err := flags.lab(cmd.Context(), backend.Options{Log: os.Stderr})
			if err != nil {
				return err
			}
			_, err = study.Make(cmd.Context(), l, tables, o)
			return err
		},
	}
	flags.registerSettings(cmd)
	flags.registerMaking(cmd, "study")
	f := cmd.Flags()
	f.Lookup("set").Usage = "override a setting in all rows, as epochs=5, or gaussian.epochs=5 for that scenario alone; repeatable"
	f.IntVar(&flags.stride, "stride", 0, "train at every N-th step (0: the study's choice)")
	f.StringSliceVar(&flags.panels, "scenario", nil, "only these: "+strings.Join(study.Keys(tables), ", "))
	f.StringSliceVar(&rows, "row", nil, "only these rows besides the default, slow ones too, as clip-none,method1")
	f.StringVar(&update, "update", "", "file whose tables, between lines such as <!-- study:gaussian:begin --> and its end, are rewritten")
	return cmd
}
