package setup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// labScript is a JupyterLab that prints its arguments and runs until it gets a signal.
const labScript = `#!/bin/sh
trap 'echo stopping; exit 0' TERM
trap 'echo interrupted' INT
echo "in $PWD, JUPYTER_PATH=$JUPYTER_PATH"
for a in "$@"; do echo "argument $a"; done
echo ready
while :; do sleep 0.05; done
`

// withLab makes a JupyterLab the only one on PATH.
func withLab(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "some bin")
	script(t, filepath.Join(dir, "jupyter-lab"), labScript)
	script(t, filepath.Join(dir, "jupyter-trust"), "#!/bin/sh\necho \"$@\" >trusted\n")
	onlyOnPath(t, dir)
}

// withNotebooks returns the layout of an installed kernel, for a checkout with a folder notebooks.
func withNotebooks(t *testing.T) Layout {
	t.Helper()
	l := fakeInstallation(t)
	real := l.Root
	l.Root = filepath.Join(t.TempDir(), "check out")
	demand.Write(t, filepath.Join(l.Root, "go.mod"), string(demand.Read(t, filepath.Join(real, "go.mod"))))
	demand.NoError(t, os.MkdirAll(filepath.Join(l.Root, "notebooks"), 0o755))
	return l
}

func TestLabMissing(t *testing.T) {
	onlyOnPath(t, t.TempDir())
	l := withNotebooks(t)
	build := func(context.Context, programs) error { t.Error("programs are built"); return nil }
	err := Lab(t.Context(), l, LabOptions{Install: InstallOptions{Log: &demand.Buffer{}, Out: &demand.Buffer{},
		parts: &parts{install: build}}})
	demand.Error(t, err, "JupyterLab is not installed: ", "kernel lab --venv --prefix",
		"python3 -m pip install jupyterlab=="+LabVersion)
	demand.Words(t, NextSteps(l), "lab --venv")
}

func TestLab(t *testing.T) {
	withLab(t)
	t.Setenv("JUPYTER_PATH", "/earlier")
	l := withNotebooks(t) // not the checkout of the installed kernel
	notebook := filepath.Join(l.Root, "notebooks", "fig01.ipynb")
	demand.Write(t, notebook, "{}")
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &demand.Buffer{}
	ended := make(chan error, 1)
	go func() {
		ended <- Lab(ctx, l, LabOptions{Args: []string{"--more", "two words"},
			Install: InstallOptions{Log: log, Out: log, parts: fakeParts()}})
	}()
	demand.Soon(t, "JupyterLab", func() bool { return len(ended) > 0 || strings.Contains(log.String(), "ready\n") })
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("at the end of JupyterLab: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("JupyterLab does not end")
	}
	if trusted := string(demand.Read(t, "trusted")); trusted != notebook+"\n" {
		t.Errorf("JupyterLab shows the pictures of %q, want those of %s", trusted, notebook)
	}
	lines := strings.Split(log.String(), "\n")
	for _, want := range []string{
		"in " + l.Root + ", JUPYTER_PATH=" + l.Jupyter + ":/earlier", "argument --ServerApp.root_dir=" + l.Root,
		"argument --LabApp.default_url=/lab/tree/notebooks/00-index.ipynb", "argument --more",
		"argument two words",
		"stopping",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("there is no line %q in\n%s", want, log)
		}
	}
	demand.Equal(t, slices.Contains(lines, "argument --allow-root"), os.Geteuid() == 0, "the argument --allow-root")
	if slices.Contains(lines, "interrupted") {
		t.Error("JupyterLab got an interrupt, too")
	}
	chain, err := findGo(t.Context(), l.Root)
	demand.NoError(t, err)
	if problem := specProblem(l, chain); problem != "" ||
		!strings.Contains(log.String(), "installing the kernel: it is for the checkout") {
		t.Errorf("the kernel was not updated: %q\n%s", problem, log)
	}
}

func TestLabFails(t *testing.T) {
	dir := t.TempDir()
	script(t, filepath.Join(dir, "jupyter-lab"), "#!/bin/sh\necho port in use\nexit 1\n")
	onlyOnPath(t, dir)
	options := InstallOptions{Log: &demand.Buffer{}, Out: &demand.Buffer{}, parts: fakeParts()}
	err := Lab(t.Context(), withNotebooks(t), LabOptions{Install: options})
	demand.Error(t, err, "JupyterLab failed: exit status 1")
}

// python is a python3 that creates environments. Its pip fails unless the file PIP_STATE contains the word works.
const python = `#!/bin/sh
case "$*" in
"-m venv "*) echo venv; mkdir -p "$3/bin"; cp "$0" "$3/bin/python";;
"-m pip install --quiet "*) read state <"$PIP_STATE"; [ "$state" = works ] && cp "$0" "${0%python}jupyter-lab";;
esac
`

func TestVenv(t *testing.T) {
	dir := t.TempDir()
	script(t, filepath.Join(dir, "python3"), python)
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv("PIP_STATE", state)
	onlyOnPath(t, dir)
	l, log := tempLayout(t), &demand.Buffer{}
	demand.Write(t, filepath.Join(l.venv(), "old"), "of an interrupted call")

	demand.Write(t, state, "broken\n")
	demand.Error(t, makeVenv(t.Context(), l, log), "repeat the command")
	if l.venvComplete() {
		t.Error("an incomplete environment was accepted")
	}
	demand.Write(t, state, "works\n")
	for range 2 { // the second call has nothing to do
		demand.NoError(t, makeVenv(t.Context(), l, log))
	}
	demand.Words(t, string(demand.Read(t, l.labSettingsFile())), `"fetchNews": "false"`)
	if _, err := os.Stat(filepath.Join(l.venv(), "old")); err == nil {
		t.Error("the old environment is still there")
	}
	lab, err := findLab(l) // there is none on PATH
	if err != nil || lab != l.venvLab() {
		t.Errorf("found %q, %v", lab, err)
	}
	demand.Write(t, l.venvList(), "another list")
	demand.NoError(t, makeVenv(t.Context(), l, log))
	demand.Equal(t, strings.Count(log.String(), "venv\n"), 3, "environments: a failure, a success, one from another list")
	onlyOnPath(t, t.TempDir())
	os.RemoveAll(l.venv())
	demand.Error(t, makeVenv(t.Context(), l, log), "python3 is not on PATH")
}
