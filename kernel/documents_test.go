package main

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/nbformat"
)

// TestDocumentedCode: the Go of README.md is that of fig01.ipynb, which `kernel check` runs.
func TestDocumentedCode(t *testing.T) {
	nb, err := nbformat.Parse(demand.Read(t, filepath.Join("..", "notebooks", "fig01.ipynb")))
	demand.NoError(t, err)
	code := ""
	for _, c := range nb.Cells {
		code += c.Source + "\n"
	}
	count := 0
	for _, block := range regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(string(demand.Read(t, "README.md")), -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(line, "//")
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if count++; !strings.Contains(code, line) {
				t.Errorf("fig01.ipynb has no line %q", line)
			}
		}
	}
	if count < 10 {
		t.Errorf("README.md has %d lines of Go, want at least 10", count)
	}
}

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
