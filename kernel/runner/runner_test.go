package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

func TestRun(t *testing.T) {
	b := newFixture(t)
	nb := newNotebook("print one", "#skip-execution print two", "", "#raises-exception fail three", "print four")
	nb.Cells = append(nb.Cells, &nbformat.Cell{Type: nbformat.Markdown, Source: "print five"})
	nb.Cells[1].Outputs = []nbformat.Output{{Type: nbformat.Stream, Name: "stdout", Text: "kept"}}
	nb.Cells[4].Outputs = []nbformat.Output{{Type: nbformat.Stream, Name: "stdout", Text: "old"}}
	result, err := Run(context.Background(), nb, b.Options)
	demand.NoError(t, err)
	if want := (Result{Ran: 3, Skipped: 1}); result != want {
		t.Errorf("result %+v, want %+v", result, want)
	}
	demand.Diff(t, b.ran, []string{"print one", "fail three", "print four"}, "cells that ran")
	want := "stdout:one~ / stdout:kept /  / stderr:why it failed~~|three / stdout:four~ / "
	if got := outputs(b.saved(t)); got != want {
		t.Errorf("outputs\n%s, want\n%s", got, want)
	}
	if b.saves != 3 || !b.closed || nb.Cells[4].ExecutionCount != 3 {
		t.Errorf("saved %d times, closed %v, execution count %d", b.saves, b.closed, nb.Cells[4].ExecutionCount)
	}
}

func TestFailingCell(t *testing.T) {
	for name, c := range map[string]struct {
		source, want, left string
		died               bool
	}{
		"error": {"fail exit status 4",
			"code cell 2 of 3 failed: exit status 4\nwhy it failed\nIts source:\n    fail exit status 4",
			"stderr:why it failed~~|exit status 4", false},
		"long source": {"fail x\n1\n2\n3\n4\n5\n6", "\n    4\n    ... (2 more lines)",
			"stderr:why it failed~~|x~1~2~3~4~5~6", false},
		"kernel dies": {"die", "code cell 2 of 3 failed: the kernel died: its process ended", "stdout:last words~", true},
	} {
		b := newFixture(t)
		nb := newNotebook("print one", c.source, "print never")
		nb.Cells[2].Outputs = []nbformat.Output{{Type: nbformat.Stream, Name: "stdout", Text: "of an earlier run"}}
		_, err := Run(context.Background(), nb, b.Options)
		var failed *CellError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) ||
			errors.Is(err, jupyter.ErrKernelDied) != c.died {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		got := outputs(b.saved(t))
		if want := "stdout:one~ / " + c.left + " / "; got != want {
			t.Errorf("%s: outputs %s, want %s", name, got, want)
		}
		if !b.closed {
			t.Errorf("%s: the kernel was not closed", name)
		}
	}
}

// With AllowErrors all cells run, but not without a kernel.
func TestAllowErrors(t *testing.T) {
	b := newFixture(t)
	var live bytes.Buffer
	b.AllowErrors, b.Timeout, b.Live = true, 50*time.Millisecond, &live
	nb := newNotebook("fail x", "hang", "print two")
	if result, err := Run(context.Background(), nb, b.Options); err != nil || result.Ran != 3 {
		t.Errorf("%d cells ran, %v", result.Ran, err)
	}
	demand.Words(t, live.String(), "begun\nthe cell was interrupted: it did not end within 50ms\n")
	if got, want := outputs(b.saved(t)), "stderr:why it failed~~|x / stdout:begun~ / stdout:two~"; got != want {
		t.Errorf("outputs %s, want %s", got, want)
	}
	b = newFixture(t)
	b.AllowErrors = true
	if _, err := Run(context.Background(), newNotebook("die"), b.Options); !errors.Is(err, jupyter.ErrKernelDied) {
		t.Errorf("the kernel died: %v", err)
	}
}

// GoNB prints the exit status to stderr as well; the error must show it only once.
func TestReason(t *testing.T) {
	s := &step{
		Cell: &nbformat.Cell{
			Outputs: []nbformat.Output{{Type: nbformat.Stream, Name: "stderr", Text: "why\nexit status 4\n"}},
		},
	}
	reply := jupyter.Reply{Ename: gonbError, Evalue: "exit status 4", Traceback: []string{"exit status 4"}}
	if got := reason(s, reply); got != "exit status 4\nwhy" {
		t.Errorf("%q", got)
	}
	long := append([]string{"panic: boom"}, strings.Split(strings.Repeat("main.go ", 30), " ")...)
	reply = jupyter.Reply{Ename: gonbError, Evalue: "panic: boom", Traceback: long}
	if got := reason(s, reply); !strings.HasPrefix(got, "panic: boom\n...\nmain.go") {
		t.Errorf("%q", got)
	}
	reply = jupyter.Reply{Ename: "ValueError", Evalue: "no", Traceback: []string{"\x1b[31mline 1\x1b[0m", "", "line 2"}}
	if got := reason(s, reply); got != "ValueError: no\nline 1\nline 2" {
		t.Errorf("%q", got)
	}
}

