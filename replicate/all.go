package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"tvps/gomlx_models/backend"
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
			if err := flags.checkTables(flags.stored, "draw from them with --stored"); err != nil {
				return err
			}
			if err := c.CheckAll(o); err != nil {
				return err // found before a plugin is fetched
			}
			if err := checkOut(o); err != nil {
				return err
			}
			made, err := flags.makeAll(cmd.Context(), o)
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

// makeAll makes every figure, or with --stored draws what is there.
func (f *figureFlags) makeAll(ctx context.Context, o lab.Options) ([]lab.Made, error) {
	if f.stored {
		l, err := f.openStored(ctx)
		if err != nil {
			return nil, err
		}
		return l.DrawAll(ctx, o)
	}
	l, err := f.lab(ctx, backend.Options{Log: os.Stderr})
	if err != nil {
		return nil, err
	}
	return l.All(ctx, o)
}
