package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"tvps/kernel/nbformat"

	"github.com/google/go-cmp/cmp"
)

func TestResume(t *testing.T) {
	first := []string{"print one", "#raises-exception fail two", "print three", "fail four"}
	mended := []string{"print one", "#raises-exception fail two", "print three", "print four"}
	for name, c := range map[string]struct {
		implementation, kernel string
		sources                []string
		ran                    []string
		want                   Result
	}{
		"mended": {"gonb", "k", mended, []string{"print one", "fail two", "print three", "print four"},
			Result{Ran: 1, Reused: 3}},
		"nothing changed": {"gonb", "k", first, []string{"print one", "fail two", "print three", "fail four"},
			Result{Ran: 1, Reused: 3}},
		"the first changed": {"gonb", "k", append([]string{"print 1"}, mended[1:]...),
			[]string{"print 1", "fail two", "print three", "print four"}, Result{Ran: 4}},
		"a tag was removed": {"gonb", "k", []string{"print one", "fail two", "print three"},
			[]string{"print one", "fail two"}, Result{Ran: 1, Reused: 1}},
		"another kernel": {"gonb", "other", mended, []string{"print one", "fail two", "print three", "print four"},
			Result{Ran: 4}},
		"variables live on": {"ipython", "k", mended, []string{"print one", "fail two", "print three", "print four"},
			Result{Ran: 4}},
		"all are done":     {"gonb", "k", first[:3], nil, Result{Reused: 3}},
		"done, and python": {"ipython", "k", first[:3], nil, Result{Reused: 3}},
	} {
		b := newFixture(t)
		if _, err := Run(context.Background(), newNotebook(first...), b.Options); err == nil {
			t.Fatal("the first run should fail")
		}
		b.implementation = c.implementation
		b.again(t)
		b.Kernel = c.kernel
		nb := newNotebook(c.sources...)
		result, _ := Run(context.Background(), nb, b.Options)
		if result != c.want {
			t.Errorf("%s: %+v, want %+v", name, result, c.want)
		}
		if diff := cmp.Diff(c.ran, b.ran); diff != "" {
			t.Errorf("%s: given to the kernel (-want +got):\n%s", name, diff)
		}
		if started := len(c.ran) > 0; (b.started == 1) != started || b.saves == 0 {
			t.Errorf("%s: %d kernels, %d saves", name, b.started, b.saves)
		}
		if name == "mended" {
			if want := "stdout:one~ / stderr:why it failed~~|two / stdout:three~ / stdout:four~"; outputs(b.saved(t)) != want {
				t.Errorf("outputs %s, want %s", outputs(b.saved(t)), want)
			}
			for i, c := range b.saved(t).Cells {
				if c.ExecutionCount != i+1 {
					t.Errorf("cell %d: execution count %d", i, c.ExecutionCount)
				}
			}
		}
	}
}

