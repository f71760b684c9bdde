package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/kernel/jupyter"
)

// rewrite changes the installed kernelspec.
func rewrite(t *testing.T, l Layout, change func(*jupyter.Spec)) {
	t.Helper()
	s, err := readSpec(l)
	demand.NoError(t, err)
	change(&s)
	text, err := json.Marshal(s)
	demand.NoError(t, err)
	demand.Write(t, l.specFile(), string(text))
}

func TestSpecProblem(t *testing.T) {
	l := fakeInstallation(t)
	chain, err := findGo(t.Context(), l.Root)
	demand.NoError(t, err)
	if got := specProblem(l, chain); got != "" {
		t.Errorf("a new kernelspec: %q", got)
	}
	t.Setenv("TVPS_DATA", "/elsewhere") // copied into the kernelspec, but never a reason to install again
	if got := specProblem(l, chain); got != "" {
		t.Errorf("with TVPS_DATA: %q", got)
	}
	whole := string(demand.Read(t, l.specFile()))
	for _, c := range []struct {
		want   string
		change func(*jupyter.Spec)
	}{
		{"it is for the checkout /old", func(s *jupyter.Spec) { s.Env["TVPS_ROOT"] = "/old" }},
		{"it is out of date", func(s *jupyter.Spec) { s.Argv = []string{"/old/gonb"} }},
		{"it is out of date", func(s *jupyter.Spec) { s.Env["PATH"] = "/go1.20/bin" }},
		{"it is out of date", func(s *jupyter.Spec) { delete(s.Env, "GOPROXY") }},
		{"was not written by", func(s *jupyter.Spec) { s.Metadata = nil }},
	} {
		demand.Write(t, l.specFile(), whole)
		rewrite(t, l, c.change)
		demand.Words(t, specProblem(l, chain), c.want)
		if c := checkSpec(l, chain); c.Status != backend.Fail || !strings.Contains(c.Fix, "kernel install --prefix") {
			t.Errorf("doctor says %+v", c)
		}
	}
	os.Remove(l.specFile())
	demand.Words(t, specProblem(l, chain), l.specFile()+": no such file")
}

// Jupyter uses the first kernel of a name on its search path.
func TestShadowedKernel(t *testing.T) {
	other := t.TempDir()
	demand.Write(t, filepath.Join(other, "kernels", "tvps", "kernel.json"), `{"argv":["x"]}`)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("JUPYTER_DATA_DIR", t.TempDir())
	l, err := NewLayout(checkout(t), "")
	demand.NoError(t, err)
	_, err = install(t, l, fakeParts(new(int)))
	demand.NoError(t, err)
	chain, err := findGo(t.Context(), l.Root)
	demand.NoError(t, err)
	if c := checkSpec(l, chain); c.Status != backend.OK {
		t.Errorf("alone: %+v", c)
	}
	t.Setenv("JUPYTER_PATH", other)
	if c := checkSpec(l, chain); c.Status != backend.Warn || !strings.Contains(c.Detail, other) {
		t.Errorf("after another on the search path: %+v", c)
	}
}

func TestCheckECharts(t *testing.T) {
	l := fakeInstallation(t)
	if c := checkECharts(l); c.Status != backend.OK {
		t.Errorf("after an installation: %+v", c)
	}
	demand.Write(t, l.servedScript(), "")
	if c := checkECharts(l); c.Status != backend.Warn || !strings.Contains(c.Detail, "is out of date") {
		t.Errorf("another script: %+v", c)
	}
	os.Remove(l.servedScript())
	if c := checkECharts(l); c.Status != backend.Warn || !strings.Contains(c.Fix, "kernel install") {
		t.Errorf("no script: %+v", c)
	}
}

func TestRoundTripFailures(t *testing.T) {
	l := tempLayout(t)
	if c := roundTrip(t.Context(), l); c.Status != backend.Fail || !strings.Contains(c.Detail, "cannot start a kernel") {
		t.Errorf("nothing installed: %+v", c)
	}
	l = fakeInstallation(t)
	rewrite(t, l, func(s *jupyter.Spec) { s.Argv = []string{"/bin/sh", "-c", "echo no luck >&2; exit 3"} })
	if c := roundTrip(t.Context(), l); c.Status != backend.Fail ||
		!strings.Contains(c.Detail, "the kernel does not start") ||
		!strings.Contains(c.Detail, "no luck") {
		t.Errorf("a kernel that dies: %+v", c)
	}
}

// A program is up to date if it is that of its package, in the version of go.mod, built by this Go. Here it is go.
func TestProblem(t *testing.T) {
	l := tempLayout(t)
	chain, err := findGo(t.Context(), l.Root)
	demand.NoError(t, err)
	program := tool{"go", "cmd/go", "cmd"}
	missing := chain.problem(l, program)
	demand.Write(t, l.program(program), demand.Read(t, filepath.Join(chain.root, "bin", "go")))
	have := chain.problem(l, program)
	another := chain.problem(l, tool{"go", "cmd/gofmt", "cmd"})
	chain.wanted["cmd"] = "v9.9.9"
	version := chain.problem(l, program)
	chain.wanted["cmd"], chain.version = "", "go1.20"
	old := chain.problem(l, program)
	for _, c := range [][2]string{{missing, "does not exist"}, {have + ".", "."}, {another, "another program, cmd/go"},
		{version, "go.mod requires v9.9.9"}, {old, "go is now go1.20"}} {
		demand.Words(t, c[0], c[1])
	}
	if have != "" {
		t.Errorf("as it is: %q", have)
	}
}
