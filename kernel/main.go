// Command kernel sets up the Go kernel of the notebooks, and runs, checks and cleans
// notebooks without a browser:
//
//	go run ./kernel install
//	go run ./kernel run notebooks/start.ipynb
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

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
)

// interruptedCode is what shells report for a program that Ctrl-C ended.
const interruptedCode = 130

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // the first Ctrl-C stops cleanly, a second one at once
		<-ctx.Done()
		stop()
	}()
	err := root().ExecuteContext(ctx)
	code := exitCode(ctx, err)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
	}
	os.Exit(code)
}

// exitCode is 0, 2 for a mistake in what was asked for, 130 if the user broke it off, or 1
// for a failure.
func exitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		return 2
	case ctx.Err() != nil:
		return interruptedCode
	}
	return 1
}

// errUsage marks errors in what the user asked for.
var errUsage = errors.New("usage")

// usage wraps an error as a mistake of the user's.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

type usageError struct{ error }

func (usageError) Is(target error) bool { return target == errUsage }
func (u usageError) Unwrap() error      { return u.error }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "kernel",
		Short:         "Set up the notebooks' Go kernel; run, check and clean notebooks",
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
		return usage(fmt.Errorf("%w (see `%s --help`)", err, cmd.CommandPath()))
	})
	for _, command := range commands {
		cmd.AddCommand(command())
	}
	return cmd
}

// unknown says which command was probably meant.
func unknown(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	meant := slices.MinFunc(names, func(a, b string) int {
		return levenshtein.Distance(name, a, nil) - levenshtein.Distance(name, b, nil)
	})
	return usage(fmt.Errorf("there is no command %q; did you mean %q? (`kernel --help` lists them)", name, meant))
}

// noArguments refuses arguments behind a command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("%s takes no argument, but got %q", cmd.CommandPath(), args[0]))
	}
	return nil
}
