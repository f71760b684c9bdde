package reinforce

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tvps/replicate/runs"

	"github.com/google/renameio/v2"
)

// checkpoint is the first line of a checkpoint file, in JSON; the agents follow. It is written between two episodes.
// Environments need no checkpoint: an episode's start depends on its number and seed alone.
type checkpoint struct {
	Episode int         `json:"episode"` // the next one
	Returns [][]float64 `json:"returns"` // of the episodes since the last evaluation
	Sum     string      `json:"sum"`     // SHA-256 of the line with this field empty; the agents have one of their own
}

// withSum returns the checkpoint with its sum.
func (c checkpoint) withSum() (checkpoint, error) {
	c.Sum = ""
	line, err := json.Marshal(c)
	c.Sum = fmt.Sprintf("%x", sha256.Sum256(line))
	return c, err
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
		return &runs.WriteError{What: "checkpoint", Path: t.files.State, Err: err}
	}
	t.saved, t.saveTime = time.Now(), time.Since(begin)
	return ctx.Err()
}

// save writes the checkpoint in one atomic step.
func (t *training) save() error {
	file, err := renameio.NewPendingFile(t.files.State, renameio.WithPermissions(0o644),
		renameio.WithTempDir(filepath.Dir(t.files.State))) // where it is found if this process is killed
	if err != nil {
		return err
	}
	defer file.Cleanup()
	w := bufio.NewWriterSize(file, 1<<20)
	c, err := checkpoint{Episode: t.episode, Returns: t.returns}.withSum()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(c); err != nil {
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

// maxFirstLine is far above the bytes of the returns of a million episodes.
const maxFirstLine = 64 << 20

// readCheckpoint reads the first line for n seeds. It fails if the line is too long, damaged, or of other seeds.
func readCheckpoint(r *bufio.Reader, n int) (c checkpoint, err error) {
	var line []byte
	for more := bufio.ErrBufferFull; errors.Is(more, bufio.ErrBufferFull); {
		var part []byte
		part, more = r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxFirstLine {
			return c, fmt.Errorf("has more than %d MB", maxFirstLine>>20)
		}
	}
	if !bytes.HasSuffix(line, []byte("\n")) {
		return c, errors.New("is cut off")
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return c, fmt.Errorf("is damaged: %w", err)
	}
	whole, err := c.withSum()
	if err != nil || whole.Sum != c.Sum {
		return c, errors.New("does not match its checksum")
	}
	if len(c.Returns) != n || c.Episode < 0 {
		return c, fmt.Errorf("is of episode %d and %d seeds instead of %d", c.Episode, len(c.Returns), n)
	}
	for _, returns := range c.Returns {
		if len(returns) != len(c.Returns[0]) || len(returns) > c.Episode {
			return c, fmt.Errorf("has %d and %d returns of %d episodes", len(c.Returns[0]), len(returns), c.Episode)
		}
	}
	return c, nil
}

// load reads the checkpoint into the agents, which cannot be used after an error.
func (t *training) load() error {
	file, err := os.Open(t.files.State)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<20)
	c, err := readCheckpoint(r, len(t.seeds))
	if err != nil {
		return fmt.Errorf("the first line of %s %w", t.files.State, err)
	}
	if err := t.agent.Load(r); err != nil {
		return err
	}
	t.episode, t.returns = c.Episode, c.Returns
	return nil
}
