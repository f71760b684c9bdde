package main

import (
	"fmt"
	"runtime"

	"tvps/replicate/lab"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func allCommand(c lab.Catalog) *cobra.Command {
	flags := &figureFlags{catalog: c}
	cmd := &cobra.Command{
		Use:   "all",
		Short: "Make every figure: compute each run once, then write all pages, tables and verdicts",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options("")
			if err != nil {
				return err
			}
			l, err := flags.begin(cmd.Context(), o, c.CheckAll(o))
			if err != nil {
				return err
			}
			makeAll := l.All
			if flags.stored {
				makeAll = l.DrawAll
			}
			made, err := makeAll(cmd.Context(), o)
			if err != nil {
				return err
			}
			for _, m := range made {
				fmt.Fprintln(cmd.OutOrStdout(), m)
			}
			return lab.Incomplete(made)
		},
	}
	flags.registerSettings(cmd)
	cmd.Flags().StringVar(&flags.out, "out", "", "parent folder of the figures' folders (default figures/out)")
	cmd.Flags().IntVar(&flags.workers, "workers", runtime.NumCPU(), "number of parallel runs")
	flags.registerStored(cmd)
	return cmd
}
