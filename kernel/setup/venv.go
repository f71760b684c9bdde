package setup

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"tvps/data/artifact"
	"tvps/kernel/nbformat"
)

// requirements pins JupyterLab and all that it needs, with hashes, for every system and Python from 3.10 on.
// kernel/README.md says how to renew it.
//
//go:embed jupyterlab.txt
var requirements []byte

// venv is the folder of the private virtual environment. It is built in place, because its programs contain its
// path. The file venvComplete marks a complete environment; it contains requirementsHash.
func (l Layout) venv() string         { return filepath.Join(l.Data, "jupyterlab") }
func (l Layout) venvComplete() string { return filepath.Join(l.venv(), ".tvps-jupyterlab") }
func (l Layout) venvLock() string     { return filepath.Join(l.Data, ".jupyterlab.lock") }

// requirementsHash is the SHA-256 of requirements: an environment made from another list is not complete.
func requirementsHash() string { return fmt.Sprintf("%x\n", sha256.Sum256(requirements)) }

// privateLab is the JupyterLab of the private environment. The error wraps errNoLab if there is no complete one.
func privateLab(ctx context.Context, l Layout) (jupyterLab, error) {
	if text, err := os.ReadFile(l.venvComplete()); err != nil || string(text) != requirementsHash() {
		return jupyterLab{}, errNoLab
	}
	return labAt(ctx, l.venv(), filepath.Join(l.venv(), "bin", "python"), "-m", "jupyterlab")
}

// makeVenv returns the JupyterLab of the private environment, which it creates unless a working one exists. One that is
// incomplete, does not work or was made from another list of requirements is deleted and created again.
func makeVenv(ctx context.Context, l Layout, log io.Writer) (jupyterLab, error) {
	if lab, err := privateLab(ctx, l); err == nil {
		return lab, writeLabSettings(l)
	}
	if err := createVenv(ctx, l, log); err != nil {
		return jupyterLab{}, err
	}
	return privateLab(ctx, l)
}

func createVenv(ctx context.Context, l Layout, log io.Writer) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return errors.New("a private JupyterLab needs Python, but python3 is not on PATH: " +
			"install it (on Debian: `apt-get install python3-venv`)")
	}
	unlock, err := artifact.Lock(ctx, l.venvLock(), "the private JupyterLab", log)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := privateLab(ctx, l); err == nil {
		return nil // another process created it meanwhile
	}
	if err := os.RemoveAll(l.venv()); err != nil {
		return fmt.Errorf("cannot remove the incomplete private JupyterLab: %w", err)
	}
	fmt.Fprintf(log, "creating a private environment with JupyterLab %s in %s (about a minute)\n", LabVersion, l.venv())
	if err := runLogged(ctx, log, python, "-m", "venv", l.venv()); err != nil {
		return fmt.Errorf("%w; on Debian, `apt-get install python3-venv` may help", err)
	}
	list := filepath.Join(l.venv(), "requirements.txt")
	if err := nbformat.WriteFile(list, requirements); err != nil {
		return err
	}
	pip := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:",
		"-r", list}
	if err := runLogged(ctx, log, filepath.Join(l.venv(), "bin", "python"), pip...); err != nil {
		return fmt.Errorf("%w; check the network and repeat the command", err)
	}
	if err := writeLabSettings(l); err != nil {
		return err
	}
	return nbformat.WriteFile(l.venvComplete(), []byte(requirementsHash()))
}

// labSettings makes JupyterLab ask no question about news and look for no updates: its version is pinned.
const labSettings = `{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}
`

// labSettingsFile has the default settings of the private JupyterLab. The user's own settings override it.
func (l Layout) labSettingsFile() string {
	return filepath.Join(l.venv(), "share", "jupyter", "lab", "settings", "overrides.json")
}

func writeLabSettings(l Layout) error {
	return nbformat.WriteFile(l.labSettingsFile(), []byte(labSettings))
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
