package runner

import (
	"context"
	"testing"

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
