package notebook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	case "curve":
		Plot(1, "t", "x", "y", Curve("fine", nil, nil), Curve("c", []float64{1}, nil))
		os.Exit(0)
	case "NaN":
		cell{}.display(message{data: map[string]any{"application/json": math.NaN()}})
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

// An output that GoNB cannot encode, or a curve that cannot be drawn, fails the cell.
func TestWrongOutput(t *testing.T) {
	for cell, want := range map[string]string{
		"NaN":   "an output cannot be shown: json: unsupported value: NaN\n",
		"curve": "the curve \"c\" has 1 values of x and 0 of y: a point needs both\n",
	} {
		cmd, _, stderr := startCell(t, cell)
		demand.Equal(t, fmt.Sprint(cmd.Run()), "exit status 1", "the end of %s", cell)
		demand.Equal(t, stderr.String(), want, "stderr of %s", cell)
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

// testCalls are those of a program that tests start.
var testCalls = map[string]Call{
	"show": func(_ context.Context, args json.RawMessage) (any, error) {
		Show("<b>"+string(args)+"</b>", string(args), map[string]float64{"third": 1. / 3})
		p := NewProgress()
		p.End("done")
		return []int{1, 2}, nil
	},
	"fail": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("there is no figure 99") },
	"wait": func(ctx context.Context, _ json.RawMessage) (any, error) {
		Say("waiting")
		<-ctx.Done()
		return nil, ctx.Err()
	},
	"die": func(context.Context, json.RawMessage) (any, error) { os.Exit(3); return nil, nil },
}

// testPeer starts this binary as the program beside a cell, whose context is ctx.
func testPeer(t *testing.T, ctx context.Context) *peer {
	t.Helper()
	cmd, _, _ := startCell(t, "serve")
	cmd.Stdout = nil
	p, err := startPeer(ctx, cmd)
	demand.NoError(t, err)
	return p
}

// The outputs of a call come to the cell as the program made them, then its result.
func TestAsk(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, p := record(t), testPeer(t, ctx)
	var result []int
	demand.NoError(t, p.ask(ctx, "show", "a b", &result))
	if len(result) != 2 || result[1] != 2 || len(r.messages) != 2 || r.messages[1].id == "" {
		t.Fatalf("result %v, messages %v", result, r.messages)
	}
	demand.Equal(t, r.content(t, 0, HTMLMIME), `<b>"a b"</b>`, "html")
	demand.Equal(t, values(t, r.messages[0])["third"], 1./3, "the number")
	demand.Error(t, p.ask(ctx, "fail", nil, nil), "there is no figure 99")
	demand.Error(t, p.ask(ctx, "unknown", nil, nil), `no call "unknown"`)
	cancel()
	if err := p.wait(); err != nil {
		t.Errorf("after the end of the cell: %v", err)
	}
}

// An interrupt of the cell ends a call of the program, which stops by itself.
func TestAskInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, p := record(t), testPeer(t, ctx)
	before := output
	output = cancelling{r, cancel}
	defer func() { output = before }()
	if err := p.ask(ctx, "wait", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := p.wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

// cancelling is a sink that interrupts the cell.
type cancelling struct {
	*recorder
	cancel func()
}

func (c cancelling) display(m message) { c.recorder.display(m); c.cancel() }

func TestAskADeadProgram(t *testing.T) {
	record(t)
	demand.Error(t, testPeer(t, t.Context()).ask(t.Context(), "die", nil, nil), "tvps-notebook ended before it answered: exit status 3")
}
