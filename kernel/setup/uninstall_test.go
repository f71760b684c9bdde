package setup

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

func TestUninstall(t *testing.T) {
	l := fakeInstallation(t)
	var out strings.Builder
	demand.NoError(t, Uninstall(t.Context(), l, false, &out))
	want := []string{"share", "share/jupyter", "share/jupyter/kernels", "share/jupyter/labextensions"}
	if got := tree(t, l.Prefix); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	for _, path := range []string{l.specFile(), l.program(tools[0]), l.program(tools[1]), l.servedScript()} {
		demand.Words(t, out.String(), "removed "+path+"\n")
	}
}

func TestUninstallLeavesTheRest(t *testing.T) {
	l := fakeInstallation(t)
	mine := []string{
		filepath.Join(l.specDir(), "kernel.js"), filepath.Join(l.bin(), "gopls"), filepath.Join(l.Data, "notes.txt"),
		filepath.Join(
			l.Jupyter,
			"kernels",
			"python3",
			"kernel.json",
		), filepath.Join(filepath.Dir(l.servedScript()), "more.js"),
		filepath.Join(l.venv(), "bin", "python"), l.venvLock(),
	}
	for _, path := range mine {
		demand.Write(t, path, "mine")
	}
	var out strings.Builder
	demand.NoError(t, Uninstall(t.Context(), l, false, &out))
	for _, path := range mine {
		if got := string(demand.Read(t, path)); got != "mine" {
			t.Errorf("%s holds %q", path, got)
		}
	}
	demand.Words(t, out.String(), "uninstall --venv")
	demand.NoError(t, Uninstall(t.Context(), l, true, &out))
	if got := tree(t, l.Data); !slices.Equal(got, []string{"bin", "bin/gopls", "notes.txt"}) {
		t.Errorf("with --venv, left %q", got)
	}
}

func TestUninstallNothing(t *testing.T) {
	l := tempLayout(t)
	for range 2 {
		var out strings.Builder
		if err := Uninstall(t.Context(), l, false, &out); err != nil ||
			out.String() != "The kernel is not installed: nothing to remove.\n" {
			t.Errorf("got %v and %q", err, out.String())
		}
		if got := tree(t, l.Prefix); len(got) > 0 {
			t.Errorf("it created %q", got)
		}
	}
}

func TestUninstallLeavesForeignKernel(t *testing.T) {
	l := fakeInstallation(t)
	demand.Write(t, l.specFile(), `{"argv":["mine"]}`)
	var out strings.Builder
	demand.NoError(t, Uninstall(t.Context(), l, false, &out))
	if got := string(demand.Read(t, l.specFile())); got != `{"argv":["mine"]}` ||
		!strings.Contains(out.String(), "Left alone: "+l.specFile()) {
		t.Errorf("kernel.json is %q, and it says %q", got, out.String())
	}
}
