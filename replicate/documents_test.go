package main

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestDocumentedCommands: the command line accepts every command that a document names, with its flags and values.
// Figures are resolved up to their settings; nothing is computed.
func TestDocumentedCommands(t *testing.T) {
	files, err := demand.Documents("..")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		text := demand.Read(t, file)
		commands := slices.Concat(demand.Commands(string(text), "go run ./replicate"),
			demand.Commands(string(text), "go run -tags noxla ./replicate"),
			demand.Commands(string(text), "./tvps"))
		for _, args := range commands {
			count++
			if err := dryRun(args); err != nil {
				t.Errorf("%s: `%s`: %v", filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file),
					strings.Join(args, " "), err)
			}
		}
	}
	if count < 40 {
		t.Errorf("the documents name %d commands, want at least 40", count)
	}
	for _, wrong := range []string{
		"fig99", "fig1 --scales tiny", "fig1 --set epohcs=3", "fig1 --scale huge", "doctor now",
	} {
		if dryRun(strings.Fields(wrong)) == nil {
			t.Errorf("the dry run accepts %q", wrong)
		}
	}
}

// TestDocumentedFlags: README.md has a row for each command, and names each of its flags in the second table; of a
// command on a user's own table in the table of all such commands, or in the part of the section that begins a line
// with its name.
func TestDocumentedFlags(t *testing.T) {
	text := demand.Read(t, "README.md")
	_, tables, _ := strings.Cut(string(text), "\n## Commands\n")
	first, second, _ := strings.Cut(tables, "| command | its flags")
	second, ofFigures, _ := strings.Cut(second, "\n## Flags of a figure\n")
	ofFigures, ofTables, _ := strings.Cut(ofFigures, "\n## ")
	_, ofTables, _ = strings.Cut(ofTables, "\n## Your own table\n")
	ofTables, _, _ = strings.Cut(ofTables, "\n## ")
	onTables := strings.Split(ofTables, "\n### ")
	named := func(text, flag string) bool { return strings.Contains(text, "`--"+flag) }
	visit(root(paperCatalog), "", func(name string, cmd *cobra.Command) {
		if strings.HasPrefix(name, "fig") {
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !named(ofFigures, f.Name) {
					t.Errorf("README.md does not explain --%s of %s", f.Name, name)
				}
			})
			return
		}
		if !strings.Contains(first, "\n| `"+name) {
			t.Errorf("README.md does not list the command %s", name)
		}
		_, row, _ := strings.Cut(second, "\n| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		for _, part := range onTables[1:] {
			if strings.Contains(part, "\n`"+name+"` ") {
				row += onTables[0] + part
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if ofAll := name == "study" && named(ofFigures, f.Name); !named(row, f.Name) && !ofAll {
				t.Errorf("README.md does not name --%s of %s", f.Name, name)
			}
		})
	})
}

// visit calls do for every command that does something and is not hidden, with its name as it is typed.
func visit(cmd *cobra.Command, parent string, do func(name string, cmd *cobra.Command)) {
	for _, sub := range cmd.Commands() {
		if sub.Hidden {
			continue
		}
		name := strings.TrimSpace(parent + " " + sub.Name())
		if sub.HasSubCommands() {
			visit(sub, name, do)
			continue
		}
		do(name, sub)
	}
}

// dryRun parses a command line as the program does. The commands of figures resolve their settings, too.
func dryRun(args []string) error {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "..." || a == "[flags]" })
	for i, a := range args {
		switch {
		case a == "NAME" || a == "figNN":
			args[i] = "fig1"
		case strings.HasPrefix(a, "$"):
			args[i] = "0"
		}
	}
	cmd := root(paperCatalog)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	target, rest, err := cmd.Find(args)
	if err != nil {
		return err
	}
	if target == cmd && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return cmd.RunE(cmd, rest)
	}
	if err := target.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if target == cmd {
		return nil
	}
	if err := target.ValidateArgs(target.Flags().Args()); err != nil {
		return err
	}
	if show := target.Flags().Lookup("show-config"); show != nil {
		if err := show.Value.Set("true"); err != nil {
			return err
		}
		return target.RunE(target, nil)
	}
	return nil
}
