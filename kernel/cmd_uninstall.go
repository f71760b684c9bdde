package main

import (
	"tvps/kernel/setup"

	"github.com/spf13/cobra"
)

func uninstallCommand() *cobra.Command {
	var at place
	var venv bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what install wrote",
		Args:  noArguments,
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
