package main

import (
	"fmt"

	"tvps/gomlx_models/backend"
	"tvps/kernel/setup"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func doctorCommand() *cobra.Command {
	var at folderFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that notebooks need, and run a cell",
		Long: "Checks Go, the C compiler, gonb, goimports, gopls, the kernelspec, ECharts, JupyterLab, the\n" +
			"XLA plugin and the cache, then runs a cell in the kernel. Changes and downloads nothing.\n\n" +
			"Exit codes: 0 notebooks can run (there may be warnings), 1 they cannot, 2 a usage error.",
		Args: usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := at.layout()
			if err != nil {
				return err
			}
			failed, err := backend.PrintChecks(cmd.OutOrStdout(), setup.Diagnose(cmd.Context(), l))
			if err != nil {
				return err
			}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err() // checks that were cancelled say nothing
			}
			if failed > 0 {
				return fmt.Errorf("%d checks failed, so notebooks cannot run; do what the lines above say", failed)
			}
			return nil
		},
	}
	at.register(cmd)
	return cmd
}
