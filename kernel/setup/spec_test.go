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
	demand.Equal(t, have, "", "as it is")
}
