package usage

import (
	"context"
	"errors"
	"fmt"
	"testing"
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
		{interruptedError{}, true, "interrupted with 1 of 8 runs finished"},
		{errors.Join(wrapped("a"), errors.New("the disk is full"), wrapped("b")), false, again + "\nthe disk is full"},
		{errors.Join(Interruptedf("in a"), errors.Join(Interruptedf("in b"), wrapped("c"))), false, "in a\nin b"},
		{errors.New("`go build` failed: exit status 1"), false, again + "\n`go build` failed: exit status 1"},
	} {
		if got := interruptedText(c.err, c.continues); got != c.want {
			t.Errorf("%q: %q, want %q", c.err, got, c.want)
		}
	}
}

type interruptedError struct{}

func (interruptedError) Error() string { return "interrupted with 1 of 8 runs finished" }
func (interruptedError) Unwrap() error { return context.Canceled }
func (interruptedError) Interrupted()  {}
