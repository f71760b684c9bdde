package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"
	"tvps/kernel/setup"
	"tvps/replicate/usage"
)

const dirty = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "no-such", "language": "go"}},
 "cells": [{"cell_type": "code", "id": "a", "metadata": {"tags": ["parameters"]},
    "outputs": [], "execution_count": 3, "source": "var n = 3"}]}`

// envMain is the program's name when a test starts the test binary as the program itself.
const envMain = "KERNEL_TEST_MAIN"

func TestMain(m *testing.M) {
	if name := os.Getenv(envMain); name != "" {
		os.Args[0] = name
		main()
	}
	os.Exit(m.Run())
}

// TestInterruption: Ctrl-C during an installation gives one sentence and exit code 130. Another installation, which
// holds the lock, makes it wait until then.
func TestInterruption(t *testing.T) {
	prefix := t.TempDir()
	unlock, err := artifact.Lock(t.Context(), filepath.Join(prefix, "share", "tvps", "kernel", ".lock"), "", io.Discard)
	demand.NoError(t, err)
	defer unlock()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "install", "--prefix", prefix)
	cmd.Env = append(os.Environ(), envMain+"=kernel")
	stderr, err := cmd.StderrPipe()
	demand.NoError(t, err)
	demand.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	var last string
	for lines.Scan() {
		if last = lines.Text(); strings.Contains(last, "waiting for another process") {
			demand.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	_ = cmd.Wait()
	demand.Equal(t, cmd.ProcessState.ExitCode(), 130, "exit code")
	demand.Equal(t, last, "kernel: interrupted; start the same command again to continue", "the last line")
}

// TestHangup: when the terminal of a run is closed, the run ends and leaves no file in $TMPDIR; under nohup it
// continues.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("nohup ignores SIGHUP for this test, too")
	}
	write(t)
	demand.Write(t, "n.ipynb", strings.ReplaceAll(dirty, "no-such", "silent"))
	demand.Write(t, filepath.Join(os.Getenv("JUPYTER_PATH"), "kernels", "silent", "kernel.json"),
		`{"argv": ["sleep", "100"], "display_name": "Silent", "language": "go"}`)
	for name, signals := range map[string][]os.Signal{
		"": {syscall.SIGHUP}, "nohup": {syscall.SIGHUP, syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `[ "$0" = run ] || trap "" HUP; exec "$@"`, cmp.Or(name, "run"),
				os.Args[0], "run", "n.ipynb")
			cmd.Env = append(os.Environ(), envMain+"=kernel", "TMPDIR="+tmp)
			var log bytes.Buffer
			cmd.Stderr = &log
			demand.NoError(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			files := func() int {
				entries, err := os.ReadDir(tmp)
				demand.NoError(t, err)
				return len(entries)
			}
			demand.Soon(t, "a file in $TMPDIR", func() bool { return files() > 0 })
			for i, s := range signals {
				if i > 0 {
					select {
					case <-ended:
						t.Fatalf("it ended, after %v: %s", signals[:i], log.String())
					case <-time.After(300 * time.Millisecond):
					}
				}
				demand.NoError(t, cmd.Process.Signal(s))
			}
			<-ended
			if code := cmd.ProcessState.ExitCode(); code != 130 || files() > 0 {
				t.Errorf("exit code %d, %d files: %s", code, files(), log.String())
			}
		})
	}
}

// call runs the program and returns its exit code, output and error.
func call(ctx context.Context, args ...string) (code int, out, message string) {
	var b bytes.Buffer
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetOut(&b)
	err := cmd.ExecuteContext(ctx)
	if err != nil {
		message = err.Error()
	}
	return usage.ExitCode(ctx, err), b.String(), message
}

// write writes files into a new folder and changes to it.
func write(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("JUPYTER_PATH", t.TempDir())
	t.Setenv("JUPYTER_DATA_DIR", t.TempDir())
	for _, f := range files {
		demand.Write(t, f, dirty)
	}
}

func TestExitCodes(t *testing.T) {
	root, err := setup.FindRoot()
	demand.NoError(t, err)
	write(t, "a.ipynb", "sub/a.ipynb", "other.ipynb")
	demand.NoError(t, os.Symlink("a.ipynb", "link.ipynb"))
	t.Setenv("PATH", t.TempDir()) // without nbconvert
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("TVPS_ROOT", root)
	demand.Write(t, "text.ipynb", "no notebook")
	if code, _, message := call(context.Background()); code != 0 || message != "" {
		t.Errorf("without arguments: exit code %d, %q", code, message)
	}
	for args, want := range map[string]string{
		"rum":                                 `did you mean "run"?`,
		"run":                                 "needs a notebook",
		"clean":                               "needs a notebook",
		"run --no-such-flag":                  "see `kernel run --help`",
		"check a.ipynb --jobs 0":              "--jobs must be at least 1",
		"run a.ipynb --timeout -1s":           "--timeout must be at least 0",
		"run a.ipynb -p n":                    `-p takes name=value, but got "n"`,
		"run a.ipynb -p m=1":                  "n (int, default 3)",
		"run a.ipynb -p n=1.5":                `"1.5" is not a whole number`,
		"run a.ipynb":                         `"no-such"`,
		"run text.ipynb":                      "text.ipynb is damaged",
		"clean text.ipynb":                    "text.ipynb is damaged",
		"check text.ipynb":                    "text.ipynb is damaged",
		"check missing.ipynb":                 "missing.ipynb",
		"check a.ipynb --results other.ipynb": "--results: the output folder other.ipynb is a file; name a folder",
		"run missing.ipynb":                   "missing.ipynb",
		"run a.ipynb other.ipynb":             "takes one notebook",
		"run a.ipynb -o sub":                  "sub is a folder; name a file",
		"run a.ipynb -o a.ipynb":              `"no-such"`, // in place, which is allowed
		"clean missing.ipynb":                 "missing.ipynb",
		"install --prefix=":                   "--prefix is empty",
		"lab --prefix a.ipynb/new/x":          "--prefix: the output folder a.ipynb/new/x is below a file; choose another one",
		"check a.ipynb -o a.ipynb/x":          "--output: the output folder a.ipynb/x is below a file",
	} {
		code, _, message := call(context.Background(), strings.Fields(args)...)
		if code != 2 || !strings.Contains(message, want) {
			t.Errorf("kernel %s: exit code %d, %q; want 2, %q", args, code, message, want)
		}
	}
	for _, folder := range []string{"out", "new"} {
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("a call that failed made the folder %s", folder)
		}
	}
}

func TestClean(t *testing.T) {
	write(t, "a.ipynb", "b.ipynb")
	if code, _, message := call(context.Background(), "clean", "--check", "a.ipynb", "b.ipynb"); code != 1 ||
		!strings.Contains(message, "not clean: a.ipynb, b.ipynb") {
		t.Errorf("check: %d, %q", code, message)
	}
	if data, _ := os.ReadFile("a.ipynb"); string(data) != dirty {
		t.Error("--check changed the file")
	}
	if code, out, message := call(context.Background(), "clean", "a.ipynb"); code != 0 || out != "cleaned a.ipynb\n" {
		t.Errorf("clean: %d, %q, %q", code, out, message)
	}
	before, err := os.Stat("a.ipynb")
	demand.NoError(t, err)
	if code, out, message := call(context.Background(), "clean", "a.ipynb", "missing.ipynb", "b.ipynb"); code != 2 ||
		out != "cleaned b.ipynb\n" {
		t.Errorf("clean again: %d, %q, %q", code, out, message)
	}
	if after, err := os.Stat("a.ipynb"); err != nil || !os.SameFile(before, after) {
		t.Error("a clean file was written again")
	}
	if code, _, message := call(context.Background(), "clean", "--check", "a.ipynb", "b.ipynb"); code != 0 {
		t.Errorf("check after clean: %d, %q", code, message)
	}
}

// TestCheckAnywhere: a notebook that is named needs no checkout; all of them do.
func TestCheckAnywhere(t *testing.T) {
	write(t, "a.ipynb")
	t.Setenv("TVPS_ROOT", "")
	code, out, message := call(context.Background(), "check", "a.ipynb")
	if code != 0 || !strings.Contains(out, "skipped: its kernel is not installed") {
		t.Errorf("a notebook: exit code %d, %q, %q", code, out, message)
	}
	code, _, message = call(context.Background(), "check")
	if code != 1 || !strings.Contains(message, "not in a checkout") {
		t.Errorf("all notebooks: exit code %d, %q", code, message)
	}
}

// TestAllNotebooks: all notebooks are found, whatever the folder of the checkout is called.
func TestAllNotebooks(t *testing.T) {
	write(t, "tvps[1]/notebooks/a.ipynb", "tvps[1]/notebooks/b.ipynb")
	files, err := allNotebooks("tvps[1]")
	want := []string{filepath.Join("tvps[1]", "notebooks", "a.ipynb"), filepath.Join("tvps[1]", "notebooks", "b.ipynb")}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("%q, %v, want %q", files, err, want)
	}
}
