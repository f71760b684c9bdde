package usage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// Only a name that is near is proposed.
func TestProposal(t *testing.T) {
	for name, want := range map[string]string{"fig": `; did you mean "fig1"?`, "al": `; did you mean "all"?`, "plan": "", "x": ""} {
		demand.Equal(t, Proposal(name, []string{"all", "fig1", "status"}), want, "%s", name)
	}
}

func TestMarked(t *testing.T) {
	cause := &fs.PathError{Op: "open", Path: "data.csv", Err: fs.ErrNotExist}
	plain := fmt.Errorf("scale: %w", cause)
	for _, marked := range []error{Error(plain), Errorf("scale: %w", cause),
		fmt.Errorf("panel b: %w", Error(plain))} {
		var path *fs.PathError
		if !errors.Is(marked, Err) || !errors.Is(marked, fs.ErrNotExist) || !errors.As(marked, &path) {
			t.Errorf("%v: marked %v, keeps its cause %v", marked, errors.Is(marked, Err),
				errors.Is(marked, fs.ErrNotExist))
		}
	}
	demand.Equal(t, Error(plain).Error(), plain.Error(), "the text of a marked error")
	if errors.Is(plain, Err) {
		t.Error("an error that was not marked is a usage error")
	}
	if Error(nil) != nil {
		t.Error("no error became one")
	}
}

func TestExitCode(t *testing.T) {
	cancelled := demand.Cancelled()
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
		demand.Equal(t, interruptedText(c.err, c.continues), c.want, "%q", c.err)
	}
}

type interruptedError struct{}

func (interruptedError) Error() string { return "interrupted with 1 of 8 runs finished" }
func (interruptedError) Unwrap() error { return context.Canceled }
func (interruptedError) Interrupted()  {}

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain é, 日本\n\tx": "plain é, 日本\n\tx", "\x1b]0;title\x07": `\x1b]0;title\x07`, "a\rb": `a\x0db`, "\u009b2J": `\x9b2J`,
		"a\u202eb\u2066c\u200f": `a\u202eb\u2066c\u200f`,
	} {
		var b strings.Builder
		if n, err := (shownTo{&b, Shown}).Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: wrote %d, %v", text, n, err)
		}
		demand.Equal(t, b.String(), want, "%q", text)
	}
}
