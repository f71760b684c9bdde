package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
	"tvps/kernel/runner"
	"tvps/replicate/usage"
)

// scripted is a kernel that emits a cell's source as the content of its numbers. A cell "fail" fails.
type scripted struct{}

func (scripted) Language() json.RawMessage { return nil }
func (scripted) Close() error              { return nil }

func (scripted) Execute(_ context.Context, code string, on func(jupyter.Output)) (jupyter.Reply, error) {
	switch {
	case code == "fail":
		return jupyter.Reply{Status: "error", Ename: "E", Evalue: "it failed"}, nil
	case code == "import pandas":
		return jupyter.Reply{Status: "error", Ename: "ModuleNotFoundError", Evalue: "No module named 'pandas'"}, nil
	case strings.HasPrefix(code, "{"):
		data := map[string]json.RawMessage{valuesMIME: json.RawMessage(code), "text/plain": json.RawMessage(`"numbers"`)}
		on(jupyter.Output{Type: "display_data", Data: data})
	}
	return jupyter.Reply{Status: "ok"}, nil
}

// fixture is a notebook with a golden file and options for Check.
type fixture struct {
	Options
	file   string
	report bytes.Buffer
	jobs   []runner.Job // the jobs that were run
}

func newFixture(t *testing.T) *fixture {
	dir := t.TempDir()
	b := &fixture{file: filepath.Join(dir, "nb.ipynb")}
	b.Options = Options{Goldens: filepath.Join(dir, "goldens"), Report: &b.report}
	start := func(context.Context) (runner.Kernel, error) { return scripted{}, nil }
	b.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
		b.jobs = append(b.jobs, j)
		nb, err := nbformat.Read(j.File)
		if err == nil {
			err = nb.SetParameters(j.Parameters)
		}
		if err == nil {
			_, err = runner.Run(ctx, nb, runner.Options{Start: start})
		}
		return nb, err
	}
	return b
}

// cells writes the notebook.
func (b *fixture) cells(t *testing.T, sources ...string) {
	t.Helper()
	nb := &nbformat.Notebook{
		Minor:    5,
		Metadata: map[string]any{"kernelspec": map[string]any{"name": "tvps", "language": "go"}},
	}
	for i, source := range sources {
		c := &nbformat.Cell{Type: nbformat.Code, ID: fmt.Sprint("c", i), Source: source, Metadata: map[string]any{}}
		if strings.HasPrefix(source, "var") {
			c.Metadata["tags"] = []any{"parameters"}
		}
		nb.Cells = append(nb.Cells, c)
	}
	demand.NoError(t, nbformat.Write(b.file, nb))
}

func (b *fixture) check(t *testing.T) (report string, err error) {
	t.Helper()
	b.report.Reset()
	err = Check(t.Context(), []string{b.file}, b.Options)
	return b.report.String(), err
}

// copied is a copy of the notebook, with an empty golden file.
func (b *fixture) copied(t *testing.T) string {
	t.Helper()
	other := filepath.Join(filepath.Dir(b.file), "other.ipynb")
	demand.Write(t, other, demand.Read(t, b.file))
	demand.Write(t, filepath.Join(b.Goldens, "other.json"), "{}")
	return other
}

func (b *fixture) goldenFile() string { return filepath.Join(b.Goldens, "nb.json") }

func (b *fixture) writeGolden(t *testing.T, text string) {
	t.Helper()
	demand.Write(t, b.goldenFile(), text)
}

const someRules = `"tolerances": [{"names": "exact *", "absolute": 0.001}, {"names": "share", "relative": 0.1}, ` +
	`{"names": "both *", "absolute": 1, "relative": 0.1}, {"names": "fig*", "absolute": 0.1}]`

