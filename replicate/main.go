// Command replicate makes the figures of "Time-Varying Propensity Score to Bridge the
// Gap between the Past and Present" (ICLR 2024) from data to picture:
//
//	go run ./replicate fig1
//
// See README.md for every command.
package main

import (
	"tvps/replicate/cli"

	"github.com/spf13/cobra"
)

func main() { cli.Main(root()) }

func root() *cobra.Command {
	cmd := cli.Root("replicate", "Make the figures of the time-varying propensity score paper", "command or figure", figureCommands()...)
	cmd.AddCommand(allCommand(), verifyCommand(), reportCommand(), statusCommand(), doctorCommand(), dataCommand(), pretrainCommand(),
		exportCommand(), compareCommand(), mergeCommand(), studyCommand())
	return cmd
}
