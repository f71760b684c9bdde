package main

import (
	"os"

	"tvps/kernel/setup"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func labCommand() *cobra.Command {
	var at folderFlags
	o := setup.LabOptions{}
	cmd := &cobra.Command{
		Use:   "lab [flags] [-- arguments for JupyterLab]",
		Short: "Start JupyterLab in notebooks/; install the kernel first if needed",
		Long: "Starts JupyterLab in the checkout's folder notebooks. If the kernel is missing or out of date, lab\n" +
			"installs it first. It uses the JupyterLab on PATH, or the private one of an earlier `lab --venv`.\n" +
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Port < 0 || o.Port > 65535 {
				return usage.Errorf("--port %d is not a port: it must be 0 to 65535", o.Port)
			}
			l, err := at.layout()
			if err != nil {
				return err
			}
			o.Args = args
			o.Install = setup.InstallOptions{Out: os.Stderr, Log: os.Stderr}
			return setup.Lab(cmd.Context(), l, o)
		},
	}
	at.register(cmd)
	cmd.Flags().BoolVar(&o.Venv, "venv", false,
		"use a private virtual environment with JupyterLab "+setup.LabVersion+", created if it is missing")
	cmd.Flags().BoolVar(&o.NoBrowser, "no-browser", false, "do not open a browser")
	cmd.Flags().IntVar(&o.Port, "port", 0, "port of the server (default 8888, or the next free one)")
	return cmd
}
