package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

func TestOutputs(t *testing.T) {
	k := startFake(t, fakeSpec(t, "well"), Options{})
	var got []Output
	_, err := k.Execute(context.Background(), "shows", func(o Output) { got = append(got, o) })
	demand.NoError(t, err)
	data := map[string]json.RawMessage{
		"text/plain":       json.RawMessage(`"one"`),
		"application/json": json.RawMessage(`{"a":1}`),
	}
	meta := map[string]json.RawMessage{"image/png": json.RawMessage(`{"width":3}`)}
	want := []Output{
		{Type: "stream", Name: "stderr", Text: "warning\n"},
		{Type: "display_data", Data: data, Metadata: meta, DisplayID: "d1"},
		{Type: "update_display_data", Data: data, Metadata: meta, DisplayID: "d1"},
		{Type: "clear_output", Wait: true},
		{Type: "execute_result", Data: data, Metadata: meta},
		{Type: "error", Ename: "E", Evalue: "v", Traceback: []string{"a", "b"}},
	}
	demand.Diff(t, got, want, "the outputs")
}

func TestReplies(t *testing.T) {
	k := startFake(t, fakeSpec(t, "well"), Options{})
	if _, reply := execute(t, k, "nothing"); reply.Status != "ok" {
		t.Errorf("got %+v", reply)
	}
	want := Reply{"error", "Fake", "value", []string{"line"}}
	if _, reply := execute(t, k, "unknown"); !cmp.Equal(want, reply) {
		t.Error(cmp.Diff(want, reply))
	}
	text, _ := execute(t, k, "content")
	if want := `{"allow_stdin":false,"code":"content","silent":false,"stop_on_error":true,` +
		`"store_history":true,"user_expressions":{}}`; text != want {
		t.Errorf("sent %s, want %s", text, want)
	}
}

// Messages in another order, twice, for other clients, or malformed must not change the outputs or the end of a cell.
func TestMisbehaviour(t *testing.T) {
	tests := []struct {
		code, text string
		err        error
	}{
		{code: "reply-first", text: "late"},
		{code: "idle-first", text: "earlyafter idle"},
		{code: "strangers", text: "own"},
		{code: "wrong-signature", text: "true"},
		{code: "malformed", text: "true"},
		{code: "no-idle", text: "out"},
		{code: "input", err: errInput},
		{code: "no-reply", text: "out", err: errNoReply},
	}
	for _, test := range tests {
		t.Run(test.code, func(t *testing.T) {
			k := startFake(t, fakeSpec(t, "well"), Options{})
			text, reply, err := executeWith(t.Context(), k, test.code)
			if text != test.text || !errors.Is(err, test.err) || err == nil && reply.Status != "ok" {
				t.Errorf("got %q, %+v, %v; want %q, %v", text, reply, err, test.text, test.err)
			}
			prints(t, k, "echo next", "next")
		})
	}
}

func TestKernelGone(t *testing.T) {
	tests := []struct{ code, text, message string }{
		{"exit 3", "last words", "(exit status 3); its last messages:\n  the fake kernel gives up"},
		{"exit-child 4", "last words", "exit status 4"},
		{"kill", "", "signal: killed"},
	}
	for _, test := range tests {
		t.Run(test.code, func(t *testing.T) {
			k := startFake(t, fakeSpec(t, "well"), Options{})
			text, _, err := executeWith(context.Background(), k, test.code)
			if !errors.Is(err, ErrKernelDied) || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v, want %q", err, test.message)
			}
			demand.Equal(t, text, test.text, "the cell showed")
			if _, _, again := executeWith(context.Background(), k, "nothing"); !errors.Is(again, ErrKernelDied) {
				t.Errorf("the next cell: %v", again)
			}
		})
	}
}

func TestKernelEndsAfterItsReply(t *testing.T) {
	k := startFake(t, fakeSpec(t, "well"), Options{})
	if _, reply := execute(t, k, "exit-after"); reply.Status != "ok" {
		t.Errorf("got %+v", reply)
	}
	<-k.gone
	if _, _, err := executeWith(context.Background(), k, "nothing"); !errors.Is(err, ErrKernelDied) {
		t.Errorf("the next cell: %v", err)
	}
}

// A cancelled cell is interrupted by signal or message, and the kernel accepts further cells.
func TestCancel(t *testing.T) {
	for _, mode := range []string{"signal", "message"} {
		t.Run(mode, func(t *testing.T) {
			spec := fakeSpec(t, "well")
			spec.InterruptMode = mode
			k := startFake(t, spec, Options{})
			ctx, cancel := context.WithCancel(context.Background())
			reply, err := k.Execute(ctx, "wait 1", func(Output) { cancel() })
			if !errors.Is(err, context.Canceled) || errors.Is(err, ErrKernelDied) || reply.Ename != "Fake" {
				t.Errorf("got %+v, %v", reply, err)
			}
			prints(t, k, "echo next", "next")
		})
	}
}

// A kernel whose cell ignores its interrupt is killed with all of its processes.
func TestCellThatNeverEnds(t *testing.T) {
	k := startFake(t, fakeSpec(t, "well"), Options{})
	k.limits.interrupt = 500 * time.Millisecond
	execute(t, k, "child")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, _, err := executeWith(ctx, k, "hang")
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrKernelDied) ||
		!strings.Contains(err.Error(), "did not stop") {
		t.Errorf("got %v", err)
	}
	if left := fakeProcesses(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// The output of a cell that prints 20 MB is read in pieces, even by a slow reader.
func TestFlood(t *testing.T) {
	const floodMB = 20
	k := startFake(t, fakeSpec(t, "well"), Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	total, most := 0, uint64(0)
	reply, err := k.Execute(context.Background(), fmt.Sprint("flood ", floodMB), func(o Output) {
		total += len(o.Text)
		if total%(floodMB<<20/5) == 0 {
			time.Sleep(10 * time.Millisecond)
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc)
		}
	})
	if err != nil || reply.Status != "ok" || total != floodMB<<20 {
		t.Errorf("got %d bytes, %+v, %v", total, reply, err)
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 10<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

func TestCancelledBefore(t *testing.T) {
	k := startFake(t, fakeSpec(t, "well"), Options{})
	if _, _, err := executeWith(demand.Cancelled(), k, "nothing"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	prints(t, k, "count", "1") // the cancelled cell was not sent
}
