package main

import (
	"fmt"
	"os"
	"runtime"

	"tvps/gomlx_models/backend"
	"tvps/replicate/cli"
	"tvps/replicate/lab"

	"github.com/spf13/cobra"
)

func allCommand(c lab.Catalog) *cobra.Command {
	flags := &figureFlags{catalog: c}
	cmd := &cobra.Command{
		Use:   "all",
		Short: "Make every figure: compute each run once, then write all pages, tables and verdicts",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options("")
			if err != nil {
				return err
			}
			if err := c.CheckAll(o); err != nil {
				return err // found before a plugin is fetched
			}
			if err := checkOut(o); err != nil {
				return err
			}
			l, err := flags.lab(cmd.Context(), backend.Options{Log: os.Stderr})
			if err != nil {
				return err
			}
			l.ECharts = lab.PageScript(cmd.Context(), os.Stderr)
			made, err := l.All(cmd.Context(), o)
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
	return cmd
}
