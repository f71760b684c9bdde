// Command replicate makes the figures of "Time-Varying Propensity Score to Bridge the
// Gap between the Past and Present" (ICLR 2024) from data to picture:
//
//	go run ./replicate fig1
//
// See replicate/README.md for every command.
package main

import (
	"time"

	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// grace is how long a command may take to end after Ctrl-C: an agent writes a checkpoint meanwhile.
const grace = 2 * time.Second

func main() { usage.Main(root(paperCatalog), grace) }

var paperCatalog = lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)

// root returns the command line that makes the figures of a catalog.
func root(c lab.Catalog) *cobra.Command {
	cmd := usage.Root("replicate", "Make the figures of the time-varying propensity score paper", "command or figure",
		figureCommands(c)...)
	cmd.AddCommand(allCommand(c), verifyCommand(c), reportCommand(c), studyCommand(c), statusCommand(c),
		doctorCommand(c), dataCommand(), pretrainCommand(), driftCommand(), backtestCommand(), weightsCommand(),
		exportCommand(), mergeCommand(), planCommand(c), workCommand(c), submitCommand(c),
		cancelCommand())
	return cmd
}
