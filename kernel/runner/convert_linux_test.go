package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeConverter returns a Converter whose nbconvert is a shell script. The script's arguments are --to FORMAT --output
// NAME FILE, and PID names a file for it to write a process's number to.
func fakeConverter(t *testing.T, script string) (c *Converter, pid string) {
	t.Helper()
	dir := t.TempDir()
	c = &Converter{program: filepath.Join(dir, "jupyter-nbconvert")}
	if err := os.WriteFile(c.program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	pid = filepath.Join(dir, "pid")
	t.Setenv("PID", pid)
	return c, pid
}

// numberIn waits for a process's number in a file.
func numberIn(t *testing.T, file string) int {
	t.Helper()
	for range 600 {
		text, _ := os.ReadFile(file)
		if line, whole := strings.CutSuffix(string(text), "\n"); whole {
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("nbconvert was not started")
	return 0
}

// ends checks that a process ends. One that has ended and is not waited for has no command line.
func ends(t *testing.T, pid int) {
	t.Helper()
	for range 100 {
		if command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil || len(command) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the process is still running")
}

func TestConvert(t *testing.T) {
	c, _ := fakeConverter(t, `{ echo "$2:"; cat "$5"; } >"$4.$2.html"`)
	file := filepath.Join(t.TempDir(), "a page.html")
	if err := c.Convert(t.Context(), newNotebook("print 7"), "slides", file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "slides:\n{") || !strings.Contains(string(text), `"print 7"`) {
		t.Errorf("%q, %v", text, err)
	}
	for script, want := range map[string]string{
		"echo no xelatex; exit 1": "cannot make " + file + " (exit status 1): no xelatex",
		"echo done":               "did not make " + file,
	} {
		c, _ := fakeConverter(t, script)
		if err := c.Convert(t.Context(), newNotebook(), "pdf", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(text) {
		t.Errorf("a conversion that failed changed the file: %v", err)
	}
}

// TestConvertInterrupted: after Ctrl-C neither nbconvert runs on nor what it started, such as LaTeX.
func TestConvertInterrupted(t *testing.T) {
	c, file := fakeConverter(t, `sleep 100 & echo $! >"$PID"; wait`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Convert(ctx, newNotebook(), "pdf", filepath.Join(t.TempDir(), "a.pdf")) }()
	pid := numberIn(t, file)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ends(t, pid)
}

// TestConvertEndsWithUs: nbconvert does not run on after this program was killed.
func TestConvertEndsWithUs(t *testing.T) {
	const mark = "CONVERT_TEST_PROGRAM"
	if program := os.Getenv(mark); program != "" {
		t.Fatal((&Converter{program: program}).Convert(t.Context(), newNotebook(), "pdf", "a.pdf"))
	}
	c, file := fakeConverter(t, `echo $$ >"$PID"; exec sleep 100`)
	us := exec.Command(os.Args[0], "-test.run=^TestConvertEndsWithUs$")
	us.Env = append(os.Environ(), mark+"="+c.program, "TMPDIR="+t.TempDir())
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	pid := numberIn(t, file)
	_ = us.Process.Kill()
	_ = us.Wait()
	ends(t, pid)
}