// One report lists all differences, of each kind.
func TestDifferences(t *testing.T) {
	const golden = `{` + someRules + `, "cells": {"1": {"exact a": 1, "exact b": 2, "share": 200, "no rule": 1}, ` +
		`"3": {"fig/a/ours/0": 0.5, "fig/a/ours/0/low": 0.4, "gone": 7}}}`
	for _, c := range []struct {
		name  string
		cells []string
		want  []string // the lines of the report, with single spaces
	}{
		{"equal, but for rules",
			[]string{`{"values": {"exact a": 1, "exact b": 2, "share": 200, "no rule": 1, "gone": 7, ` +
				`"fig/a/ours/0": 0.5, "fig/a/ours/0/low": 0.4, "fig/a/ours/0/high": 9}}`},
			[]string{"extra 1 fig/a/ours/0/high - 9 -", "no tolerance 1 gone 7 7 -", "no tolerance 1 no rule 1 1 -"}},
		{"within", []string{`{"values": {"exact a": 1.001, "exact b": 1.9991, "share": 219}}`, "x",
			`{"values": {"gone": 7, "no rule": 1, "fig/a/ours/0": 0.45, "fig/a/ours/0/low": 0.31, "fig/a/ours/0/high": 1}}`},
			[]string{"extra 3 fig/a/ours/0/high - 1 -", "no tolerance 3 gone 7 7 -", "no tolerance 3 no rule 1 1 -"}},
		{"off", []string{`{"values": {"exact a": 1.0011, "exact b": 2, "share": 221}}`,
			`{"values": {"fig/a/ours/0": 0.61, "fig/a/ours/0/low": 0.4, "fig/a/ours/0/high": 1, "fig/a/ours/1": 2}}`},
			[]string{"off 1 exact a 1 1.0011 0.001", "off 1 share 200 221 20", "off 2 fig/a/ours/0 0.5 0.61 0.1",
				"extra 2 fig/a/ours/0/high - 1 -", "extra 2 fig/a/ours/1 - 2 -", "missing 1 no rule 1 - -",
				"missing 3 gone 7 - -"}},
		{"twice", []string{`{"values": {"exact a": 1, "exact b": 2}}`, `{"values": {"exact a": 1, "exact b": 2.0001}}`},
			[]string{"twice 2 exact b - 2.0001 -", "missing 1 no rule 1 - -", "missing 1 share 200 - -",
				"missing 3 fig/a/ours/0 0.5 - -", "missing 3 fig/a/ours/0/low 0.4 - -", "missing 3 gone 7 - -"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newFixture(t)
			b.writeGolden(t, golden)
			b.cells(t, c.cells...)
			report, err := b.check(t)
			demand.Error(t, err, "nb.ipynb", "--update")
			if !errors.Is(err, errDiffer) {
				t.Errorf("%v is not ErrDiffer", err)
			}
			lines := strings.Split(strings.TrimSpace(report), "\n")
			demand.Words(t, lines[0], fmt.Sprintf("%d differences", len(c.want)))
			var got []string
			for _, line := range lines[2:] {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("differences\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if text, _ := os.ReadFile(b.goldenFile()); string(text) != golden {
				t.Error("the golden file was changed without --update")
			}
		})
	}
}

func TestSame(t *testing.T) {
	b := newFixture(t)
	b.writeGolden(t, `{`+someRules+`, "cells": {"4": {"share": 200, "exact a": 1, "both a": 2, "both b": -200}}}`)
	// The numbers are in other cells, and one is shown twice. Of two tolerances the larger one counts.
	b.cells(t, "x", `{"values": {"share": 190, "exact a": 1}}`,
		`{"values": {"exact a": 1, "both a": 2.9, "both b": -219}}`)
	report, err := b.check(t)
	if err != nil || !strings.Contains(report, "5 numbers, 0 differences") || strings.Contains(report, "what") {
		t.Errorf("error %v, report %s", err, report)
	}
}

func TestUpdate(t *testing.T) {
	b := newFixture(t)
	b.writeGolden(
		t,
		`{"tolerances": [{"names": "exact *", "absolute": 0.001, "why": "computed"}, {"names": "*", "relative": 0.1}], `+
			`"cells": {"1": {"exact a": 1, "share": 200, "gone": 1}}}`,
	)
	b.cells(t, `{"values": {"exact a": 1.1, "share": 201, "new": -0.5}}`)
	b.Update = true
	if report, err := b.check(t); err != nil || !strings.Contains(report, "wrote "+b.goldenFile()) {
		t.Fatalf("error %v, report %s", err, report)
	}
	text := demand.Read(t, b.goldenFile())
	want := `{
 "tolerances": [
  {
   "names": "exact *",
   "absolute": 0.001,
   "why": "computed"
  },
  {
   "names": "*",
   "relative": 0.1
  }
 ],
 "cells": {
  "1": {
   "exact a": 1.1,
   "new": -0.5,
   "share": 200
  }
 }
}
` // share is within its tolerance, so its old value stays
	demand.Diff(t, string(text), want, "the golden")
	if entries, _ := os.ReadDir(b.Goldens); len(entries) != 1 {
		t.Errorf("temporary files were left: %v", entries)
	}
	if report, err := b.check(t); err != nil || strings.Contains(report, "wrote") {
		t.Errorf("the second time: error %v, report %s", err, report)
	}
	b.Update = false
	if _, err := b.check(t); err != nil {
		t.Errorf("after the update: %v", err)
	}
}

func TestFirstGolden(t *testing.T) {
	b := newFixture(t)
	b.cells(t, `{"values": {"fig01/a/ours/accuracy": 0.9, "chart/1/line/0": 1}}`)
	_, err := b.check(t)
	demand.Error(t, err, "nb.ipynb has no golden file", "--update")
	if len(b.jobs) > 0 {
		t.Error("the notebook was run although it has no golden file")
	}
	b.Update = true
	if report, err := b.check(t); err != nil || strings.Contains(report, "extra") {
		t.Fatalf("error %v, report %s", err, report)
	}
	b.Update = false
	b.cells(t, `{"values": {"fig01/a/ours/accuracy": 0.925, "chart/1/line/0": 1.009}}`)
	report, err := b.check(t)
	if !errors.Is(err, errDiffer) || strings.Count(report, "\noff") != 1 ||
		!strings.Contains(report, "fig01/a/ours/accuracy") {
		t.Errorf("the default rules: error %v, report %s", err, report)
	}
}

func TestUpdateRefuses(t *testing.T) {
	for golden, c := range map[string]struct{ cell, want string }{
		`{` + someRules + `, "cells": {}}`: {`{"values": {"other": 1}}`,
			`no rule under "tolerances" matches "s/0"`},
		`{"tolerances": [{"names": "*", "absolute": 2}], "cells": {"1":{}}}`: {
			`{"values": {"s/0": 2}}`, `emits "s/0", which was emitted before with another value`},
	} {
		b := newFixture(t)
		b.writeGolden(t, golden)
		b.cells(t, `{"values": {"s/0": 1}}`, c.cell)
		b.Update = true
		_, err := b.check(t)
		demand.Error(t, err, c.want)
		if text, _ := os.ReadFile(b.goldenFile()); string(text) != golden {
			t.Error("the golden was changed")
		}
	}
}

func TestDamaged(t *testing.T) {
	for golden, want := range map[string]string{
		`{"tolerances": [`: "unexpected EOF",
		`{"tolerances": [{"names": "a", "absolut": 1}]}`:   "absolut",
		`{"tolerances": [{"names": "a", "relative": -1}]}`: `tolerance of "a" is negative`,
		`{"cells": {"1": {"a": 0, "b": null}}}`:            `"b" of cell 1 is null`,
		`{"cells": {"1": {"a": 0}, "2": {"a": 0}}}`:        `"a" is there twice`,
	} {
		b := newFixture(t)
		b.writeGolden(t, golden)
		b.cells(t, `{}`)
		_, err := b.check(t)
		demand.Error(t, err, "damaged", want)
	}
	for cell, want := range map[string]string{
		`{"values": {"a": "b"}}`:                `"a" is b, not a finite number`,
		`{"values": {"a": null}}`:               `"a" is <nil>`,
		`{"values": {"alpha": "NaN", "b": 3}}`:  `"alpha" is NaN, not a finite number`,
		`{"values": {"alpha": 1, "b": "-Inf"}}`: `"b" is -Inf`,
		`{"values": [1]}`:                       "cannot unmarshal array",
	} {
		for _, update := range []bool{false, true} {
			b := newFixture(t)
			b.Update = update
			b.writeGolden(t, `{}`)
			b.cells(t, `{}`, cell)
			_, err := b.check(t)
			demand.Error(t, err, "nb.ipynb: code cell 2", "cannot be compared", want)
			demand.Equal(t, string(demand.Read(t, b.goldenFile())), "{}", "the golden")
		}
	}
}

// Check sets the folders and the scale, and leaves no files behind.
func TestEnvironment(t *testing.T) {
	b := newFixture(t)
	b.writeGolden(t, `{}`)
	b.cells(t, "var scale string = \"paper\"")
	t.Setenv("TMPDIR", t.TempDir())
	b.Out = "somewhere"
	_, err := b.check(t)
	demand.NoError(t, err)
	j := b.jobs[0]
	here, err := os.Getwd()
	demand.NoError(t, err)
	if j.Parameters["scale"] != "tiny" ||
		!strings.HasPrefix(j.Env[0], "TVPS_RESULTS="+os.Getenv("TMPDIR")) ||
		j.Env[1] != "TVPS_OUT="+filepath.Join(here, "somewhere") ||
		j.Env[2] != "TVPS_DATA=" {
		t.Errorf("%+v", j)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("temporary files were left: %v", left)
	}
	b.cells(t, "var other string = \"paper\"")
	if _, err := b.check(t); err != nil || b.jobs[1].Parameters != nil {
		t.Errorf("error %v, parameters %v for a notebook without a scale", err, b.jobs[1].Parameters)
	}
}

// A notebook that fails does not stop the check of the others. Its golden file stays the same.
func TestFailure(t *testing.T) {
	b := newFixture(t)
	b.writeGolden(t, `{`+someRules+`, "cells": {"1": {"share": 1}}}`)
	b.cells(t, `{"values": {"share": 2}}`, "fail")
	b.Update = true
	other := b.copied(t)
	err := Check(t.Context(), []string{b.file, other}, b.Options)
	var failed *runner.CellError
	if !errors.As(err, &failed) || failed.Number != 2 || errors.Is(err, errDiffer) || len(b.jobs) != 2 {
		t.Errorf("error %v after %d notebooks", err, len(b.jobs))
	}
	if text, _ := os.ReadFile(b.goldenFile()); !strings.Contains(string(text), `"share": 1`) {
		t.Error("the golden was changed")
	}
}

// Without the kernel no cell runs, and the error says what to do.
func TestNotInstalled(t *testing.T) {
	b := newFixture(t)
	b.writeGolden(t, `{}`)
	b.cells(t, `{}`)
	empty := t.TempDir()
	for _, name := range []string{"JUPYTER_PATH", "JUPYTER_DATA_DIR", "HOME", "XDG_DATA_HOME"} {
		t.Setenv(name, empty)
	}
	t.Setenv("PATH", empty)
	b.run = nil
	_, err := b.check(t)
	demand.Error(t, err, "is not installed", "go run ./kernel install")
}

// A notebook whose Python kernel or module is not installed is skipped with a sentence, and the others are checked.
func TestSkipped(t *testing.T) {
	b := newFixture(t)
	b.writeGolden(t, `{`+someRules+`, "cells": {"1": {"share": 1}}}`)
	b.cells(t, "import pandas", `{"values": {"share": 2}}`)
	report, err := b.check(t)
	if err != nil || !strings.Contains(report, "nb.ipynb: skipped: ModuleNotFoundError: No module named 'pandas'\n") {
		t.Errorf("report %q, error %v", report, err)
	}
	run := b.run
	b.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
		if j.File == b.file {
			return nil, fmt.Errorf("%s: %w: \"python3\"", j.File, jupyter.ErrNoKernel)
		}
		return run(ctx, j)
	}
	b.cells(t, `{"values": {"share": 2}}`)
	other := b.copied(t)
	b.report.Reset()
	err = Check(t.Context(), []string{b.file, other}, b.Options)
	if report := b.report.String(); !strings.Contains(report, "nb.ipynb: skipped: its kernel is not installed\n") ||
		!strings.Contains(report, "other.ipynb: 1 numbers, 1 differences") || !errors.Is(err, errDiffer) {
		t.Errorf("report %q, error %v", report, err)
	}
}

