package main

import (
	"fmt"
	"os"

	"tvps/kernel/setup"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// withLayout gives a command the flags for the folder of the installation, and calls run with its paths.
func withLayout(cmd *cobra.Command, run func(cmd *cobra.Command, l setup.Layout, args []string) error) *cobra.Command {
	prefix := cmd.Flags().String("prefix", "",
		"`folder` of the installation: DIR/share/jupyter and DIR/share/tvps (default: the user's folders)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		root, err := setup.FindRoot()
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("prefix") && *prefix == "" {
			return usage.Errorf("--prefix is empty: name a folder, or leave it out for the user's folders")
		}
		if err := usage.Folder(*prefix); err != nil {
			return fmt.Errorf("--prefix: %w", err)
		}
		l, err := setup.NewLayout(root, *prefix)
		if err != nil {
			return err
		}
		return run(cmd, l, args)
	}
	return cmd
}

func installCommand() *cobra.Command {
	return withLayout(&cobra.Command{
		Use:   "install",
		Short: "Install the Go kernel for Jupyter, or update it",
		Long: "Builds gonb and goimports, fetches the XLA plugin, and writes the Jupyter\n" +
			"kernelspec \"tvps\"; then runs a cell. Notebooks in any folder can import this checkout without a network.\n" +
			"Repeat it after an update of this module or of Go, and if cells fail. An interrupted installation\n" +
			"continues with the next call.",
		Args:        usage.NoArguments,
		Annotations: map[string]string{usage.Continues: "true"},
	}, func(cmd *cobra.Command, l setup.Layout, _ []string) error {
		o := setup.InstallOptions{Out: cmd.OutOrStdout(), Log: os.Stderr}
		if err := setup.Install(cmd.Context(), l, o); err != nil {
			return err
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), setup.NextSteps(l))
		return err
	})
}

func labCommand() *cobra.Command {
	o := setup.LabOptions{Install: setup.InstallOptions{Out: os.Stderr, Log: os.Stderr}}
	cmd := withLayout(&cobra.Command{
		Use:   "lab [flags] [-- arguments for JupyterLab]",
		Short: "Start JupyterLab; install the kernel first if needed",
		Long: "Starts JupyterLab in the checkout, and opens notebooks/00-index.ipynb. If the kernel is missing or out\n" +
			"of date, lab installs it first. It uses the JupyterLab on PATH, or the private one of an earlier `lab --venv`.\n" +
			"Ctrl-C stops JupyterLab and its kernels; the exit code is then 0. During an installation it is\n" +
			"130, and the same command continues.",
		Annotations: map[string]string{usage.Continues: "true"},
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) > 0 && dash != 0 {
				return usage.Errorf("%s takes no argument, but got %q; put arguments for JupyterLab after --",
					cmd.CommandPath(), args[0])
			}
			return nil
		},
	}, func(cmd *cobra.Command, l setup.Layout, args []string) error {
		o.Args = args
		return setup.Lab(cmd.Context(), l, o)
	})
	cmd.Flags().BoolVar(&o.Venv, "venv", false,
		"use a private virtual environment with JupyterLab "+setup.LabVersion+", created if it is missing")
	return cmd
}
