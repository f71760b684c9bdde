package robots

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"tvps/data/artifact"
	"tvps/replicate/runs"
)

// checkpoint is what a group keeps with its agents in the file from which it continues. It is written between two
// episodes. Environments need none: an episode's start depends on its number and seed alone.
type checkpoint struct {
	Episode int         `json:"episode"` // the next one
	Returns [][]float64 `json:"returns"` // [seeds][episodes since the last evaluation]
}

// A checkpoint is written at most every 30 seconds, and takes at most a twentieth of the time.
const (
	saveInterval = 30 * time.Second
	saveShare    = 20
)

// saveIfDue writes a checkpoint if the last one is old enough or ctx is cancelled. It then returns the error of ctx.
func (t *training) saveIfDue(ctx context.Context) error {
	if ctx.Err() == nil && time.Since(t.saved) < max(saveInterval, saveShare*t.saveTime) {
		return nil
	}
	begin := time.Now()
	if err := t.save(); err != nil {
		return &runs.WriteError{What: "checkpoint", Path: t.state, Err: err}
	}
	t.saved, t.saveTime = time.Now(), time.Since(begin)
	return ctx.Err()
}

// save replaces the file in one atomic step.
func (t *training) save() error {
	file, err := artifact.Create(t.state, 0o644)
	if err != nil {
		return err
	}
	defer file.Cleanup()
	buffer := bufio.NewWriterSize(file, 1<<20)
	if err := t.agent.Save(buffer, checkpoint{t.episode, t.returns}); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	return artifact.Commit(file)
}

// begin continues from the checkpoint, or starts from scratch if there is none. One that cannot be used is removed: it
// is damaged, of an older program, or of a group of other seeds.
func (t *training) begin() error {
	if err := t.restart(); err != nil {
		return err
	}
	err := t.load()
	switch {
	case err == nil:
		t.log("seeds %d continue at episode %d", t.seeds, t.episode)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	t.log("the checkpoint of seeds %d cannot be used (%v): training starts from scratch", t.seeds, err)
	if err := os.Remove(t.state); err != nil {
		return err
	}
	return t.restart()
}

// load reads the checkpoint. After an error the agents must not be used.
func (t *training) load() error {
	file, err := os.Open(t.state)
	if err != nil {
		return err
	}
	defer file.Close()
	var c checkpoint
	if err := t.agent.Load(file, &c); err != nil {
		return err
	}
	t.episode, t.returns = c.Episode, c.Returns
	return nil
}
