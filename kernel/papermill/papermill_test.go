// Package papermill holds the Python package tvps-papermill, which lets papermill set parameters of Go notebooks.
package papermill

import (
	"context"
	"errors"
	"fmt"
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
	run := func(env []string, args ...string) (string, error) { return output(t.Context(), env, args...) }
	inside := filepath.Join(dir, "bin", "python")
	if absent, err := install(t.Context(), python, dir); err != nil {
		t.Fatal(err)
	} else if absent != "" {
		t.Skip(absent)
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

// output runs a program and returns what it printed.
func output(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1")...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// install makes a virtual environment in dir with papermill and the package. absent says what the test needs and this
// machine lacks: Python, or the module with which a virtual environment gets pip. All else that fails is an error.
func install(ctx context.Context, python, dir string) (absent string, err error) {
	if _, err := exec.LookPath(python); errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return fmt.Sprintf("there is no Python: %v", err), nil
	}
	if out, err := output(ctx, nil, python, "-c", "import ensurepip, venv"); err != nil {
		if strings.Contains(out, "ModuleNotFoundError") {
			return fmt.Sprintf("%s cannot put pip into a virtual environment; on Debian, `apt-get install python3-venv` "+
				"helps: %s", python, out), nil
		}
		return "", fmt.Errorf("%s: %w\n%s", python, err, out)
	}
	for _, args := range [][]string{
		{python, "-m", "venv", dir},
		{filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "-q", "papermill", "."},
	} {
		if out, err := output(ctx, nil, args...); err != nil {
			return "", fmt.Errorf("%q: %w\n%s", args, err, out)
		}
	}
	return "", nil
}

// TestInstall: the test above is skipped where Python or pip is absent, and fails where pip fails, with what it
// printed.
func TestInstall(t *testing.T) {
	for name, c := range map[string]struct{ script, absent, failure string }{
		"no Python":    {"", "there is no Python", ""},
		"no ensurepip": {"echo 'ModuleNotFoundError: No module named ensurepip' >&2; exit 1", "python3-venv", ""},
		"broken":       {"echo 'Fatal Python error: init_fs_encoding' >&2; exit 1", "", "init_fs_encoding"},
		"no venv": {`[ "$1" = -c ] || { echo 'Unable to create directory'; exit 1; }`, "",
			"Unable to create directory"},
		"no index": {`[ "$2" = pip ] && { echo 'No matching distribution found for papermill'; exit 1; }
			[ "$2" != venv ] || { mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; }`, "", "No matching distribution"},
		"installed": {`[ "$2" != venv ] || { mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; }`, "", ""},
	} {
		python := filepath.Join(t.TempDir(), "python")
		if c.script != "" {
			if err := os.WriteFile(python, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		absent, err := install(t.Context(), python, t.TempDir())
		if (absent == "") != (c.absent == "") || !strings.Contains(absent, c.absent) {
			t.Errorf("%s: absent: %q", name, absent)
		}
		if (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
