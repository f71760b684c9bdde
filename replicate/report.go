package main

import (
	"fmt"
	"path/filepath"

	"tvps/data/artifact"
	"tvps/replicate/lab"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func reportCommand(c lab.Catalog) *cobra.Command {
	flags := &figureFlags{catalog: c}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write one self-contained page of all figures that are stored; computes nothing",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, o, err := flags.reader(cmd.Context())
			if err != nil {
				return err
			}
			page, err := l.Report(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := artifact.Replace(flags.out, page, 0o644); err != nil {
				return fmt.Errorf("cannot write %s: %w", flags.out, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Report: %s\n", flags.out)
			return err
		},
	}
	flags.registerSettings(cmd)
	cmd.Flags().StringVar(&flags.out, "out", filepath.Join("figures", "out", "report.html"), "output file")
	return cmd
}
