package usage

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// Only a name that is near is proposed.
func TestProposal(t *testing.T) {
	for name, want := range map[string]string{"fig": `; did you mean "fig1"?`, "al": `; did you mean "all"?`, "plan": "", "x": ""} {
		if got := Proposal(name, []string{"all", "fig1", "status"}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
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
	if got := Error(plain).Error(); got != plain.Error() {
		t.Errorf("marking changed the text to %q", got)
	}
	if errors.Is(plain, Err) {
		t.Error("an error that was not marked is a usage error")
	}
	if Error(nil) != nil {
		t.Error("no error became one")
	}
}
