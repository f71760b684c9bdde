package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/kernel/nbformat"
)

// parameterised has parameters of three types. Papermill gives 3 as a number, also for the string.
const parameterised = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "tvps", "language": "go",
  "display_name": "Go (tvps)"}}, "cells": [
 {"cell_type": "code", "id": "a", "metadata": {"tags": ["parameters"]}, "outputs": [], "execution_count": null,
  "source": "var (\n\tscale string = \"paper\"\n\tseeds string = \"0-7\"\n\trate = 0.5\n)"},
 {"cell_type": "code", "id": "b", "metadata": {}, "outputs": [], "execution_count": null,
  "source": "%%\nfmt.Println(scale, len(seeds), rate)"}]}`

// TestPapermill installs papermill and the Python package tvps-papermill as a user does, and runs its tests. With an
// installed kernel (TVPS_TEST_PREFIX is its --prefix) it also runs a notebook. It fails where pip fails, and is skipped
// without Python (TVPS_PYTHON), or the modules that put pip into a virtual environment. It is a test of the night.
func TestPapermill(t *testing.T) {
	python, dir := os.Getenv("TVPS_PYTHON"), t.TempDir()
	if python == "" || !demand.Nightly {
		t.Skip("TVPS_PYTHON or TVPS_NIGHTLY is not set: the translator for papermill is not tested")
	}
	run := func(env []string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = filepath.Join("..", "papermill")
		cmd.Env = append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1")...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(nil, python, "-c", "import ensurepip, venv"); err != nil {
		t.Skipf("there is no Python that can put pip into a virtual environment (on Debian: python3-venv): %v\n%s", err, out)
	}
	inside := filepath.Join(dir, "bin", "python")
	for _, args := range [][]string{
		{python, "-m", "venv", dir}, {inside, "-m", "pip", "install", "-q", "papermill", "."},
		{inside, "-m", "unittest", "-v", "test_translator"},
	} {
		if out, err := run(nil, args...); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	prefix := os.Getenv("TVPS_TEST_PREFIX")
	if prefix == "" {
		t.Log("TVPS_TEST_PREFIX is not set: no notebook was run")
		return
	}
	in, result := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	demand.Write(t, in, parameterised)
	env := []string{"JUPYTER_PATH=" + filepath.Join(prefix, "share", "jupyter")}
	papermill := []string{filepath.Join(dir, "bin", "papermill"), in, result, "-p", "seeds", "3", "-p", "rate", "2"}
	if out, err := run(env, append(papermill, "-p", "scale", "tiny")...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	nb, err := nbformat.Read(result)
	demand.NoError(t, err)
	last := nb.Cells[len(nb.Cells)-1]
	if len(last.Outputs) != 1 || last.Outputs[0].Text != "tiny 1 2\n" {
		t.Errorf("the notebook printed %+v", last.Outputs)
	}
	if out, err := run(env, append(papermill, "-p", "rate", "soon")...); err == nil ||
		!strings.Contains(out, "the parameter rate is float64: it cannot be 'soon'") {
		t.Errorf("a wrong value: %v\n%s", err, out)
	}
}
