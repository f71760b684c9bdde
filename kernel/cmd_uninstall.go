package main

import (
	"tvps/kernel/setup"
	"tvps/replicate/cli"

	"github.com/spf13/cobra"
)

func uninstallCommand() *cobra.Command {
	var at place
	var venv bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what install wrote",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := at.layout()
			if err != nil {
				return err
			}
			return setup.Uninstall(cmd.Context(), l, venv, cmd.OutOrStdout())
		},
	}
	at.register(cmd)
	cmd.Flags().BoolVar(&venv, "venv", false, "also the private JupyterLab that `lab --venv` made")
	return cmd
}
