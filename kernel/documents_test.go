package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// TestDocumentedCommands: every command that a document names is one that the command line takes, with its flags.
func TestDocumentedCommands(t *testing.T) {
	files, err := demand.Documents("..")
	demand.NoError(t, err)
	count := 0
	for _, file := range files {
		text := demand.Read(t, file)
		for _, args := range demand.Commands(string(text), "go run ./kernel") {
			args = slices.DeleteFunc(args, func(a string) bool { return a == "..." })
			count++
			cmd := root()
			cmd.SetOut(io.Discard)
			target, rest, err := cmd.Find(args)
			if err == nil {
				err = target.ParseFlags(rest)
			}
			if err != nil || target == cmd && len(args) > 0 && args[0] != "NAME" {
				t.Errorf("%s: `%s` is no command of the kernel: %v", file, strings.Join(args, " "), err)
			}
		}
	}
	if count < 8 {
		t.Errorf("only %d commands were found", count)
	}
}
