// Command kernel sets up the Go kernel of the notebooks, and runs, checks and cleans
// notebooks without a browser:
//
//	go run ./kernel install
//	go run ./kernel run notebooks/01-start.ipynb
//
// kernel/README.md describes every command.
package main

import (
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func main() {
	noAdvice := func(error) string { return "" }
	usage.Main(root(), 0, noAdvice) // without grace: a kernel must be ended before its parent
}

// root is the command line. cmd_setup.go has the subcommands that install and start, cmd_NAME.go each other one.
func root() *cobra.Command {
	return usage.Root("kernel", "Set up the notebooks' Go kernel; run, check and clean notebooks", "command",
		installCommand(), labCommand(), runCommand(), checkCommand(), cleanCommand())
}
