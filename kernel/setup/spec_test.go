package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
)

// rewrite changes the installed kernelspec.
func rewrite(t *testing.T, l Layout, change func(*jupyter.Spec)) {
	t.Helper()
	s, err := jupyter.Read(kernelName, l.specDir())
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
	demand.Equal(t, specProblem(l, chain), "", "a new kernelspec")
	t.Setenv("TVPS_DATA", "/elsewhere") // copied into the kernelspec, but never a reason to install again
	demand.Equal(t, specProblem(l, chain), "", "with TVPS_DATA")
	whole := string(demand.Read(t, l.specFile()))
	for _, c := range []struct {
		want   string
		change func(*jupyter.Spec)
	}{
		{"it is for the checkout /old", func(s *jupyter.Spec) { s.Env["TVPS_ROOT"] = "/old" }},
		{"it is out of date", func(s *jupyter.Spec) { s.Argv = []string{"/old/gonb"} }},
		{"it is out of date", func(s *jupyter.Spec) { s.Env["PATH"] = "/go1.20/bin" }},
		{"it is out of date", func(s *jupyter.Spec) { delete(s.Env, "GOPROXY") }},
		{"has no argv", func(s *jupyter.Spec) { s.Argv = nil }},
	} {
		demand.Write(t, l.specFile(), whole)
		rewrite(t, l, c.change)
		demand.Words(t, specProblem(l, chain), c.want)
	}
	os.Remove(l.specFile())
	demand.Words(t, specProblem(l, chain), l.specFile()+": no such file")
}

func TestTripFails(t *testing.T) {
	l := tempLayout(t)
	demand.Error(t, runTrip(t.Context(), l), "cannot start a kernel")
	l = fakeInstallation(t)
	rewrite(t, l, func(s *jupyter.Spec) { s.Argv = []string{"/bin/sh", "-c", "echo no luck >&2; exit 3"} })
	if err := runTrip(t.Context(), l); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("a kernel that dies: %v", err)
	}
}

// A program is stale until it is installed, and again when its source has changed.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "main.go")
	demand.Write(t, filepath.Join(dir, "go.mod"), "module small\n")
	demand.Write(t, main, "package main\n\nfunc main() {}\n")
	p := programs{dir, filepath.Join(dir, "bin"), []string{"small"}}
	demand.Words(t, p.stale(t.Context()), "small: ")
	demand.NoError(t, installPrograms(t.Context(), p))
	demand.Equal(t, p.stale(t.Context()), "", "after its installation")
	demand.Write(t, main, "package main\n\nfunc main() { println() }\n")
	demand.Words(t, p.stale(t.Context()), "small: ")
	demand.NoError(t, os.Remove(main))
	demand.Words(t, p.stale(t.Context()), "`go list ")
}
