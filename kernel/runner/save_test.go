package runner

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// The file has a running cell's outputs before the cell ends.
func TestSavedWhileRunning(t *testing.T) {
	b := newFixture(t)
	defer func(before time.Duration) { saveEvery = before }(saveEvery)
	saveEvery = 5 * time.Millisecond
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
	defer func(before time.Duration) { saveEvery = before }(saveEvery)
	saveEvery = time.Millisecond
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
