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

// outputs are those of a run of a cell, cleaned.
func outputs(source string) []nbformat.Output {
	if !strings.HasPrefix(source, "{") {
		return nil
	}
	numbers := nbformat.MIMEBundle{valuesMIME: json.RawMessage(source), "text/plain": "numbers"}
	return []nbformat.Output{{Type: nbformat.DisplayData, Data: numbers}}
}

// fixture is a notebook with options for Check.
type fixture struct {
	Options
	file   string
	rules  string // metadata of the notebook; empty: none
	report bytes.Buffer
	jobs   []runner.Job // the jobs that were run
}

func newFixture(t *testing.T) *fixture {
	b := &fixture{file: filepath.Join(t.TempDir(), "nb.ipynb")}
	b.Report = &b.report
	start := func(context.Context) (runner.Kernel, error) { return scripted{}, nil }
	b.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
		b.jobs = append(b.jobs, j)
		nb, err := nbformat.Read(j.File)
		if err == nil {
			_, err = runner.Run(ctx, nb, runner.Options{Start: start})
		}
		return nb, err
	}
	return b
}

// cells writes the notebook with the outputs of a run.
func (b *fixture) cells(t *testing.T, sources ...string) {
	t.Helper()
	b.write(t, sources, sources)
}

// write writes the notebook with sources whose run gives other outputs than those in the file.
func (b *fixture) write(t *testing.T, stored, sources []string) {
	t.Helper()
	nb := &nbformat.Notebook{
		Minor:    5,
		Metadata: map[string]any{"kernelspec": map[string]any{"name": "tvps", "language": "go"}},
	}
	if b.rules != "" {
		nb.Metadata["tvps"] = json.RawMessage(b.rules)
	}
	for i, source := range sources {
		c := &nbformat.Cell{Type: nbformat.Code, ID: fmt.Sprint("c", i), Source: source}
		if i < len(stored) {
			c.Outputs = outputs(stored[i])
		}
		nb.Cells = append(nb.Cells, c)
	}
	demand.NoError(t, nbformat.Write(b.file, nb))
	nb, err := nbformat.Read(b.file) // which sorts the fields of the rules
	demand.NoError(t, err)
	demand.NoError(t, nbformat.Write(b.file, nb))
}

func (b *fixture) check(t *testing.T) (report string, err error) {
	t.Helper()
	b.report.Reset()
	err = Check(t.Context(), []string{b.file}, b.Options)
	return b.report.String(), err
}

func (b *fixture) text(t *testing.T) string {
	t.Helper()
	return string(demand.Read(t, b.file))
}

// copied is a copy of the notebook.
func (b *fixture) copied(t *testing.T) string {
	t.Helper()
	other := filepath.Join(filepath.Dir(b.file), "other.ipynb")
	demand.Write(t, other, b.text(t))
	return other
}

const someRules = `{"tolerances": [{"names": "exact *", "absolute": 0.001, "why": "computed"}, ` +
	`{"names": "share", "relative": 0.1}, {"names": "both *", "absolute": 1, "relative": 0.1}, ` +
	`{"names": "fig*", "absolute": 0.1}]}`

