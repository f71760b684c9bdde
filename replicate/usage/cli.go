package usage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// interrupted is the exit code of a command that was interrupted, as shells report it for Ctrl-C. Others are 0,
// 1 (failure) and 2 (usage error).
const interrupted = 130

// Annotations of commands.
const (
	Grace     = "grace"     // another grace than that of the program, as the text of a duration
	Continues = "continues" // "true": after an interruption, a second call continues the first
)

// WithParent names the variable by which a program that starts this one asks that it is interrupted when that program
// has ended. The Python package sets it.
const WithParent = "TVPS_WITH_PARENT"

// Main runs a command line and ends the process with its exit code. The first Ctrl-C, SIGTERM or SIGHUP (a terminal
// that is closed; not under nohup, which ignores it) says so and cancels the command's context. A second Ctrl-C ends
// the process at once, as does the end of grace (0: there is no limit). Both may come in the middle of a computation or
// of a write: files are written in one atomic step, or line by line with checksums. A second SIGTERM has no effect:
// `scancel` sends one to the worker and one to the batch script, which sends its own to the worker.
//
// advice returns the text to append to an error: the flag or action that resolves it, or "".
//
// A program that was installed under another name says that name, and advises calls of it, not of `go run`.
func Main(root *cobra.Command, grace time.Duration, advice func(error) string) {
	source := "go run ./" + root.Name()
	root.Use = filepath.Base(os.Args[0])
	shown := Shown
	if installed := root.Name(); source != "go run ./"+installed {
		shown = func(text string) string { return Shown(strings.ReplaceAll(text, source, installed)) }
	}
	var annotations map[string]string
	if cmd, _, err := root.Find(os.Args[1:]); err == nil {
		annotations = cmd.Annotations
	}
	if own, err := time.ParseDuration(annotations[Grace]); err == nil {
		grace = own
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	if os.Getenv(WithParent) != "" {
		signal.Ignore(syscall.SIGPIPE) // nobody may read any more
		go func() {
			for parent := os.Getppid(); os.Getppid() == parent; {
				time.Sleep(time.Second)
			}
			signals <- os.Interrupt
		}()
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-ended:
			return
		}
		signal.Reset(os.Interrupt) // the next one has its default effect
		cancel()
		select {
		case <-ended:
			return
		default:
		}
		fmt.Fprintf(os.Stderr, "\n%s: stopping; Ctrl-C again ends it at once\n", root.Name())
		if grace > 0 {
			time.Sleep(grace)
			fmt.Fprintf(os.Stderr, "%s: %s\n", root.Name(), interruptedText(context.Canceled, annotations[Continues] != ""))
			os.Exit(interrupted)
		}
	}()
	root.SetOut(shownTo{os.Stdout, shown})
	err := root.ExecuteContext(ctx)
	code := ExitCode(ctx, err)
	close(ended)
	cancel()
	switch {
	case code == interrupted:
		text := interruptedText(err, annotations[Continues] != "") + advice(err)
		fmt.Fprintf(os.Stderr, "%s: %s\n", root.Name(), shown(text))
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %s\n", root.Name(), shown(err.Error()+advice(err)))
	}
	os.Exit(code)
}

// interruptedText is what a user reads of an interrupted command's error. Errors that only report the cancelled
// context become one sentence that says what to do; those that say more (interruption, and others
// with a method Interrupted) replace it. Others, such as a full disk's, stay.
func interruptedText(err error, continues bool) string {
	var lines []string
	said := false
	for _, err := range separate(err) {
		own := errors.As(err, new(interface{ Interrupted() }))
		if own || !errors.Is(err, context.Canceled) {
			lines = append(lines, err.Error())
		}
		said = said || own
	}
	if !said {
		sentence := "interrupted; start the same command again"
		if continues {
			sentence += " to continue"
		}
		lines = append([]string{sentence}, lines...)
	}
	return strings.Join(lines, "\n")
}

// separate returns the errors that errors.Join joined.
func separate(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(joined.Unwrap()...).Error() != err.Error() { // fmt.Errorf with two errors has a text of its own
		return []error{err}
	}
	var all []error
	for _, err := range joined.Unwrap() {
		all = append(all, separate(err)...)
	}
	return all
}

// ExitCode returns 0 without an error, 2 for a usage error (Err), 130 after an interruption by the user, or 1 for any
// other failure.
func ExitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, Err):
		return 2
	case ctx.Err() != nil:
		return interrupted
	}
	return 1
}

// Root returns a command that only has subcommands. things says what they are, such as "command", in the error for an
// unknown one.
func Root(name, short, things string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:           name,
		Short:         short,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE:          func(cmd *cobra.Command, args []string) error { return Choose(cmd, things, args) },
	}
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return Errorf("%w%s (see `%s --help`)", err, nearFlag(cmd, err), cmd.CommandPath())
	})
	cmd.AddCommand(commands...)
	return cmd
}

// nearFlag proposes the flag of the command that is near to an unknown one.
func nearFlag(cmd *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return Proposal("--"+unknown.GetSpecifiedName(), names)
}

// Choose runs a command that only has subcommands: without arguments it prints the help. Otherwise it returns a usage
// error that names the nearest subcommand.
func Choose(cmd *cobra.Command, things string, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	slices.Sort(names)
	return Errorf("there is no %s %q%s (`%s --help` lists them)", things, args[0], Proposal(args[0], names),
		cmd.CommandPath())
}

// NoArguments returns a usage error if a command gets arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Errorf("%s takes no argument, but got %q", cmd.CommandPath(), args[0])
	}
	return nil
}
