package main

import (
	"errors"
	"fmt"
	"testing"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

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
				"its own with --results and copy these together"},
		{&runs.WriteError{What: "result file", Path: "f", Err: full}, ": free some space and start again"},
		{&runs.FormatError{Path: "f"}, ": use the program that wrote it, or another folder with --results"},
		{&runs.InterruptedError{Done: 1, Total: 8}, ", start again to continue"},
		{&experiment.UnknownError{Name: "a", Proposal: "b"}, " (--show-config lists them)"},
	} {
		for _, err := range []error{c.err, usage.Error(fmt.Errorf("outer: %w", c.err))} {
			if got := advice(err); got != c.want {
				t.Errorf("%v: advice %q, want %q", err, got, c.want)
			}
		}
	}
}

// TestErrorsOfRuns: the command line knows what errors of runs mean.
func TestErrorsOfRuns(t *testing.T) {
	var interrupted interface{ Interrupted() }
	if !errors.As(error(&runs.InterruptedError{Done: 1, Total: 8}), &interrupted) {
		t.Error("the sentence of interrupted runs is not printed")
	}
}