// One report lists all differences, of each kind.
func TestDifferences(t *testing.T) {
	stored := []string{`{"values": {"exact a": 1, "exact b": 2, "share": 200}}`, "x",
		`{"values": {"fig/a/0": 0.5, "fig/a/0/low": 0.4, "both a": 2, "both b": -200}}`}
	for _, c := range []struct {
		name  string
		cells []string
		want  []string // the lines of the report, with single spaces
	}{
		{"within", []string{`{"values": {"exact a": 1.001, "exact b": 1.9991, "share": 219}}`, "x",
			`{"values": {"fig/a/0": 0.4, "fig/a/0/low": 0.3, "both a": 2.9, "both b": -219}}`}, nil},
		{"off", []string{`{"values": {"exact a": 1.0011, "exact b": 2, "share": 221}}`, "x",
			`{"values": {"fig/a/0": 0.61, "fig/a/0/low": 0.4, "both a": 3.1, "both b": -221}}`},
			[]string{"off 1 exact a 1 1.0011 0.001", "off 1 share 200 221 20", "off 3 both a 2 3.1 1",
				"off 3 both b -200 -221 20", "off 3 fig/a/0 0.5 0.61 0.1"}},
		{"missing and extra", []string{`{"values": {"exact a": 1.5, "exact c": 3}}`, "x",
			`{"values": {"fig/a/0": 0.5, "fig/a/0/low": 0.4, "both a": 2, "share": 200}}`},
			[]string{"off 1 exact a 1 1.5 0.001", "missing 1 exact b 2 - -", "missing 1 share 200 - -",
				"missing 3 both b -200 - -", "extra 1 exact c - 3 -", "extra 3 share - 200 -"}},
		{"shown again", []string{stored[0], `{"values": {"exact a": 1}}`, stored[2]},
			[]string{"extra 2 exact a - 1 -", "the outputs in the file are out of date:", "cell output in the file in a run",
				`2 (c1) number of outputs "0" "1"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newFixture(t)
			b.rules = someRules
			b.write(t, stored, c.cells)
			before := b.text(t)
			report, err := b.check(t)
			lines := strings.Split(strings.TrimSpace(report), "\n")
			if len(c.want) == 0 {
				if demand.NoError(t, err); len(lines) != 1 {
					t.Errorf("report %s", report)
				}
				demand.Words(t, report, "7 numbers, 0 differences")
				return
			}
			demand.Error(t, err, "nb.ipynb", "--update")
			if !errors.Is(err, errDiffer) {
				t.Errorf("%v is not errDiffer", err)
			}
			var got []string
			for _, line := range lines[2:] {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			demand.List(t, got, c.want, "differences")
			demand.Equal(t, b.text(t), before, "the file after a check without --update")
		})
	}
}

// --update writes the outputs of the cells that differ, and no other byte.
func TestUpdate(t *testing.T) {
	b := newFixture(t)
	b.rules = someRules
	old := []string{`{"values": {"share": 200}}`, `{"values": {"exact a": 1, "exact b": 1}}`, `{"values": {"exact c": 1}}`,
		`{"values": {"exact d": 1, "exact e": 1}}`, `{"values": {"exact f": 1}}`, `{"values": {"exact g": "x"}}`,
		`{"values": {"exact h": 1}}`}
	sources := []string{`{"values": {"share": 201}}`, `{"values": {"exact a": 1.1, "exact b": 1.0001}}`,
		`{"values": {"exact c": 1, "exact new": 1}}`, `{"values": {"exact d": 1}}`, `{"values": {"exact f": 1.0001}}`,
		`{"values": {"exact g": 1}}`, `{"values": {"exact h": 1.0001}}`}
	write := func(outputs []string) string {
		b.write(t, outputs, sources)
		text := strings.Replace(b.text(t), `"execution_count": null`, `"execution_count": 7`, 1) // not clean
		demand.Write(t, b.file, text)
		return text
	}
	want := write(slices.Concat(old[:1], sources[1:6], old[6:])) // share and exact h are within
	text := write(old)
	at := strings.LastIndex(text[:strings.Index(text, `"exact f"`)], `"cell_type"`)
	text = text[:at] + strings.Replace(text[at:], `"numbers"`, `"old text"`, 1)
	demand.Write(t, b.file, text)
	b.Update = true
	if report, err := b.check(t); err != nil || !strings.Contains(report, "wrote the outputs of "+b.file) {
		t.Fatalf("error %v, report %s", err, report)
	}
	demand.Diff(t, b.text(t), want, "the updated file")
	if report, err := b.check(t); err != nil || strings.Contains(report, "wrote") {
		t.Errorf("the second time: error %v, report %s", err, report)
	}
	b.Update = false
	if _, err := b.check(t); err != nil {
		t.Errorf("after the update: %v", err)
	}
}

// A notebook without outputs is out of date. One without tolerances has the default ones.
func TestFirst(t *testing.T) {
	b := newFixture(t)
	first := []string{`{"values": {"fig01/a/ours/accuracy": 0.9, "chart/1/line/0": 1, "chart/1/line/1": 1}}`}
	b.write(t, nil, first)
	report, err := b.check(t)
	if !errors.Is(err, errDiffer) || strings.Count(report, "\nextra") != 3 || !strings.Contains(report, "out of date") {
		t.Fatalf("error %v, report %s", err, report)
	}
	b.Update = true
	if _, err := b.check(t); err != nil {
		t.Fatal(err)
	}
	b.Update = false
	if report, err := b.check(t); err != nil {
		t.Errorf("after --update: error %v, report %s", err, report)
	}
	b.write(t, first, []string{
		`{"values": {"fig01/a/ours/accuracy": 0.925, "chart/1/line/0": 1.0000009, "chart/1/line/1": 1.00001}}`})
	report, err = b.check(t)
	if demand.Words(t, report, "fig01/a/ours/accuracy", "chart/1/line/1"); strings.Count(report, "\noff") != 2 {
		t.Errorf("the default rules: error %v, report %s", err, report)
	}
}

// A run whose numbers cannot be compared is an error, also with --update.
func TestRefuses(t *testing.T) {
	for cell, want := range map[string]string{
		`{"values": {"other": 1}}`:                    `no rule under "tolerances" in its metadata "tvps" matches "other"`,
		`{"values": {"share": 2}}`:                    `cell 2 emits "share", which was emitted before with another value`,
		`{"values": {"share": "b"}}`:                  `code cell 2 emits numbers that cannot be compared: "share" is b, not`,
		`{"values": {"share": null}}`:                 `"share" is <nil>`,
		`{"values": {"alpha": "NaN", "share": 3}}`:    `"alpha" is NaN, not a finite number`,
		`{"values": {"exact a": 1, "share": "-Inf"}}`: `"share" is -Inf`,
		`{"values": [1]}`:                             "cannot unmarshal array",
	} {
		for _, update := range []bool{false, true} {
			b := newFixture(t)
			b.rules, b.Update = someRules, update
			b.cells(t, `{"values": {"share": 1}}`, cell)
			before := b.text(t)
			_, err := b.check(t)
			demand.Error(t, err, "nb.ipynb: ", want)
			demand.Equal(t, b.text(t), before, "the file")
		}
	}
}

// Damaged tolerances are a mistake in the call, found before a cell runs.
func TestDamaged(t *testing.T) {
	for rules, want := range map[string]string{
		`7`:                   "cannot unmarshal number",
		`{"tolerance": []}`:   `unknown field "tolerance"`,
		`{"tolerances": {}}`:  "cannot unmarshal object",
		`{"tolerances": [7]}`: "cannot unmarshal number",
		`{"tolerances": [{"names": "a", "absolut": 1}]}`:                   `unknown field "absolut"`,
		`{"tolerances": [{"names": "a", "absolute": "1"}]}`:                "cannot unmarshal string",
		`{"tolerances": [{"names": "a", "absolute": 1e400}]}`:              "1e400",
		`{"tolerances": [{"names": "b"}, {"names": "a", "relative": -1}]}`: `tolerance of "a" is negative`,
		`{"tolerances": [{"absolute": 1}]}`:                                "a tolerance has no names",
	} {
		b := newFixture(t)
		b.rules = rules
		b.cells(t, `{}`)
		_, err := b.check(t)
		demand.Error(t, err, `nb.ipynb has damaged metadata "tvps": `, want)
		if !errors.Is(err, usage.Err) || len(b.jobs) > 0 {
			t.Errorf("%s: %v after %d runs, want a usage error", rules, err, len(b.jobs))
		}
	}
}

// Check sets the folders, runs a notebook with the parameters in its file, and leaves no files behind.
func TestEnvironment(t *testing.T) {
	b := newFixture(t)
	b.cells(t, "var scale string = \"paper\"")
	t.Setenv("TMPDIR", t.TempDir())
	b.Out = "somewhere"
	_, err := b.check(t)
	demand.NoError(t, err)
	j := b.jobs[0]
	here, err := os.Getwd()
	demand.NoError(t, err)
	if j.Parameters != nil ||
		!strings.HasPrefix(j.Env[0], "TVPS_RESULTS="+os.Getenv("TMPDIR")) ||
		j.Env[1] != "TVPS_OUT="+filepath.Join(here, "somewhere") ||
		j.Env[2] != "TVPS_DATA=" {
		t.Errorf("%+v", j)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("temporary files were left: %v", left)
	}
}

// A notebook that fails does not stop the check of the others. Its file stays the same, as does one that gets or loses
// cells, or whose text is edited, before or after its run.
func TestFailure(t *testing.T) {
	b := newFixture(t)
	b.rules, b.Update = someRules, true
	b.write(t, []string{`{"values": {"share": 1}}`}, []string{`{"values": {"share": 2}}`, "fail"})
	other, before := b.copied(t), b.text(t)
	err := Check(t.Context(), []string{b.file, other}, b.Options)
	var failed *runner.CellError
	if !errors.As(err, &failed) || failed.Number != 2 || errors.Is(err, errDiffer) || len(b.jobs) != 2 {
		t.Errorf("error %v after %d notebooks", err, len(b.jobs))
	}
	demand.Equal(t, b.text(t), before, "the file")
	run := b.run
	b.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
		b.cells(t, `{"values": {"share": 3}}`)
		before = b.text(t)
		return run(ctx, j)
	}
	_, err = b.check(t)
	demand.Error(t, err, "nb.ipynb: it was changed since the check began")
	demand.Equal(t, b.text(t), before, "the changed file")
	b.run = func(ctx context.Context, j runner.Job) (*nbformat.Notebook, error) {
		ran, err := run(ctx, j)
		before = strings.Replace(b.text(t), `\"share\": 2`, `\"share\": 3`, 1)
		demand.Write(t, b.file, before)
		return ran, err
	}
	b.write(t, []string{`{"values": {"share": 1}}`}, []string{`{"values": {"share": 2}}`})
	_, err = b.check(t)
	demand.Error(t, err, "nb.ipynb: it was changed since the check began")
	demand.Equal(t, b.text(t), before, "the edited file")
}

// Without the kernel no cell runs, and the error says what to do.
func TestNotInstalled(t *testing.T) {
	b := newFixture(t)
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
	b.rules = someRules
	b.write(t, nil, []string{"import pandas", `{"values": {"share": 2}}`})
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
	b.write(t, []string{`{"values": {"share": 1}}`}, []string{`{"values": {"share": 2}}`})
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
	other := filepath.Join(t.TempDir(), "nb.ipynb")
	demand.Write(t, other, b.text(t))
	demand.NoError(t, Check(t.Context(), []string{b.file, other}, b.Options))
	b.Output, b.jobs = t.TempDir(), nil
	err := Check(t.Context(), []string{b.file, other}, b.Options)
	demand.Error(t, err, b.file+" and "+other+" would be written to the same file")
	if len(b.jobs) > 0 || !errors.Is(err, usage.Err) {
		t.Errorf("%d jobs, usage error %v", len(b.jobs), errors.Is(err, usage.Err))
	}
}

// With two jobs, two notebooks run at the same time; the errors stay in the order of the files.
func TestJobs(t *testing.T) {
	b := newFixture(t)
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
