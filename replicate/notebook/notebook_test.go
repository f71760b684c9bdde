package notebook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/replicate/lab"
)

// TestMain lets tests start the test binary as a cell's program.
func TestMain(m *testing.M) {
	switch os.Getenv("NOTEBOOK_TEST_CELL") {
	case "wait":
		ctx := Context()
		fmt.Println("ready")
		<-ctx.Done()
		Exit(fmt.Errorf("with 3 of 8 runs finished: %w", ctx.Err()))
	case "values":
		Values(map[string]float64{"a": 1})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program makes the command that starts this binary as a cell's program.
func program(t *testing.T, what string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Env = append(os.Environ(), "NOTEBOOK_TEST_CELL="+what)
	return cmd, stdout, stderr
}

// An interrupt may reach the program twice. It ends the program with one sentence.
func TestInterruptEndsTheCell(t *testing.T) {
	cmd, _, stderr := program(t, "wait")
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	demand.NoError(t, err)
	demand.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 5))
	demand.NoError(t, err)
	cmd.Process.Signal(os.Interrupt)
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if want := "Interrupted: finished steps are kept; run the cell again to continue.\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
}

// Outside GoNB the text is printed.
func TestPlainOutput(t *testing.T) {
	cmd, stdout, stderr := program(t, "values")
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
	if code := <-exited; code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestDefaults(t *testing.T) {
	for _, name := range []string{"TVPS_RESULTS", "TVPS_OUT", "TVPS_ROOT"} {
		t.Setenv(name, "")
	}
	o := Options{}.withDefaults("fig01")
	if o.Scale != "small" || o.Seeds != "" || o.Results != "results" ||
		o.Out != filepath.Join("figures", "out", "fig01") ||
		o.Workers < 1 {
		t.Errorf("%+v", o)
	}
	t.Setenv("TVPS_RESULTS", "/r")
	checkout := t.TempDir()
	t.Setenv("TVPS_ROOT", checkout)
	if o := (Options{}).withDefaults("fig01"); o.Results != "/r" ||
		o.Out != filepath.Join(checkout, "figures", "out", "fig01") {
		t.Errorf("%+v", o)
	}
	t.Setenv("TVPS_OUT", "/o")
	if o := (Options{Out: "/mine"}).withDefaults("fig01"); o.Out != "/mine" {
		t.Errorf("%+v", o)
	}
	if o := (Options{}).withDefaults("fig01"); o.Out != "/o/fig01" {
		t.Errorf("%+v", o)
	}
	t.Setenv("TVPS_OUT", checkout)
	file := File("my-notebook", "a.csv")
	if err := os.WriteFile(file, nil, 0o644); err != nil || file != filepath.Join(checkout, "my-notebook", "a.csv") {
		t.Errorf("file %s, %v", file, err)
	}
}

// miniature returns options for panel a with very little to compute.
func miniature(t *testing.T) Options {
	dir := t.TempDir()
	t.Setenv("TVPS_CACHE", filepath.Join(dir, "cache"))
	return Options{
		Scale: "tiny", Seeds: "0", Panels: []string{"a"}, Backend: "go", Workers: 1,
		Results: filepath.Join(dir, "results"), Out: filepath.Join(dir, "out"),
		Set: []string{"steps=7", "first=1", "stride=2", "n=30", "test-n=40", "epochs=2", "max-updates=3", "g-updates=3",
			"batch=16", "g-batch=16"},
	}
}

// A computed figure and one from the store leave the same outputs.
func TestFigureTwice(t *testing.T) {
	o := miniature(t)
	last := func() (text, id string, r *lab.Result) {
		rec := record(t)
		r, err := figure(context.Background(), 1, o)
		demand.NoError(t, err)
		m := rec.messages[len(rec.messages)-1]
		for _, other := range rec.messages {
			if other.id != m.id || m.id == "" {
				t.Errorf("an output of its own: %v", other)
			}
		}
		return m.data[plainMIME].(string), m.id, r
	}
	first, id, computed := last()
	if want := "Figure 1, scale tiny: 4 runs, all finished."; first != want || computed.Report.Computed == 0 {
		t.Errorf("%q, want %q", first, want)
	}
	again, other, stored := last()
	if again != first || stored.Report.Computed > 0 {
		t.Errorf("the second time: %q, computed %d runs", again, stored.Report.Computed)
	}
	if id == other {
		t.Error("both cells use the same display id: one bar would replace the other")
	}
	for _, s := range computed.Figure.Source {
		if strings.Contains(s, "Commit ") {
			t.Errorf("the chart names the commit: %q", s)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Out, "provenance.json")); err != nil {
		t.Error(err)
	}
}

func TestFigureErrors(t *testing.T) {
	for _, c := range []struct {
		number int
		change func(*Options)
		want   string
	}{
		{99, func(*Options) {}, "there is no figure 99"},
		{1, func(o *Options) { o.Scale = "tinny" }, `did you mean "tiny"`},
		{1, func(o *Options) { o.Seeds = "0-" }, `seeds: "0-" is neither a seed`},
		{1, func(o *Options) { o.Set = []string{"epohcs=3"} }, `did you mean "epochs"`},
		{1, func(o *Options) { o.Backend = "tpu" }, `the backend "tpu"`},
	} {
		r := record(t)
		o := miniature(t)
		c.change(&o)
		_, err := figure(context.Background(), c.number, o)
		demand.Error(t, err, c.want)
		if len(r.messages) > 0 {
			t.Errorf("something was shown before: %v", r.messages)
		}
	}
}
