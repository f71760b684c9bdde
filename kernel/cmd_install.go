package main

import (
	"fmt"
	"os"

	"tvps/kernel/setup"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// folderFlags holds the flags that select the folder of the installation.
type folderFlags struct {
	user   bool
	prefix string
}

func (f *folderFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.user, "user", false, "use the user's own folders (the default)")
	cmd.Flags().StringVar(&f.prefix, "prefix", "",
		"`folder` of the installation: DIR/share/jupyter and DIR/share/tvps (default: the user's folders)")
}

// layout finds the checkout and returns the paths of the installation.
func (f *folderFlags) layout() (setup.Layout, error) {
	if f.user && f.prefix != "" {
		return setup.Layout{}, usage.Errorf("--user and --prefix %s name two folders for one installation; give one of them",
			f.prefix)
	}
	root, err := setup.FindRoot()
	if err != nil {
		return setup.Layout{}, err
	}
	return setup.NewLayout(root, f.prefix)
}

func installCommand() *cobra.Command {
	var at folderFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the Go kernel for Jupyter, or update it",
		Long: "Builds gonb and goimports, fetches the XLA plugin, and writes the Jupyter\n" +
			"kernelspec \"tvps\". Notebooks in any folder can then import this checkout without a network.\n" +
			"Repeat it after an update of this module or of Go. An interrupted installation continues\n" +
			"with the next call.",
		Args:        usage.NoArguments,
		Annotations: map[string]string{usage.Continues: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := at.layout()
			if err != nil {
				return err
			}
			o := setup.InstallOptions{Out: cmd.OutOrStdout(), Log: os.Stderr}
			if err := setup.Install(cmd.Context(), l, o); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), setup.NextSteps(cmd.Context(), l))
			return err
		},
	}
	at.register(cmd)
	return cmd
}
