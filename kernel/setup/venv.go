package setup

import (
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
func (l Layout) venv() string { return filepath.Join(l.Data, "jupyterlab") }

// venvPython is the Python of the private virtual environment.
func (l Layout) venvPython() string { return filepath.Join(l.venv(), "bin", "python") }

// privateLab is the JupyterLab of the private environment. The error wraps errNoLab if there is none that works: pip
// installs JupyterLab last, so there is none in an incomplete environment.
func privateLab(ctx context.Context, l Layout) (jupyterLab, error) {
	return labAt(ctx, l.venv(), l.venvPython(), "-m", "jupyterlab")
}

// makeVenv returns the JupyterLab of the private environment, which it creates unless it works and has LabVersion.
func makeVenv(ctx context.Context, l Layout, log io.Writer) (jupyterLab, error) {
	if lab, err := privateLab(ctx, l); err == nil && lab.version == LabVersion {
		return lab, nil
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
	if err := runLogged(ctx, log, l.venvPython(), pip...); err != nil {
		return fmt.Errorf("%w; check the network and repeat the command", err)
	}
	return nbformat.WriteFile(l.labSettingsFile(), []byte(labSettings))
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