// Notebooks that would be written to one file are refused before one runs.
func TestSameName(t *testing.T) {
	b := newFixture(t)
	b.cells(t, `{}`)
	b.writeGolden(t, `{}`)
	other := filepath.Join(t.TempDir(), "nb.ipynb")
	demand.Write(t, other, demand.Read(t, b.file))
	for _, o := range []Options{{Update: true}, {Output: t.TempDir()}} {
		o.Goldens, o.Report, o.run = b.Goldens, &b.report, b.run
		err := Check(t.Context(), []string{b.file, other}, o)
		demand.Error(t, err, b.file+" and "+other+" would be written to the same file")
		if len(b.jobs) > 0 || !errors.Is(err, usage.Err) {
			t.Errorf("%d jobs, usage error %v", len(b.jobs), errors.Is(err, usage.Err))
		}
	}
	demand.NoError(t, Check(t.Context(), []string{b.file, other}, b.Options))
}

// With two jobs, two notebooks run at the same time; the errors stay in the order of the files.
func TestJobs(t *testing.T) {
	b := newFixture(t)
	b.writeGolden(t, `{}`)
	b.cells(t, `{}`)
	other := b.copied(t)
	otherEnded := make(chan struct{})
	b.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
		if j.File == other {
			close(otherEnded)
			return nil, errors.New("other failed")
		}
		select {
		case <-otherEnded:
			return nil, errors.New("nb failed")
		case <-time.After(10 * time.Second):
			return nil, errors.New("the other notebook did not run")
		}
	}
	b.Jobs = 2
	if err := Check(t.Context(), []string{b.file, other}, b.Options); err == nil || err.Error() != "nb failed\nother failed" {
		t.Errorf("error %q", err)
	}
}
