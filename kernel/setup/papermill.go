package setup

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// papermillPackage is the folder of the Python package that lets papermill set parameters of Go notebooks.
const papermillPackage = "kernel/papermill"

// installPapermill installs that package where papermill is: in the Python of the program on PATH, and in the private
// environment. It does nothing if there is no papermill, or the package is up to date.
func installPapermill(ctx context.Context, l Layout, log io.Writer) error {
	programs := []string{filepath.Join(l.VenvBin(), "papermill")}
	if path, err := exec.LookPath("papermill"); err == nil && path != programs[0] {
		programs = append(programs, path)
	}
	want, err := os.ReadFile(filepath.Join(l.Root, papermillPackage, "tvps_papermill.py"))
	if err != nil {
		return err
	}
	for _, program := range programs {
		if _, err := os.Stat(program); err != nil {
			continue
		}
		python := pythonOf(program)
		cmd := exec.CommandContext(ctx, python, "-c",
			"from importlib.util import find_spec; print(find_spec('tvps_papermill').origin)")
		if file, err := cmd.Output(); err == nil {
			if have, err := os.ReadFile(strings.TrimSpace(string(file))); err == nil && bytes.Equal(have, want) {
				continue
			}
		}
		fmt.Fprintf(log, "installing the translator of Go notebooks for %s\n", program)
		args := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps",
			filepath.Join(l.Root, papermillPackage)}
		if err := runLogged(ctx, log, python, args...); err != nil {
			return fmt.Errorf("%w; in an environment of your own, run `python -m pip install ./%s`", err, papermillPackage)
		}
		if pythons := l.papermillPythons(); !slices.Contains(pythons, python) {
			text := strings.Join(append(pythons, python), "\n") + "\n"
			if err := writeFile(l.papermillList(), []byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// papermillList is the file with the interpreters in which Install put the package, one a line.
func (l Layout) papermillList() string { return filepath.Join(l.Data, "papermill.txt") }

func (l Layout) papermillPythons() []string {
	text, _ := os.ReadFile(l.papermillList()) // none: nothing was installed
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return line == "" })
}

// uninstallPapermill removes the package from the interpreters in which Install put it. Interpreters that are gone, and
// those that fail, are left alone with a line on out.
func uninstallPapermill(ctx context.Context, l Layout, out io.Writer) {
	for _, python := range l.papermillPythons() {
		if _, err := os.Stat(python); err != nil {
			continue
		}
		err := runLogged(ctx, io.Discard, python, "-m", "pip", "uninstall", "--yes", "--quiet", "--disable-pip-version-check",
			"tvps-papermill")
		if err != nil {
			fmt.Fprintf(out, "Left alone: the translator of Go notebooks of %s: %v\n", python, err)
			continue
		}
		fmt.Fprintln(out, "removed the translator of Go notebooks of", python)
	}
}

// pythonOf is the interpreter in the first line of a Python program, or the one in the same folder.
func pythonOf(program string) string {
	text, _ := os.ReadFile(program)
	first, _, _ := strings.Cut(string(text), "\n")
	path, ok := strings.CutPrefix(strings.TrimSpace(first), "#!")
	if ok && strings.HasPrefix(filepath.Base(path), "python") {
		return path
	}
	return filepath.Join(filepath.Dir(program), "python3")
}
