package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/runs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestDocumentedCommands: the command line accepts every command that a document names, with its flags and values.
// Figures are resolved up to their settings; nothing is computed.
func TestDocumentedCommands(t *testing.T) {
	files, err := demand.Documents("..")
	demand.NoError(t, err)
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

// TestDocumentedQueries: DuckDB runs the queries of FILES.md on a folder of runs.
func TestDocumentedQueries(t *testing.T) {
	python := os.Getenv("TVPS_PYTHON")
	if python == "" || exec.Command(python, "-c", "import duckdb").Run() != nil {
		t.Skip("set TVPS_PYTHON to a Python with duckdb")
	}
	dir := t.TempDir()
	demand.NoError(t, os.CopyFS(filepath.Join(dir, "results"), os.DirFS(toyRuns(t, 0, 1, 2))))
	queries := regexp.MustCompile("(?ms)^```sql\n(.*?)^```").FindAllStringSubmatch(string(demand.Read(t, "FILES.md")), -1)
	const program = "import duckdb, sys\nduckdb.sql(sys.argv[1])\n" +
		"for query in sys.argv[2:]: print(duckdb.sql(query).fetchall())"
	cmd := exec.Command(python, "-c", program, queries[0][1], queries[1][1])
	cmd.Dir = dir
	const want = "[('ours', '20', 0.5)]\n"
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%v, %s, want %s", err, out, want)
	}
}

var update = flag.Bool("update", false, "rewrite the table of commands in README.md")

// TestReference: README.md has every command, with the text of its definition.
func TestReference(t *testing.T) {
	want := reference()
	if *update {
		text, err := demand.SetBlock(demand.Read(t, "README.md"), "commands", want)
		demand.NoError(t, err)
		demand.Write(t, "README.md", text)
	}
	if got, err := demand.Block(demand.Read(t, "README.md"), "commands"); err != nil {
		t.Error(err)
	} else if got != want {
		t.Error("README.md differs from the commands' definitions: `go test ./replicate -run Reference -update` rewrites it")
	}
}

// reference is the table of commands.
func reference() string {
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n" +
		"| `fig1` to `fig14` | Compute the missing runs of a figure, draw it and judge its claims |\n")
	for _, group := range listed(paperCatalog) {
		together := &cobra.Command{}
		together.AddCommand(group.commands...)
		visit(together, "", func(name string, cmd *cobra.Command) {
			if !strings.HasPrefix(name, "fig") {
				fmt.Fprintf(&b, "| `%s` | %s |\n", name, cmd.Short)
			}
		})
	}
	return b.String()
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

// toyRuns stores runs of "toy/ours" with 4 steps each in a new folder.
func toyRuns(t *testing.T, seeds ...int64) (folder string) {
	t.Helper()
	folder = t.TempDir()
	store, err := runs.Open(folder)
	demand.NoError(t, err)
	var jobs []runs.Job
	for _, seed := range seeds {
		step := func(_ context.Context, t int) ([]runs.Row, error) {
			return []runs.Row{{T: t, Metric: "accuracy", Value: .5}}, nil
		}
		jobs = append(jobs, runs.Job{Spec: toy(seed), Steps: []int{1, 2, 3, 4},
			Batch: runs.Alone(seed, func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil })})
	}
	report, err := runs.Execute(t.Context(), store, jobs, runs.Options{})
	demand.NoError(t, errors.Join(err, report.Err()))
	return folder
}

func toy(seed int64) runs.Spec {
	return runs.Spec{Experiment: "toy", Learner: "ours", Seed: seed, Settings: map[string]string{"epochs": "20"}}
}
