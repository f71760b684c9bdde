package usage

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

func TestExitCode(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	failure := errors.New("failed")
	wrongUsage := fmt.Errorf("outer: %w", Error(failure))
	for _, c := range []struct {
		ctx  context.Context
		err  error
		code int
	}{
		{t.Context(), nil, 0}, {t.Context(), failure, 1}, {t.Context(), wrongUsage, 2},
		{cancelled, nil, 0}, // done just before the interrupt
		{cancelled, failure, 130}, {cancelled, wrongUsage, 2},
		{t.Context(), fmt.Errorf("outer: %w", &runs.HeldError{Held: make([]runs.Held, 1), Total: 2}), 75},
		{cancelled, &runs.HeldError{Held: make([]runs.Held, 1), Total: 2}, 130},
	} {
		if code := ExitCode(c.ctx, c.err); code != c.code {
			t.Errorf("%v, %v: exit code %d, want %d", c.ctx.Err(), c.err, code, c.code)
		}
	}
}

func TestInterruption(t *testing.T) {
	again := "interrupted; start the same command again"
	wrapped := func(text string) error { return fmt.Errorf("%s: %w", text, context.Canceled) }
	for _, c := range []struct {
		err       error
		continues bool
		want      string
	}{
		{context.Canceled, false, again},
		{wrapped("the packages do not compile"), true, again + " to continue"},
		{fmt.Errorf("%w; check the network", context.Canceled), false, again},
		{Interruptedf("interrupted in code cell 2"), false, "interrupted in code cell 2"},
		{fmt.Errorf("a.ipynb: %w", Interruptedf("interrupted in cell 2")), true, "a.ipynb: interrupted in cell 2"},
		{fmt.Errorf("interrupted: %w", context.Canceled), true, again + " to continue"},
		{&runs.InterruptedError{Done: 1, Total: 8, What: "finished"}, true, "interrupted with 1 of 8 runs finished"},
		{errors.Join(wrapped("a"), errors.New("the disk is full"), wrapped("b")), false, again + "\nthe disk is full"},
		{errors.Join(Interruptedf("in a"), errors.Join(Interruptedf("in b"), wrapped("c"))), false, "in a\nin b"},
		{errors.New("`go build` failed: exit status 1"), false, again + "\n`go build` failed: exit status 1"},
	} {
		if got := interruptedText(c.err, c.continues); got != c.want {
			t.Errorf("%q: %q, want %q", c.err, got, c.want)
		}
	}
}

// TestAdvice: every typed error gets its advice, also inside another error.
func TestAdvice(t *testing.T) {
	full := errors.New("no space left")
	for _, c := range []struct {
		err  error
		want string
	}{
		{full, ""},
		{&runs.FolderError{Dir: "r", Problem: "is a file"}, ": choose another with --results"},
		{&runs.FolderError{Dir: "r", Problem: "cannot be written", Err: full},
			": make it writable or choose another with --results"},
		{&runs.FolderError{Dir: "r", Problem: "does not lock files", Err: full, Locks: true},
			": mount it with locks (Lustre: -o flock; NFS: without nolock and local_lock), or give each process a folder of " +
				"its own with --results and join them with `merge`"},
		{&runs.WriteError{What: "result file", Path: "f", Err: full}, ": free some space and start again"},
		{&runs.FormatError{Path: "f"}, ": use the program that wrote it, or another folder with --results"},
		{&runs.InterruptedError{Done: 1, Total: 8, What: "finished"}, ", start again to continue"},
		{&experiment.UnknownError{Name: "a", Nearest: "b"}, " (--show-config lists them)"},
	} {
		for _, err := range []error{c.err, Error(fmt.Errorf("outer: %w", c.err))} {
			if got := Advice(err); got != c.want {
				t.Errorf("%v: advice %q, want %q", err, got, c.want)
			}
		}
	}
}
