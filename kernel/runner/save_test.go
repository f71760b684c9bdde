package runner

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"

	"github.com/google/go-cmp/cmp"
)

// The file has a running cell's outputs before the cell ends.
func TestSavedWhileRunning(t *testing.T) {
	b := newFixture(t)
	b.Every = 5 * time.Millisecond
	b.enter = make(chan string, 1)
	nb := newNotebook("print done", "hang")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := Run(ctx, nb, b.Options)
		done <- err
	}()
	<-b.enter
	demand.Soon(t, "the outputs of the running cell", func() bool {
		_, err := os.Stat(b.file)
		return err == nil && outputs(b.saved(t)) == "stdout:done~ / stdout:begun~"
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A disk that is full while a cell runs is reported once, at the end of the cell.
func TestSaveFailsWhileRunning(t *testing.T) {
	b := newFixture(t)
	b.Every = time.Millisecond
	full := errors.New("disk full")
	failed := make(chan bool, 1)
	b.Save = func(*nbformat.Notebook) error {
		select {
		case failed <- true:
			return full
		default:
			return nil
		}
	}
	b.Start = func(context.Context) (Kernel, error) { return waiting{b.scripted, failed}, nil }
	if _, err := Run(context.Background(), newNotebook("print x"), b.Options); !errors.Is(err, full) ||
		strings.Count(err.Error(), "disk full") != 1 {
		t.Errorf("error %v", err)
	}
}

// waiting is a kernel whose cells end after a save has failed.
type waiting struct {
	*scripted
	failed chan bool
}

func (k waiting) Execute(ctx context.Context, code string, on func(jupyter.Output)) (jupyter.Reply, error) {
	reply, err := k.scripted.Execute(ctx, code, on)
	k.failed <- <-k.failed
	return reply, err
}

// The expected metadata are those of Jupyter's own runner, nbclient.
func TestWidgets(t *testing.T) {
	w := widgets{}
	update := func(model, state string, buffers ...jupyter.Buffer) {
		o := jupyter.Output{Type: "widget", Model: model, Buffers: buffers}
		if err := json.Unmarshal([]byte(state), &o.State); err != nil {
			t.Fatal(err)
		}
		w.update(o)
	}
	nb := newNotebook()
	w.record(nb)
	if len(nb.Metadata) != 0 {
		t.Errorf("without widgets: %v", nb.Metadata)
	}
	update("m", `{"_model_name": "IntSliderModel", "_model_module": "controls", "_model_module_version": "2", "value": 1}`)
	update("m", `{"value": 7}`, jupyter.Buffer{Path: json.RawMessage(`["b"]`), Data: []byte{0, 255}},
		jupyter.Buffer{Path: json.RawMessage(`["a"]`), Data: nil})
	update("m", `{}`, jupyter.Buffer{Path: json.RawMessage(`["a"]`), Data: []byte{1}})
	update("other", `{"value": 3}`)
	w.record(nb)
	text, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Metadata struct{ Widgets any } }
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(`{"application/vnd.jupyter.widget-state+json": {
		"version_major": 2, "version_minor": 0, "state": {"m": {
			"model_name": "IntSliderModel", "model_module": "controls", "model_module_version": "2",
			"state": {"_model_name": "IntSliderModel", "_model_module": "controls", "_model_module_version": "2", "value": 7},
			"buffers": [{"path": ["a"], "encoding": "base64", "data": "AQ=="},
				{"path": ["b"], "encoding": "base64", "data": "AP8="}]
		}}}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Metadata.Widgets); diff != "" {
		t.Error(diff)
	}
}
