package nbformat

import (
	"errors"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/usage"
)

const goCell = `!ls
%env A=1
// scale is how large.
var scale = "tiny"

var (
	seeds string = "0,1,2" // 0,1,2 or 0-7
	n, rate      = 3, 0.5
	whole float64 = 1
	small int8 = -1
	raw = ` + "`a\\b`" + `
)

const verbose = true
var computed, alias, exponent = f(), fade, e5
var list, wait = []int{1}, 90 * time.Second
func f() int { return 1 }
%%
scale = "not a declaration"
`

// withCell is a notebook of one cell with parameters.
func withCell(language, source string) *Notebook {
	return &Notebook{
		Metadata: map[string]any{"language_info": map[string]any{"name": language}},
		Cells: []*Cell{
			{Type: Code, Source: "var other = 1", Metadata: map[string]any{}},
			{Type: Code, Source: source, Metadata: map[string]any{"tags": []any{"x", parametersTag}}},
		},
	}
}

func TestParameters(t *testing.T) {
	want := `scale (string, default "tiny"): scale is how large.
seeds (string, default "0,1,2"): 0,1,2 or 0-7
n (int, default 3)
rate (float64, default 0.5)
whole (float64, default 1)
small (int, default -1)
raw (string, default ` + "`a\\b`" + `)
verbose (bool, default true)`
	all, err := withCell("go", goCell).Parameters()
	demand.NoError(t, err)
	var lines []string
	for _, p := range all {
		lines = append(lines, p.String())
	}
	demand.Diff(t, strings.Join(lines, "\n"), want, "the parameters")
	if all, err := withCell("python", "scale = 'tiny'").Parameters(); err != nil || len(all) > 0 {
		t.Errorf("of Python: %v, %v", all, err)
	}
}

func TestSetParameters(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"scale", `say "hi"`, `var scale = "say \"hi\""`},
		{"seeds", "7", `seeds string = "7" // 0,1,2 or 0-7`},
		{"n", "0x10", "n, rate      = 16, 0.5"},
		{"rate", "2", "n, rate      = 3, 2.0"},
		{"whole", "1e-9", "whole float64 = 1e-09"},
		{"small", "-128", "small int8 = -128"},
		{"raw", "ω\n", `raw = "ω\n"`},
		{"verbose", "False", "const verbose = false"},
	} {
		nb := withCell("go", goCell)
		if err := nb.SetParameters(map[string]string{c.name: c.value}); err != nil {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
			continue
		}
		demand.Words(t, nb.Cells[1].Source, c.want)
		if before, after := strings.Count(goCell, "\n"), strings.Count(nb.Cells[1].Source, "\n"); before != after {
			t.Errorf("%s=%s: %d lines became %d", c.name, c.value, before, after)
		}
	}
	nb := withCell("go", goCell)
	err := nb.SetParameters(map[string]string{"scale": "a rather long text", "n": "5", "rate": "0.25", "verbose": "f"})
	for _, want := range []string{`var scale = "a rather long text"`, "n, rate      = 5, 0.25", "const verbose = false"} {
		if err != nil || !strings.Contains(nb.Cells[1].Source, want) {
			t.Errorf("several: no %q in\n%s, %v", want, nb.Cells[1].Source, err)
		}
	}
}

func TestParametersRefused(t *testing.T) {
	listed := `scale (string, default "tiny"): scale is how large.`
	for _, c := range []struct {
		language, source, name, value, want string
		usage                               bool
	}{
		{"go", goCell, "scael", "tiny", `has no parameter "scael"; its parameters`, true},
		{"go", goCell, "other", "1", `has no parameter "other"`, true},
		{"go", goCell, "computed", "1", `has no parameter "computed"`, true},
		{"go", goCell, "n", "three", `a parameter "n" of type int, but "three" is not a whole number`, true},
		{"go", goCell, "n", "1.5", "is not a whole number", true},
		{"go", goCell, "rate", "NaN", "is not a finite number", true},
		{"go", goCell, "verbose", "maybe", "is neither true nor false", true},
		{"go", "%%\nx := 1", "x", "2", "there is no cell of Go with the tag", true},
		{"go", "var a = 1\nvar b 2", "a", "2", "cell 2) that cannot be read: line 2:", false},
		{"python", "x = 1", "x", "2", "there is no cell of Go with the tag", true},
	} {
		nb := withCell(c.language, c.source)
		err := nb.SetParameters(map[string]string{c.name: c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, usage.Err) != c.usage {
			t.Errorf("%s=%s: error %v; want %q, usage error: %v", c.name, c.value, err, c.want, c.usage)
			continue
		}
		if c.source == goCell && !strings.Contains(err.Error(), listed) {
			t.Errorf("%s=%s: the error does not list the parameters: %v", c.name, c.value, err)
		}
		if nb.Cells[1].Source != c.source {
			t.Errorf("%s=%s: refused, but the cell was changed", c.name, c.value)
		}
	}
}
