// Command replicate makes the figures of "Time-Varying Propensity Score to Bridge the
// Gap between the Past and Present" (ICLR 2024) from data to picture:
//
//	go run ./replicate fig1
//
// See replicate/README.md for every command.
package main

import (
	"fmt"
	"time"

	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// grace is how long a command may take to end after Ctrl-C: an agent writes a checkpoint meanwhile.
const grace = 2 * time.Second

func init() { cobra.EnableCommandSorting = false } // fig2 before fig10

func main() { usage.Main(root(paperCatalog), grace, advice) }

var paperCatalog = lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)

// start is what the program prints without a command.
const start = `The figures of "Time-Varying Propensity Score to Bridge the Gap between the Past and Present" (ICLR 2024).

Begin with one of these:
  go run ./replicate fig1 --scale tiny      a minute: does everything work here?
  go run ./replicate fig1                   13 minutes: Figure 1 with its claims, as a page
  go run ./replicate verify --tables figures/gallery    seconds: which claims hold, from the runs in this repository
  go run ./replicate drift TABLE.csv --time COLUMN      has your own table drifted?

All commands: go run ./replicate --help
Pictures and verdicts: figures/gallery/README.md    Your own table: replicate/TABLES.md
`

// listed are the commands in --help, by title.
func listed(c lab.Catalog) []group {
	return []group{
		{"Figures", append(figureCommands(c), allCommand(c))},
		{"Verdicts", []*cobra.Command{verifyCommand(c)}},
		{"Your own tables", []*cobra.Command{driftCommand(), weightsCommand(), backtestCommand()}},
		{"Runs on disk", []*cobra.Command{statusCommand(c)}},
		{"Cluster", []*cobra.Command{submitCommand(c)}},
		{"Set-up", []*cobra.Command{doctorCommand(), dataCommand(), pretrainCommand()}},
	}
}

type group struct {
	title    string
	commands []*cobra.Command
}

// root returns the command line that makes the figures of a catalog.
func root(c lab.Catalog) *cobra.Command {
	cmd := usage.Root("replicate", "Make the figures of the time-varying propensity score paper", "command or figure")
	cmd.SetHelpCommandGroupID("Set-up")
	for _, g := range listed(c) {
		cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, sub := range g.commands {
			sub.GroupID = g.title
		}
		cmd.AddCommand(g.commands...)
	}
	choose := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return choose(cmd, args)
		}
		fmt.Fprint(cmd.OutOrStdout(), start)
		return nil
	}
	return cmd
}
