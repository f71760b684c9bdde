package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tvps/data/artifact"
	"tvps/data/process"
	"tvps/kernel/nbformat"
)

// Converter makes slides and PDF files with nbconvert, a program of Jupyter.
type Converter struct {
	PDF     string // nbconvert's name for the way to a PDF: pdf, with LaTeX, or webpdf, with a browser
	program string
}

// FindConverter finds nbconvert on PATH, or else in the folder private. With pdf it also looks for what nbconvert makes
// PDF files with: LaTeX, or the Python package playwright.
func FindConverter(ctx context.Context, private string, pdf bool) (*Converter, error) {
	program, err := exec.LookPath("jupyter-nbconvert")
	if err != nil && private != "" {
		program, err = exec.LookPath(filepath.Join(private, "jupyter-nbconvert"))
	}
	if err != nil {
		return nil, errors.New("--slides and --pdf need nbconvert, which is neither on PATH nor in the private JupyterLab: " +
			"`go run ./kernel lab --venv` installs it, or use `python3 -m pip install nbconvert`")
	}
	c := &Converter{program: program, PDF: "pdf"}
	if _, err := exec.LookPath("xelatex"); err == nil || !pdf {
		return c, nil
	}
	python := filepath.Join(filepath.Dir(program), "python")
	if exec.CommandContext(ctx, python, "-c", "import playwright").Run() == nil {
		c.PDF = "webpdf"
		return c, nil
	}
	return nil, fmt.Errorf("--pdf needs LaTeX (xelatex on PATH; on Debian `apt-get install texlive-xetex`) "+
		"or playwright: `%s -m pip install nbconvert[webpdf]`, then `playwright install chromium`", python)
}

// Convert writes a notebook with its outputs in another format, in one step. An empty file is not written. When ctx
// ends, nbconvert is killed together with what it started: LaTeX, or a browser.
func (c *Converter) Convert(ctx context.Context, nb *nbformat.Notebook, format, file string) error {
	if file == "" {
		return nil
	}
	dir, remove, err := artifact.TempFolder("tvps-convert-")
	if err != nil {
		return fmt.Errorf("cannot create a temporary folder: %w", err)
	}
	defer func() { _ = remove() }()
	in := filepath.Join(dir, "notebook.ipynb")
	if err := nbformat.Write(in, nb); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, c.program, "--to", format, "--output", "result", in)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Cancel = func() error {
		process.KillGroup(cmd.Process.Pid)
		return nil
	}
	wait, err := process.Start(cmd, process.OwnGroup)
	if err == nil {
		err = wait()
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("nbconvert cannot make %s (%w): %s", file, err, lastLines(log.String()))
	}
	made, err := fs.Glob(os.DirFS(dir), "result.*") // nbconvert chooses the ending
	if err != nil || len(made) != 1 {
		return fmt.Errorf("nbconvert did not make %s: %s", file, lastLines(log.String()))
	}
	data, err := os.ReadFile(filepath.Join(dir, made[0]))
	if err != nil {
		return err
	}
	return nbformat.WriteFile(file, data)
}
