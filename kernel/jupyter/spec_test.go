package jupyter

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

// bare sets up an environment without kernels: an empty home folder and no programs on PATH.
func bare(t *testing.T) (home string) {
	if runtime.GOOS != "linux" {
		t.Skip("the folders are those of Linux")
	}
	home = t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "PATH": t.TempDir(), "XDG_DATA_HOME": "", "JUPYTER_PATH": "", "JUPYTER_DATA_DIR": "",
	} {
		t.Setenv(name, value)
	}
	return home
}

// install writes a kernel.json with the given display name.
func install(t *testing.T, data, name, display string) string {
	t.Helper()
	dir := filepath.Join(data, "kernels", name)
	writeFile(t, filepath.Join(dir, "kernel.json"), `{"argv": ["x"], "display_name": "`+display+`", "language": "l"}`)
	return dir
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	demand.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	demand.NoError(t, os.WriteFile(file, []byte(text), 0o700))
}

func TestFindReadsAllFields(t *testing.T) {
	home := bare(t)
	dir := filepath.Join(home, ".local/share/jupyter/kernels/My.Kernel-1")
	writeFile(t, filepath.Join(dir, "kernel.json"), `{"argv": ["a", "{connection_file}"], "display_name": "D",
		"language": "go", "interrupt_mode": "message", "env": {"A": "b"}, "metadata": {"debugger": true}, "unknown": 1}`)
	got, err := Find("MY.kernel-1")
	want := Spec{"my.kernel-1", dir, []string{"a", "{connection_file}"}, "D", "go", "message",
		map[string]string{"A": "b"}}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

// Of several kernels with one name, the first one in Jupyter's search order is used.
func TestSearchOrder(t *testing.T) {
	home := bare(t)
	base := filepath.Join(home, "a [strange] folder*")
	venv, python := filepath.Join(home, "venv"), filepath.Join(home, "python")
	t.Setenv("JUPYTER_PATH", filepath.Join(base, "one")+":"+filepath.Join(base, "two"))
	t.Setenv("PATH", filepath.Join(venv, "bin")+":"+filepath.Join(python, "bin"))
	writeFile(t, filepath.Join(venv, "bin", "jupyter"), "#!/bin/sh\n")
	writeFile(t, filepath.Join(venv, "pyvenv.cfg"), "")
	writeFile(t, filepath.Join(python, "bin", "python3"), "#!/bin/sh\n")
	order := []string{
		filepath.Join(base, "one"), filepath.Join(base, "two"), filepath.Join(venv, "share/jupyter"),
		filepath.Join(home, ".local/share/jupyter"), filepath.Join(python, "share/jupyter"),
	}
	for i := len(order) - 1; i >= 0; i-- { // each new folder comes before the existing ones
		dir := install(t, order[i], "k", "from "+order[i])
		got, err := Find("k")
		if err != nil || got.Dir != dir || got.DisplayName != "from "+order[i] {
			t.Errorf("found %q (%v), want %q", got.Dir, err, dir)
		}
	}
}

func TestDataDir(t *testing.T) {
	home := bare(t)
	want := func(want string) {
		t.Helper()
		demand.Equal(t, DataDir(), want, "the data folder")
	}
	want(home + "/.local/share/jupyter")
	t.Setenv("XDG_DATA_HOME", "/xdg")
	want("/xdg/jupyter")
	t.Setenv("JUPYTER_DATA_DIR", "/data")
	want("/data")
}

func TestFindUnknown(t *testing.T) {
	home := bare(t)
	if len(folders()) > 0 {
		t.Skip("this machine has kernels for all users")
	}
	_, err := Find("gonb")
	if !errors.Is(err, ErrNoKernel) || !strings.Contains(err.Error(), "no kernel is installed") {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"gonb", "python3", "empty"} {
		install(t, filepath.Join(home, ".local/share/jupyter"), name, name)
	}
	os.Remove(filepath.Join(home, ".local/share/jupyter/kernels/empty/kernel.json"))
	_, err = Find("Pyton")
	if !errors.Is(err, ErrNoKernel) ||
		!strings.Contains(err.Error(), "installed: gonb, python3") {
		t.Errorf("got %v", err)
	}
}

func TestBrokenSpecs(t *testing.T) {
	home := bare(t)
	data := filepath.Join(home, ".local/share/jupyter")
	install(t, data, "AA", "A")
	for name, text := range map[string]string{
		"broken": "{", "noargv": `{"argv": []}`,
	} {
		writeFile(t, filepath.Join(data, "kernels", name, "kernel.json"), text)
		_, err := Find(name)
		demand.Error(t, err, filepath.Join(name, "kernel.json"))
	}
	if s, err := Find("aa"); err != nil || s.Name != "aa" || s.InterruptMode != "signal" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestPythonOfTheKernelsEnvironment(t *testing.T) {
	home := bare(t)
	own := filepath.Join(home, "bin", "python")
	other := filepath.Join(t.TempDir(), "python")
	writeFile(t, own, "#!/bin/sh\n")
	writeFile(t, other, "#!/bin/sh\n")
	env := []string{"PATH=/nowhere", "PATH=" + filepath.Dir(other)}
	inside := Spec{Dir: filepath.Join(home, "share", "jupyter", "kernels", "python3")}
	for _, test := range []struct {
		spec Spec
		want string
	}{{inside, own}, {Spec{Dir: t.TempDir()}, other}} {
		if got, err := lookPath(test.spec, "python", env); got != test.want {
			t.Errorf("got %q (%v), want %q", got, err, test.want)
		}
	}
	inside.Argv = []string{"python", "-m", "kernel"}
	cmd, err := command(inside, Options{}, "file", t.TempDir())
	if err != nil || cmd.Path != own || cmd.Args[0] != own {
		t.Errorf("the command is %v, %v; Python finds its environment by the path of the command", cmd, err)
	}
}
