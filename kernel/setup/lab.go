package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tvps/data/artifact"
)

// LabVersion is the JupyterLab of the private environment.
const LabVersion = "4.6.6"

// labFix is the remedy for a missing JupyterLab.
func labFix(l Layout) string {
	return l.command("lab --venv") + " installs a private one; " +
		"or use `python3 -m pip install jupyterlab==" + LabVersion + "`"
}

// LabOptions configures Lab.
type LabOptions struct {
	Venv    bool           // use the private environment; create it if it is missing
	Args    []string       // further arguments for JupyterLab
	Install InstallOptions // for the kernel, if it must be installed; Log is for JupyterLab, too
}

// Lab runs JupyterLab in the checkout until it ends: its notebooks link to other files there. The end of ctx stops it
// and its kernels without an error. If the kernel is missing or out of date, Lab installs it first.
func Lab(ctx context.Context, l Layout, o LabOptions) error {
	lab, err := findLab(l)
	if o.Venv {
		lab, err = l.venvLab(), makeVenv(ctx, l, o.Install.Log)
	}
	if err != nil {
		return err
	}
	if err := installIfStale(ctx, l, o.Install); err != nil {
		return err
	}
	trust(ctx, l, lab, o.Install.Log)
	fmt.Fprintf(o.Install.Log, "starting JupyterLab from %s; Ctrl-C stops it and its kernels\n", lab)
	command := []string{lab, "--ServerApp.root_dir=" + l.Root, "--LabApp.default_url=" + firstPage}
	if os.Geteuid() == 0 {
		command = append(command, "--allow-root") // usual in containers; JupyterLab does not start otherwise
	}
	return runLab(ctx, l, append(command, o.Args...), o.Install.Log)
}

// trust makes JupyterLab show the pictures and charts in the notebooks of the checkout before their cells have run:
// whoever starts this program trusts the checkout.
func trust(ctx context.Context, l Layout, lab string, log io.Writer) {
	files, _ := filepath.Glob(filepath.Join(l.Root, "notebooks", "*.ipynb"))
	out, err := exec.CommandContext(ctx, filepath.Join(filepath.Dir(lab), "jupyter-trust"), files...).CombinedOutput()
	if err != nil {
		fmt.Fprintf(log, "warning: stored pictures may not be shown: jupyter-trust: %v\n%s", err, out)
	}
}

// firstPage is what JupyterLab opens.
const firstPage = "/lab/tree/notebooks/00-index.ipynb"

func installIfStale(ctx context.Context, l Layout, o InstallOptions) error {
	t, err := findGo(ctx, l.Root)
	if err != nil {
		return err
	}
	problem := specProblem(l, t)
	for _, p := range []programs{l.programs(), l.gopls()} {
		if problem == "" {
			problem = p.stale(ctx)
		}
	}
	if problem == "" {
		return nil
	}
	fmt.Fprintf(o.Log, "installing the kernel: %s\n", problem)
	return Install(ctx, l, o)
}

// runLab runs JupyterLab in a process group of its own, because it would ask for confirmation after a terminal's
// Ctrl-C. When ctx ends, it gets SIGTERM, which makes it stop its kernels and end. After 20 seconds it and its group
// are killed. If this process is killed, so is JupyterLab, and its kernels end as their server is gone.
// SIGTERM to `go run` ends go alone: then JupyterLab ends, too.
func runLab(ctx context.Context, l Layout, command []string, log io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go endWithGo(ctx, cancel)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = l.Root // gonb treats it as the folder that Jupyter serves
	path := l.Jupyter
	if list := os.Getenv("JUPYTER_PATH"); list != "" {
		path += string(os.PathListSeparator) + list
	}
	cmd.Env = append(os.Environ(), "JUPYTER_PATH="+path)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	wait, err := artifact.Start(cmd, artifact.OwnGroup)
	if err == nil {
		err = wait()
	}
	if ctx.Err() != nil {
		if cmd.Process != nil {
			artifact.KillGroup(cmd.Process.Pid)
		}
		return nil // Ctrl-C is the normal end
	}
	if err != nil {
		return fmt.Errorf("JupyterLab failed: %w; its messages are above. If it does not start at all, remove %s; then %s "+
			"makes a private one", err, l.venv(), l.command("lab --venv"))
	}
	return nil
}

// endWithGo calls cancel when the parent process has ended, if that is the go command.
func endWithGo(ctx context.Context, cancel func()) {
	parent := os.Getppid()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err != nil { // not Linux
		name, _ = exec.CommandContext(ctx, "ps", "-o", "comm=", "-p", strconv.Itoa(parent)).Output()
	}
	if filepath.Base(strings.TrimSpace(string(name))) != "go" {
		return
	}
	for ctx.Err() == nil && os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	cancel()
}

// findLab returns the path of the JupyterLab on PATH, such as that of an active virtual environment, or else of the
// private one.
func findLab(l Layout) (string, error) {
	if path, err := exec.LookPath("jupyter-lab"); err == nil {
		return path, nil
	}
	if !l.venvComplete() {
		return "", errors.New("JupyterLab is not installed: " + labFix(l))
	}
	return l.venvLab(), nil
}

// NextSteps says what to do after an installation.
func NextSteps(l Layout) string {
	first := "Next: " + l.command("lab") + " opens the notebooks; " +
		"any other JupyterLab offers the kernel \"Go (tvps)\", too."
	if l.Prefix != "" {
		first = fmt.Sprintf("Next: %s opens the notebooks; another JupyterLab needs JUPYTER_PATH=%q.",
			l.command("lab"), l.Jupyter)
	}
	if _, err := findLab(l); err != nil {
		first = "Next: install JupyterLab, which is missing: " + labFix(l) + "."
	}
	return first
}
