package reinforce

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/google/renameio/v2"
)

// A checkpoint is a line of JSON and behind it the agents, between two episodes of training. There are
// no environments in it: an episode's start depends on its number and seed alone.
type checkpoint struct {
	Episode int         `json:"episode"` // the next one
	Returns [][]float64 `json:"returns"` // of the episodes since the last evaluation
}

// Saving takes at most a twentieth of the time, and happens at most every 30 seconds.
const (
	saveInterval = 30 * time.Second
	saveShare    = 20
)

// keep saves the agents if it is time, or if ctx has ended, whose error it then returns.
func (t *training) keep(ctx context.Context) error {
	if ctx.Err() == nil && time.Since(t.saved) < max(saveInterval, saveShare*t.saving) {
		return nil
	}
	begin := time.Now()
	if err := t.save(); err != nil {
		return fmt.Errorf("the checkpoint cannot be written (%w): free some space and start again", err)
	}
	t.saved, t.saving = time.Now(), time.Since(begin)
	return ctx.Err()
}

// save writes the checkpoint in one atomic step.
func (t *training) save() error {
	file, err := renameio.NewPendingFile(t.files.State, renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer file.Cleanup()
	w := bufio.NewWriterSize(file, 1<<20)
	if err := json.NewEncoder(w).Encode(checkpoint{t.episode, t.returns}); err != nil {
		return err
	}
	if err := t.agent.Save(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

// load reads the checkpoint into the agents. After an error they cannot be used.
func (t *training) load() error {
	file, err := os.Open(t.files.State)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<20)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s has no first line", t.files.State)
	}
	var c checkpoint
	if err := json.Unmarshal(line, &c); err != nil || len(c.Returns) != len(t.seeds) || c.Episode < 0 {
		return fmt.Errorf("the first line of %s is damaged", t.files.State)
	}
	if err := t.agent.Load(r); err != nil {
		return err
	}
	t.episode, t.returns = c.Episode, c.Returns
	return nil
}
