package main

import (
	"tvps/kernel/setup"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func uninstallCommand() *cobra.Command {
	var at folderFlags
	var venv bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the files that install wrote",
		Long: "Removes the files that install wrote, and folders that are empty then. The XLA plugin and the\n" +
			"data sets stay in the cache: `replicate` uses them, too.",
		Args: usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := at.layout()
			if err != nil {
				return err
			}
			return setup.Uninstall(cmd.Context(), l, venv, cmd.OutOrStdout())
		},
	}
	at.register(cmd)
	cmd.Flags().BoolVar(&venv, "venv", false, "remove the private JupyterLab of \"lab --venv\", too")
	return cmd
}
