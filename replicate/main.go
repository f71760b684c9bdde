// Command replicate makes the figures of "Time-Varying Propensity Score to Bridge the
// Gap between the Past and Present" (ICLR 2024) from data to picture:
//
//	go run ./replicate fig1
//
// See README.md for every command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"tvps/replicate/continual"
	"tvps/replicate/paper"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // the first Ctrl-C stops cleanly, a second one at once
		<-ctx.Done()
		stop()
	}()
	err := root().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "replicate:", err)
	}
	os.Exit(exitCode(err))
}

// exitCode is 0, 2 for a mistake in what was asked for, or 1 for a failure.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, paper.ErrUsage):
		return 2
	}
	return 1
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "replicate",
		Short:         "Make the figures of the time-varying propensity score paper",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown(cmd, args[0])
		},
	}
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return paper.Usage(fmt.Errorf("%w (see `%s --help`)", err, cmd.CommandPath()))
	})
	cmd.AddCommand(figureCommands()...)
	cmd.AddCommand(doctorCommand(), dataCommand(), pretrainCommand(), statusCommand())
	return cmd
}

// unknown says which command was probably meant.
func unknown(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	slices.Sort(names)
	return paper.Usage(fmt.Errorf("there is no command or figure %q; did you mean %q? (`replicate --help` lists them)", name, continual.Nearest(name, names)))
}

// noArguments refuses arguments behind a command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return paper.Usage(fmt.Errorf("%s takes no argument, but got %q", cmd.CommandPath(), args[0]))
	}
	return nil
}
