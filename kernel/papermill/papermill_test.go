// Package papermill holds the Python package tvps-papermill, which lets papermill set parameters of Go notebooks.
package papermill

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tvps/kernel/nbformat"
)

// notebook has parameters of three types. Papermill gives 3 as a number, also for the string.
const notebook = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "tvps", "language": "go",
  "display_name": "Go (tvps)"}}, "cells": [
 {"cell_type": "code", "id": "a", "metadata": {"tags": ["parameters"]}, "outputs": [], "execution_count": null,
  "source": "var (\n\tscale string = \"paper\"\n\tseeds string = \"0-7\"\n\td = time.Second\n)"},
 {"cell_type": "code", "id": "b", "metadata": {}, "outputs": [], "execution_count": null,
  "source": "%%\nfmt.Println(scale, len(seeds), d)"}]}`

// TestPython installs the package and papermill as a user does, and runs the Python tests. With an installed kernel
// (TVPS_TEST_PREFIX is its --prefix) it also runs a notebook.
func TestPython(t *testing.T) {
	python := os.Getenv("TVPS_PYTHON")
	if python == "" {
		t.Skip("TVPS_PYTHON is not set: the translator for papermill is not tested")
	}
	dir := t.TempDir()
	run := func(env []string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1")...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	inside := filepath.Join(dir, "bin", "python")
	for _, args := range [][]string{
		{python, "-m", "venv", dir}, {inside, "-m", "pip", "install", "-q", "papermill", "."},
	} {
		if out, err := run(nil, args...); err != nil {
			t.Skipf("cannot install papermill: %v\n%s", err, out)
		}
	}
	if out, err := run(nil, inside, "-m", "unittest", "-v", "test_translator"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	prefix := os.Getenv("TVPS_TEST_PREFIX")
	if prefix == "" {
		t.Log("TVPS_TEST_PREFIX is not set: no notebook was run")
		return
	}
	in, result := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	if err := os.WriteFile(in, []byte(notebook), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"JUPYTER_PATH=" + filepath.Join(prefix, "share", "jupyter")}
	papermill := []string{filepath.Join(dir, "bin", "papermill"), in, result, "-p", "seeds", "3", "-p", "d", "1h30m"}
	if out, err := run(env, append(papermill, "-p", "scale", "tiny")...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	nb, err := nbformat.Read(result)
	if err != nil {
		t.Fatal(err)
	}
	last := nb.Cells[len(nb.Cells)-1]
	if len(last.Outputs) != 1 || last.Outputs[0].Text != "tiny 1 1h30m0s\n" {
		t.Errorf("the notebook printed %+v", last.Outputs)
	}
	if out, err := run(env, append(papermill, "-p", "d", "soon")...); err == nil ||
		!strings.Contains(out, "'soon' is not a duration") {
		t.Errorf("a wrong value: %v\n%s", err, out)
	}
}
