package notebook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
)

// TestMain lets tests start the test binary as a cell's program.
func TestMain(m *testing.M) {
	switch os.Getenv("NOTEBOOK_TEST_CELL") {
	case "wait":
		ctx := Context()
		fmt.Println("ready")
		<-ctx.Done()
		Exit(fmt.Errorf("with 3 of 8 runs finished: %w", ctx.Err()))
	case "serve":
		Serve(context.Background(), os.Stdin, os.Stdout, testCalls)
		os.Exit(0)
	case "values":
		Values(map[string]float64{"a": 1})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startCell makes the command that starts this binary as a cell's program.
func startCell(t *testing.T, what string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Env = append(os.Environ(), "NOTEBOOK_TEST_CELL="+what)
	return cmd, stdout, stderr
}

// An interrupt may reach the program twice. It ends the program with one sentence.
func TestInterruptEndsTheCell(t *testing.T) {
	cmd, _, stderr := startCell(t, "wait")
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	demand.NoError(t, err)
	demand.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 5))
	demand.NoError(t, err)
	cmd.Process.Signal(os.Interrupt)
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	demand.Equal(t, cmd.ProcessState.ExitCode(), 1, "exit code")
	if want := "Interrupted: finished steps are kept; run the cell again to continue.\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
}

// Outside GoNB the text is printed.
func TestPlainOutput(t *testing.T) {
	cmd, stdout, stderr := startCell(t, "values")
	if err := cmd.Run(); err != nil || stdout.String() != "a = 1\n" {
		t.Errorf("%v, stdout %q, stderr %q", err, stdout, stderr)
	}
}

func TestWatch(t *testing.T) {
	signals, cancelled, exited := make(chan os.Signal, 3), make(chan bool, 1), make(chan int, 1)
	go watch(signals, func() { cancelled <- true }, func(code int) { exited <- code })
	signals <- os.Interrupt
	<-cancelled
	signals <- syscall.SIGINT // the same interrupt
	select {
	case <-exited:
		t.Fatal("a repetition of the first signal ends the program")
	case <-time.After(50 * time.Millisecond):
	}
	time.Sleep(repeat)
	signals <- os.Interrupt
	demand.Equal(t, <-exited, 1, "exit code")
}

func TestOutFolder(t *testing.T) {
	checkout := t.TempDir()
	t.Setenv("TVPS_OUT", "")
	t.Setenv("TVPS_ROOT", checkout)
	if out := OutFolder("fig01"); out != filepath.Join(checkout, "figures", "out", "fig01") {
		t.Errorf("in the checkout: %s", out)
	}
	t.Setenv("TVPS_OUT", checkout)
	file := File("my-notebook", "a.csv")
	if err := os.WriteFile(file, nil, 0o644); err != nil || file != filepath.Join(checkout, "my-notebook", "a.csv") {
		t.Errorf("file %s, %v", file, err)
	}
}

// A cell that imports this package links no models, tables, drawing or fonts: those are in the program beside it.
func TestImportsLittle(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	demand.NoError(t, err)
	if heavy := regexp.MustCompile(`(?m)^(tvps/.*|.*(gomlx|arrow|fonts|gonum|chroma).*)$`).FindAllString(string(out), -1); len(heavy) != 1 {
		t.Errorf("linked into cells, besides this package: %q", heavy)
	}
}

// A cell that imports tables or the back test links no drawing or fonts: the command line has their pages.
func TestTablesDrawNothing(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./backtest", "../tables/...", "../../ci/research/natural").Output()
	demand.NoError(t, err)
	drawing := regexp.MustCompile(`(?m)^(tvps/figures.*|.*(fonts|gonum.org/v1/plot|chroma).*)$`)
	if linked := drawing.FindAllString(string(out), -1); len(linked) > 0 {
		t.Errorf("linked into cells: %q", linked)
	}
}
