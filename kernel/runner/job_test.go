package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
	"tvps/replicate/usage"
)

// noKernels makes a search path whose only kernel is named test.
func noKernels(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("JUPYTER_PATH", dir)
	t.Setenv("JUPYTER_DATA_DIR", filepath.Join(dir, "none"))
	demand.NoError(t, os.MkdirAll(filepath.Join(dir, "kernels", "test"), 0o755))
	spec := `{"argv": ["/no/such/program"], "display_name": "Test", "language": "go"}`
	demand.Write(t, filepath.Join(dir, "kernels", "test", "kernel.json"), spec)
}

func TestJobFindsMistakes(t *testing.T) {
	noKernels(t)
	dir := t.TempDir()
	file := func(name, kernel string) string {
		nb := newNotebook("#parameters var n = 3")
		if kernel != "" {
			nb.Metadata["kernelspec"] = map[string]any{"name": kernel, "language": "go"}
		}
		path := filepath.Join(dir, name)
		demand.NoError(t, nbformat.Write(path, nb))
		return path
	}
	damaged := filepath.Join(dir, "damaged.ipynb")
	demand.Write(t, damaged, "{")
	good, ours := file("good.ipynb", "test"), file("ours.ipynb", "tvps")
	for want, job := range map[string]Job{
		"no such file":                              {File: filepath.Join(dir, "x.ipynb")},
		"damaged.ipynb is damaged":                  {File: damaged},
		`good.ipynb has no parameter "m"`:           {File: good, Parameters: map[string]string{"m": "1"}},
		"n (int, default 3)":                        {File: good, Parameters: map[string]string{"n": "x"}},
		"run `go run ./kernel install`":             {File: ours},
		`"other" is not installed; installed: test`: {File: file("a.ipynb", "other")},
		"does not name its kernel":                  {File: file("b.ipynb", "")},
	} {
		_, _, err := job.Run(t.Context())
		if !errors.Is(err, usage.Err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want a usage error with %q", err, want)
		}
	}
	job := Job{File: good, Parameters: map[string]string{"n": "4"}, Output: filepath.Join(dir, "new.ipynb")}
	nb, _, err := job.Run(t.Context())
	demand.Error(t, err, "good.ipynb: kernel \"test\" did not start")
	demand.Equal(t, nb.Cells[0].Source, "var n = 4", "source")
}

// GoNB starts without gopls, and IPython writes no history. The kernelspec itself does not change.
func TestHeadless(t *testing.T) {
	for arg, want := range map[string][]string{"/a b/gonb": {"x", "/a b/gonb"},
		"ipykernel_launcher": {"x", "ipykernel_launcher", "--HistoryManager.hist_file=:memory:"}} {
		argv := append(make([]string, 0, 5), "x", arg)
		spec := jupyter.Spec{Argv: argv, Env: map[string]string{"PATH": "/a b:/a b/gopls:/go/bin", "A": "b"}}
		changed := jupyter.Spec{Argv: want, Env: map[string]string{"PATH": "/a b:/go/bin", "A": "b"}}
		demand.Diff(t, headless(spec), changed, "the headless kernelspec")
		if argv[:3][2] != "" || spec.Env["PATH"] != "/a b:/a b/gopls:/go/bin" {
			t.Errorf("the kernelspec changed: %q, %q", argv[:3], spec.Env)
		}
	}
}
