package notebook

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"tvps/ci/demand"
)

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
