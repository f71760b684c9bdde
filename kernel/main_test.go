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

// envMain is set when a test starts the test binary as the program itself.
const envMain = "KERNEL_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestInterruption: Ctrl-C during an installation gives one sentence and exit code 130. Another installation, which
// holds the lock, makes it wait until then.
func TestInterruption(t *testing.T) {
	bin := t.TempDir()
	demand.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), nil, 0o755)) // only looked up
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for args, lock := range map[string]string{"install": ".lock", "lab --venv": ".jupyterlab.lock"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel() // each waits for seconds
			prefix := t.TempDir()
			unlock, err := artifact.Lock(t.Context(), filepath.Join(prefix, "share", "tvps", "kernel", lock), "", io.Discard)
			demand.NoError(t, err)
			defer unlock()
			cmd := exec.CommandContext(t.Context(), os.Args[0], append(strings.Fields(args), "--prefix", prefix)...)
			cmd.Env = append(os.Environ(), envMain+"=1")
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
			if code := cmd.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			if want := "kernel: interrupted; start the same command again to continue"; last != want {
				t.Errorf("the last line is %q, want %q", last, want)
			}
		})
	}
}

// TestHangup: when the terminal of a run is closed, the run ends and leaves no file in $TMPDIR; under nohup it
// continues.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("nohup ignores SIGHUP for this test, too")
	}
	write(t, "n.ipynb")
	demand.Write(t, filepath.Join(os.Getenv("JUPYTER_PATH"), "kernels", "silent", "kernel.json"),
		`{"argv": ["sleep", "100"], "display_name": "Silent", "language": "go"}`)
	for name, signals := range map[string][]os.Signal{
		"": {syscall.SIGHUP}, "nohup": {syscall.SIGHUP, syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `[ "$0" = run ] || trap "" HUP; exec "$@"`, cmp.Or(name, "run"),
				os.Args[0], "run", "n.ipynb", "--kernel", "silent")
			cmd.Env = append(os.Environ(), envMain+"=1", "TMPDIR="+tmp)
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
			for begin := time.Now(); files() == 0 && time.Since(begin) < time.Minute; {
				time.Sleep(10 * time.Millisecond)
			}
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
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 0, ""},
		{"rum", 2, `did you mean "run"?`},
		{"run", 2, "needs a notebook"},
		{"clean", 2, "needs a notebook"},
		{"run --no-such-flag", 2, "see `kernel run --help`"},
		{"run a.ipynb --jobs 0", 2, "--jobs must be at least 1"},
		{"run a.ipynb --timeout -1s", 2, "--timeout at least 0"},
		{"run a.ipynb -p n", 2, `-p takes name=value, but got "n"`},
		{"run a.ipynb -p m=1", 2, "n (int, default 3)"},
		{"run a.ipynb -p n=1.5", 2, `"1.5" is not a whole number`},
		{"run a.ipynb sub/a.ipynb -o out", 2, "would both be written to " + filepath.Join("out", "a.ipynb")},
		{"run a.ipynb", 2, `"no-such"`},
		{"run text.ipynb", 2, "text.ipynb is damaged"},
		{"clean text.ipynb", 2, "text.ipynb is damaged"},
		{"check text.ipynb", 2, "text.ipynb is damaged"},
		{"check missing.ipynb", 2, "missing.ipynb"},
		{"check a.ipynb --junit sub", 2, "--junit: the output sub is a folder; name a file"},
		{"check a.ipynb --results other.ipynb", 2, "--results: the output folder other.ipynb is a file; name a folder"},
		{"run missing.ipynb", 2, "missing.ipynb"},
		{"run a.ipynb --cwd missing", 2, "--cwd missing is not a folder"},
		{"run a.ipynb -o same --html ./same", 2, "would both be written to ./same"},
		{"run a.ipynb --html ./a.ipynb", 2, "over the notebook ./a.ipynb"},
		{"run a.ipynb --html link.ipynb", 2, "over the notebook link.ipynb"},
		{"run a.ipynb other.ipynb -o sub/../", 2, `"no-such"`}, // each to itself
		{"run a.ipynb -o a.ipynb", 2, `"no-such"`},             // in place, which is allowed
		{"run sub/a.ipynb other.ipynb -o .", 2, `"no-such"`},
		{"run sub/a.ipynb a.ipynb -o .", 2, "a result of sub/a.ipynb would be written over the notebook a.ipynb"},
		{"clean missing.ipynb", 2, "missing.ipynb"},
	} {
		code, _, message := call(context.Background(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(message, c.want) {
			t.Errorf("kernel %s: exit code %d, %q; want %d, %q", c.args, code, message, c.code, c.want)
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

func TestTarget(t *testing.T) {
	t.Chdir(t.TempDir())
	demand.NoError(t, os.Mkdir("there", 0o755))
	for _, c := range []struct {
		path  string
		files int
		want  string
	}{
		{"", 1, ""}, {"", 2, ""},
		{"out.ipynb", 1, "out.ipynb"}, {"out", 2, filepath.Join("out", "a.ipynb")},
		{"there", 1, filepath.Join("there", "a.ipynb")}, {"new/", 1, filepath.Join("new", "a.ipynb")},
	} {
		if got := target(c.path, filepath.Join("dir", "a.ipynb"), ".ipynb", c.files); got != c.want {
			t.Errorf("target %q of %d files: %q, want %q", c.path, c.files, got, c.want)
		}
	}
}

// TestNotebooksToCheck: all notebooks are found, whatever the folder of the checkout is called.
func TestNotebooksToCheck(t *testing.T) {
	write(t, "tvps[1]/notebooks/a.ipynb", "tvps[1]/notebooks/b.ipynb")
	files, err := notebooksToCheck("tvps[1]", nil)
	want := []string{filepath.Join("tvps[1]", "notebooks", "a.ipynb"), filepath.Join("tvps[1]", "notebooks", "b.ipynb")}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("%q, %v, want %q", files, err, want)
	}
}
