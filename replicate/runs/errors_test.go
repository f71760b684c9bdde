package runs

import (
	"context"
	"errors"
	"io/fs"
	"testing"
)

// Each error is one sentence, without flags or commands, and keeps its cause.
func TestErrors(t *testing.T) {
	full := errors.New("no space left")
	atPath := &fs.PathError{Op: "open", Path: "f", Err: full} // the sentence names the path only once
	for _, c := range []struct {
		err   error
		want  string
		cause error
	}{
		{&FolderError{Dir: "r", Problem: "is a file"}, "results folder r is a file", nil},
		{&FolderError{Dir: "r", Problem: "cannot be made", Err: atPath}, "results folder r cannot be made (no space left)", full},
		{&WriteError{"result file", "f", atPath}, "result file f cannot be written (no space left)", full},
		{&FormatError{"f", 2}, "result file f has format 2, this program reads format 1", nil},
		{&InterruptedError{1, 8, "finished"}, "interrupted with 1 of 8 runs finished", context.Canceled},
		{&DamagedError{Path: "f", Reason: "empty"},
			"result file f is damaged (empty): left in place, its run counts as missing", ErrMissing},
		{&DamagedError{Path: "f", Reason: "empty", MovedTo: "g", Steps: 3},
			"result file f is damaged (empty): moved to g, of its steps only the first 3 count", ErrMissing},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if c.cause != nil && !errors.Is(c.err, c.cause) {
			t.Errorf("%v does not match %v", c.err, c.cause)
		}
	}
}
