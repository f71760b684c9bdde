package main

import (
	"fmt"
	"os"

	"tvps/kernel/setup"
	"tvps/replicate/cli"

	"github.com/spf13/cobra"
)

// place are the flags that say where the kernel is installed.
type place struct {
	user   bool
	prefix string
}

func (p *place) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.user, "user", false, "in the user's own folders (the default)")
	cmd.Flags().StringVar(&p.prefix, "prefix", "", "below this folder: DIR/share/jupyter and DIR/share/tvps")
	cmd.MarkFlagsMutuallyExclusive("user", "prefix")
}

// layout finds the checkout and the place of the installation.
func (p *place) layout() (setup.Layout, error) {
	root, err := setup.FindRoot()
	if err != nil {
		return setup.Layout{}, err
	}
	return setup.NewLayout(root, p.prefix)
}

func installCommand() *cobra.Command {
	var at place
	var script string
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the Go kernel for Jupyter, or update it",
		Long: "Builds gonb and goimports, fetches the XLA plugin and ECharts, and writes the Jupyter\n" +
			"kernelspec \"tvps\". Notebooks in any folder can then import this checkout without a network.",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := at.layout()
			if err != nil {
				return err
			}
			o := setup.InstallOptions{ECharts: script, Out: cmd.OutOrStdout(), Log: os.Stderr}
			if err := setup.Install(cmd.Context(), l, o); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), setup.NextSteps(cmd.Context(), l))
			return err
		},
	}
	at.register(cmd)
	cmd.Flags().StringVar(&script, "echarts", "", "an echarts.min.js of yours (version 5) instead of the pinned one")
	return cmd
}