// TestNothingToRun: without a cell to run no kernel starts, and the notebook is saved.
func TestNothingToRun(t *testing.T) {
	for _, sources := range [][]string{{}, {""}, {"#skip-execution print two"}} {
		b := newFixture(t)
		b.Start = func(context.Context) (Kernel, error) { return nil, errors.New("a kernel was started") }
		nb := newNotebook(sources...)
		nb.Cells = append(nb.Cells, &nbformat.Cell{Type: nbformat.Markdown, Source: "only text"})
		result, err := Run(t.Context(), nb, b.Options)
		if err != nil || result.Ran != 0 || b.saves != 1 {
			t.Errorf("%q: %+v, saved %d times, %v", sources, result, b.saves, err)
		}
	}
}

func TestTimeout(t *testing.T) {
	b := newFixture(t)
	b.Timeout = time.Millisecond
	nb := newNotebook("hang", "print never")
	_, err := Run(context.Background(), nb, b.Options)
	demand.Words(t, fmt.Sprint(err), "code cell 1 of 2 failed: the cell was interrupted: it did not end within 1ms\n")
	demand.Equal(t, outputs(b.saved(t)), "stdout:begun~ / ", "outputs")
}

func TestInterrupt(t *testing.T) {
	b := newFixture(t)
	b.enter = make(chan string)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-b.enter; cancel() }()
	_, err := Run(ctx, newNotebook("print one", "hang", "print never"), b.Options)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted in code cell 2 of 3") {
		t.Errorf("error %v", err)
	}
	saved := b.saved(t)
	if got := outputs(saved); got != "stdout:one~ / stdout:begun~ / " || !b.closed {
		t.Errorf("outputs %s, closed %v", got, b.closed)
	}
}

func TestSaveFails(t *testing.T) {
	b := newFixture(t)
	b.Save = func(*nbformat.Notebook) error { return errors.New("disk full") }
	if _, err := Run(context.Background(), newNotebook("print one", "print two"), b.Options); err == nil ||
		err.Error() != "disk full" ||
		len(b.ran) != 1 {
		t.Errorf("error %v after %q", err, b.ran)
	}
}

func TestOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		cells []string
		want  string
	}{
		"streams are joined": {
			[]string{`script out a\n` + "\n" + `out b` + "\n" + `out c\n` + "\n" + `err d` + "\n" + `out e`},
			"stdout:a~bc~|stderr:d|stdout:e",
		},
		"carriage returns": {
			[]string{`script out 10%\r` + "\n" + `out 20%` + "\n" + `out \r100%` + "\n" + `out \r` + "\n" + `out \nx\ry`},
			"stdout:100%~y",
		},
		"clear":                    {[]string{"script out a\nclear\nout b"}, "stdout:b"},
		"clear and wait":           {[]string{"script out a\nclear-wait\nshow - b\nout c"}, "b|stdout:c"},
		"clear and wait for never": {[]string{"script out a\nclear-wait"}, "stdout:a"},
		"update":                   {[]string{"script show x a\nshow y b\nupdate x c"}, "c|b"},
		"update of another cell":   {[]string{"script show x a", "script update x b\nout c"}, "b / stdout:c"},
		"shown again":              {[]string{"script show x a\nshow x b"}, "b|b"},
		"update after clear":       {[]string{"script show x a\nclear\nupdate x b\nout c"}, "stdout:c"},
		"update of nothing":        {[]string{"script update x b"}, ""},
		"progress bar":             {[]string{"script out 10%\\r50%\\r100%\\n\nerr x\nout 23"}, "stdout:100%~|stderr:x|stdout:23"},
	} {
		b := newFixture(t)
		_, err := Run(context.Background(), newNotebook(c.cells...), b.Options)
		demand.NoError(t, err)
		demand.Equal(t, outputs(b.saved(t)), c.want, "%s", name)
	}
}

func TestLive(t *testing.T) {
	b := newFixture(t)
	var live bytes.Buffer
	b.Live = &live
	nb := newNotebook(
		"// why\n\nprint one\nmore",
		"script out open\nshow x ",
		"script show x shown\nerr x\\n\nupdate x no",
		"#raises-exception fail three",
	)
	_, err := Run(context.Background(), nb, b.Options)
	demand.NoError(t, err)
	want := "[1/4] print one\n[2/4] script out open\nopen\n[3/4] script show x shown\nshown\nx\n[4/4] fail three\n" +
		"why it failed\n\nthree\n"
	demand.Diff(t, live.String(), want, "what is shown live")
}

// An output that changes in place is shown again after a while.
func TestLiveUpdates(t *testing.T) {
	var live bytes.Buffer
	c := &collector{r: &run{o: Options{Live: &live}}}
	bar := func(kind, text string) {
		c.show(jupyter.Output{Type: kind, DisplayID: "bar", Data: map[string]json.RawMessage{
			"text/plain": json.RawMessage(`"` + text + `"`)}})
	}
	bar("display_data", "10%")
	bar("update_display_data", "20%")
	c.updated = time.Now().Add(-updatesEvery)
	bar("update_display_data", "30%")
	bar("update_display_data", "40%")
	demand.Equal(t, live.String(), "10%\n30%\n", "shown")
}