// The widgets that reused cells show keep their state, with those that they consist of, and no others. A run of all
// cells keeps none.
func TestResumeWidgets(t *testing.T) {
	const state = `{"version_major": 2, "version_minor": 0, "state": {
		"a1": {"model_name": "HBox", "state": {"children": ["IPY_MODEL_b2"]}},
		"b2": {"model_name": "IntSlider", "state": {"value": 7, "layout": "IPY_MODEL_c3"}},
		"c3": {"model_name": "Layout", "state": {}},
		"d4": {"model_name": "IntSlider", "state": {"value": 8}}}}`
	for name, c := range map[string]struct {
		sources []string
		want    []string
	}{
		"one cell runs":   {[]string{"print one", "print two"}, []string{"a1", "b2", "c3"}},
		"no cell runs":    {[]string{"print one"}, []string{"a1", "b2", "c3"}},
		"every cell runs": {[]string{"print 1", "print two"}, nil},
	} {
		b := newFixture(t)
		if _, err := Run(t.Context(), newNotebook("print one", "fail two"), b.Options); err == nil {
			t.Fatal("the first run should fail")
		}
		b.again(t)
		var saved any
		if err := json.Unmarshal([]byte(state), &saved); err != nil {
			t.Fatal(err)
		}
		b.Previous.Metadata["widgets"] = map[string]any{widgetState: saved}
		for i, id := range []string{"a1", "d4"} {
			cell := b.Previous.Cells[i]
			cell.Outputs = append(cell.Outputs, nbformat.Output{Type: nbformat.DisplayData,
				Data: nbformat.MIMEBundle{widgetView: map[string]any{"model_id": id}}})
		}
		if _, err := Run(t.Context(), newNotebook(c.sources...), b.Options); err != nil {
			t.Fatal(err)
		}
		all, _ := b.saved(t).Metadata["widgets"].(map[string]any)
		kept, _ := all[widgetState].(map[string]any)
		models, _ := kept["state"].(map[string]any)
		if got := slices.Sorted(maps.Keys(models)); !slices.Equal(got, c.want) {
			t.Errorf("%s: kept %q, want %q", name, got, c.want)
		}
		if c.want != nil && fmt.Sprint(models["b2"]) != "map[model_name:IntSlider state:map[layout:IPY_MODEL_c3 value:7]]" {
			t.Errorf("%s: %v", name, models["b2"])
		}
	}
}

// A cell whose declarations do not compile without main is run again, and so are all cells after it.
func TestResumeWhenADeclarationFails(t *testing.T) {
	b := newFixture(t)
	sources := []string{"print one", "print two", "print three"}
	if _, err := Run(context.Background(), newNotebook(append(sources, "fail four")...), b.Options); err == nil {
		t.Fatal("the first run should fail")
	}
	b.again(t)
	b.Previous.Cells[1].Source = "irrelevant"
	nb := newNotebook("print one", "fail two", "print three")
	hashes := newNotebook(sources...)
	r := &run{nb: hashes, o: b.Options}
	r.plan()
	one := r.cells[0].hash
	for i, s := range r.cells { // as if cell 2 had succeeded
		b.Previous.Cells[i].Metadata["tvps"] = map[string]any{"hash": s.hash, "status": "ok"}
	}
	failing := chain(one, "cell", "fail two")
	b.Previous.Cells[1].Metadata["tvps"] = map[string]any{"hash": failing, "status": "ok"}
	result, err := Run(context.Background(), nb, b.Options)
	if err == nil || result.Reused != 1 || result.Ran != 1 {
		t.Errorf("%+v, error %v", result, err)
	}
	if diff := cmp.Diff([]string{"print one", "fail two", "fail two"}, b.ran); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeclarations(t *testing.T) {
	for source, want := range map[string]string{
		"var n = 3":                            "var n = 3",
		"%%\nfmt.Println()":                    "",
		"// only a comment\n%%\nx := 1":        "",
		"import \"fmt\"\n%%\nf()":              "import \"fmt\"\n",
		"func f() {}\n%main -a\nf()":           "func f() {}\n",
		"func f() {}\nfunc main() {\n\tf()\n}": "func f() {}\n                    ",
		"func main() { f() }":                  "",
		"!*go mod edit -replace a=b":           "!*go mod edit -replace a=b\n",
		"!ls\nvar a = 1\n%%\nf()":              "!ls\n\nvar a = 1\n",
		"%env A=1\n%%\nf()":                    "%env A=1\n",
		"//gonb:!ls\n//gonb:%%\nf()":           "//gonb:!ls\n",
		"%args -a\nvar a = 1\n%%\nf()":         "\nvar a = 1\n",
		"%test\nfunc TestA(t *testing.T) {}":   "\nfunc TestA(t *testing.T) {}",
		"%%bash\nls":                           "%%bash\nls",
		"%%writefile a.txt\n%%":                "%%writefile a.txt\n%%",
		"x :=":                                 "x :=",
		"func (t T) main() {}":                 "func (t T) main() {}",
	} {
		if got := declarations(source); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}
