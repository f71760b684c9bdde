package main

import (
	"fmt"

	"tvps/gomlx_models/backend"
	"tvps/kernel/setup"
	"tvps/replicate/cli"

	"github.com/spf13/cobra"
)

func doctorCommand() *cobra.Command {
	var at place
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check Go, gonb, the kernelspec, ECharts, JupyterLab and the plugin, and run a cell; exit 1 if notebooks cannot run",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := at.layout()
			if err != nil {
				return err
			}
			failed, err := backend.PrintChecks(cmd.OutOrStdout(), setup.Diagnose(cmd.Context(), l))
			if err != nil {
				return err
			}
			if failed > 0 {
				return fmt.Errorf("%d checks failed: notebooks cannot run here as it is", failed)
			}
			return nil
		},
	}
	at.register(cmd)
	return cmd
}
