package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tvps/data/artifact"
)

// venv is the folder of the private virtual environment. It cannot be moved (its programs
// hold its path), so a file in it, whole, says that it is finished.
func (l Layout) venv() string     { return filepath.Join(l.Data, "jupyterlab") }
func (l Layout) whole() string    { return filepath.Join(l.venv(), ".tvps-jupyterlab-"+LabVersion) }
func (l Layout) venvLock() string { return filepath.Join(l.Data, ".jupyterlab.lock") }

// privateLab is the JupyterLab of the private environment.
func privateLab(ctx context.Context, l Layout) (jupyterLab, error) {
	if _, err := os.Stat(l.whole()); err != nil {
		return jupyterLab{}, ErrNoLab
	}
	return labAt(ctx, l.venv(), filepath.Join(l.venv(), "bin", "python"), "-m", "jupyterlab")
}

// makeVenv makes the private environment, unless it is there. One that was not finished,
// does not work or has another version is made anew.
func makeVenv(ctx context.Context, l Layout, log io.Writer) error {
	if _, err := privateLab(ctx, l); err == nil {
		return nil
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return errors.New("a private JupyterLab needs Python, and python3 is not on PATH: install it (on Debian: `apt-get install python3-venv`)")
	}
	unlock, err := artifact.Lock(ctx, l.venvLock(), "the private JupyterLab", log)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := privateLab(ctx, l); err == nil {
		return nil // another process was faster
	}
	if err := os.RemoveAll(l.venv()); err != nil {
		return fmt.Errorf("the private JupyterLab is not whole and cannot be removed: %w", err)
	}
	fmt.Fprintf(log, "making a private environment with JupyterLab %s in %s (about a minute)\n", LabVersion, l.venv())
	if err := runLogged(ctx, log, python, "-m", "venv", l.venv()); err != nil {
		return fmt.Errorf("%w; on Debian, `apt-get install python3-venv` may help", err)
	}
	pip := []string{"-m", "pip", "install", "--disable-pip-version-check", "jupyterlab==" + LabVersion}
	if err := runLogged(ctx, log, filepath.Join(l.venv(), "bin", "python"), pip...); err != nil {
		return fmt.Errorf("%w; check the network and call it again", err)
	}
	return writeFile(l.whole(), nil)
}

// runLogged runs a program that writes to log.
func runLogged(ctx context.Context, log io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("`%s` failed: %w", cmd, err)
	}
	return nil
}
