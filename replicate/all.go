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
		Short: "Make every figure: each run computed once, then all pages, tables and verdicts",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options("")
			if err != nil {
				return err
			}
			if err := c.CheckAll(o); err != nil {
				return err // before a plugin is fetched for nothing
			}
			l, err := flags.lab(cmd.Context(), backend.Options{Log: os.Stderr})
			if err != nil {
				return err
			}
			l.ECharts = pageScript(cmd.Context())
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
	cmd.Flags().StringVar(&flags.out, "out", "", "folder of the figures' folders (default figures/out)")
	cmd.Flags().IntVar(&flags.workers, "workers", runtime.NumCPU(), "number of parallel runs")
	return cmd
}
