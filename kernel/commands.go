package main

import "github.com/spf13/cobra"

// commands are the subcommands. Each is made in its own file, cmd_NAME.go.
var commands = []func() *cobra.Command{
	installCommand,
	uninstallCommand,
	doctorCommand,
	labCommand,
	runCommand,
	checkCommand,
	cleanCommand,
}
