package setup

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"tvps/kernel/nbformat"
)

// requirements pins JupyterLab and all that it needs, with hashes, for every system and Python from 3.10 on.
// kernel/README.md says how to renew it.
//
//go:embed jupyterlab.txt
var requirements []byte

// venv is the folder of the private virtual environment. It is built in place, because its programs contain its path.
func (l Layout) venv() string     { return filepath.Join(l.Data, "jupyterlab") }
func (l Layout) venvLab() string  { return filepath.Join(l.venv(), "bin", "jupyter-lab") }
func (l Layout) venvList() string { return filepath.Join(l.venv(), "requirements.txt") }

// venvComplete says whether the private environment was made from requirements, to the end: pip installs JupyterLab
// last.
func (l Layout) venvComplete() bool {
	list, _ := os.ReadFile(l.venvList())
	_, err := os.Stat(l.venvLab())
	return err == nil && bytes.Equal(list, requirements)
}

// makeVenv creates the private environment unless it is complete.
func makeVenv(ctx context.Context, l Layout, log io.Writer) error {
	if l.venvComplete() {
		return nil
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return errors.New("a private JupyterLab needs Python, but python3 is not on PATH: " +
			"install it (on Debian: `apt-get install python3-venv`)")
	}
	if err := os.RemoveAll(l.venv()); err != nil {
		return fmt.Errorf("cannot remove the incomplete private JupyterLab: %w", err)
	}
	fmt.Fprintf(log, "creating a private environment with JupyterLab %s in %s (about a minute)\n", LabVersion, l.venv())
	if err := runLogged(ctx, log, python, "-m", "venv", l.venv()); err != nil {
		return fmt.Errorf("%w; on Debian, `apt-get install python3-venv` may help", err)
	}
	err = errors.Join(nbformat.WriteFile(l.venvList(), requirements),
		nbformat.WriteFile(l.labSettingsFile(), []byte(labSettings)))
	if err != nil {
		return err
	}
	pip := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:",
		"-r", l.venvList()}
	if err := runLogged(ctx, log, filepath.Join(l.venv(), "bin", "python"), pip...); err != nil {
		return fmt.Errorf("%w; check the network and repeat the command", err)
	}
	return nil
}

// labSettings makes JupyterLab ask no question about news and look for no updates: its version is pinned.
const labSettings = `{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}
`

// labSettingsFile has the default settings of the private JupyterLab. The user's own settings override it.
func (l Layout) labSettingsFile() string {
	return filepath.Join(l.venv(), "share", "jupyter", "lab", "settings", "overrides.json")
}

// runLogged runs a program and sends its output to log.
func runLogged(ctx context.Context, log io.Writer, program string, args ...string) error {
	cmd := interruptible(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("`%s` failed: %w", cmd, err)
	}
	return nil
}
