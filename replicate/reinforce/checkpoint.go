package reinforce

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/sac"
	"tvps/replicate/runs"
)

// checkpoint is the first line of the file from which a run continues, in JSON; the agent follows. It is written
// between two episodes. A run has a file of its own, so that it continues alone, or in another group than it began in.
// Files of a group are of the same episode, unless the process was killed while it replaced them; then the runs
// continue apart (runs.Batch.Progress). Environments need no checkpoint: an episode's start depends on its number and
// seed alone.
type checkpoint struct {
	Format  int       `json:"format"`
	Run     string    `json:"run"`     // its ID
	Episode int       `json:"episode"` // the next one
	Returns []float64 `json:"returns"` // of the episodes since the last evaluation
	Sum     string    `json:"sum"`     // SHA-256 of the line with this field empty; the agent has one of its own
}

// checkpointFormat is 2: older files, which do not say their format, were of a whole group.
const checkpointFormat = 2

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

// saveIfDue writes checkpoints if the last ones are old enough or ctx is cancelled. It then returns the error of ctx.
func (t *training) saveIfDue(ctx context.Context) error {
	if ctx.Err() == nil && time.Since(t.saved) < max(saveInterval, saveShare*t.saveTime) {
		return nil
	}
	begin := time.Now()
	if err := t.save(); err != nil {
		return &runs.WriteError{What: "checkpoint", Path: t.files.State(t.members[0]), Err: err}
	}
	t.saved, t.saveTime = time.Now(), time.Since(begin)
	return ctx.Err()
}

// save writes the checkpoints of all members, and replaces the files when all are on the disk, each in one atomic step.
func (t *training) save() (err error) {
	var files []*artifact.Pending
	defer func() {
		for _, file := range files {
			file.Cleanup() // of one that was replaced: nothing
		}
	}()
	to := make([]io.Writer, len(t.seeds))
	buffers := make([]*bufio.Writer, len(t.members))
	for k, member := range t.members {
		file, err := artifact.Create(t.files.State(member), 0o644)
		if err != nil {
			return err
		}
		i := slices.Index(t.seeds, member.Seed)
		files, buffers[k] = append(files, file), bufio.NewWriterSize(file, 1<<20)
		to[i] = buffers[k]
		c := checkpoint{Format: checkpointFormat, Run: member.ID(), Episode: t.episode, Returns: t.returns[i]}
		if c, err = c.withSum(); err != nil {
			return err
		}
		if err := json.NewEncoder(to[i]).Encode(c); err != nil {
			return err
		}
	}
	if err := t.agent.Save(to...); err != nil {
		return err
	}
	for k, file := range files {
		if err := errors.Join(buffers[k].Flush(), file.Sync()); err != nil {
			return err
		}
	}
	return artifact.Commit(files...)
}

// maxFirstLine is far above the bytes of the returns of a million episodes.
const maxFirstLine = 64 << 20

// readCheckpoint reads the first line of a run's file. It fails if the line is too long, damaged, of another format or
// of another run.
func readCheckpoint(r *bufio.Reader, run runs.Spec) (c checkpoint, err error) {
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
	var only struct{ Format int }
	if err := json.Unmarshal(line, &only); err != nil {
		return c, fmt.Errorf("is damaged: %w", err)
	}
	if only.Format != checkpointFormat {
		return c, fmt.Errorf("has format %d; this program reads format %d", only.Format, checkpointFormat)
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return c, fmt.Errorf("is damaged: %w", err)
	}
	whole, err := c.withSum()
	switch {
	case err != nil || whole.Sum != c.Sum:
		return c, errors.New("does not match its checksum")
	case c.Run != run.ID():
		return c, fmt.Errorf("is of run %s instead of %s", c.Run, run.ID())
	case c.Episode < 0 || len(c.Returns) > c.Episode:
		return c, fmt.Errorf("has %d returns of %d episodes", len(c.Returns), c.Episode)
	}
	return c, nil
}

// openState opens a run's file and reads its first line; the agent follows in r.
func openState(path string, run runs.Spec) (c checkpoint, r *bufio.Reader, file *os.File, err error) {
	if file, err = os.Open(path); err != nil {
		return c, nil, nil, err
	}
	r = bufio.NewReaderSize(file, 1<<20)
	if c, err = readCheckpoint(r, run); err != nil {
		file.Close()
		return c, nil, nil, fmt.Errorf("its first line %w", err)
	}
	return c, r, file, nil
}

// progress returns the episode at which a run continues; 0 without a checkpoint, or with one that cannot be used.
func progress(run runs.Spec, files runs.Files) int {
	c, _, file, err := openState(files.State(run), run)
	if err != nil {
		return 0
	}
	file.Close()
	return c.Episode
}

// stateError is the error of one member's checkpoint.
type stateError struct {
	run runs.Spec
	err error
}

func (e *stateError) Error() string { return fmt.Sprintf("seed %d: %v", e.run.Seed, e.err) }
func (e *stateError) Unwrap() error { return e.err }

// load reads the members' checkpoints into the agents; the other seeds become copies of a member. The error is a
// *stateError if it is that of one checkpoint; it matches fs.ErrNotExist if a member has none.
func (t *training) load() error {
	from := make([]io.Reader, len(t.seeds))
	checkpoints := make([]checkpoint, len(t.seeds))
	var first checkpoint
	for k, member := range t.members {
		c, r, file, err := openState(t.files.State(member), member)
		if err != nil {
			return &stateError{member, err}
		}
		defer file.Close()
		if k == 0 {
			first = c
		}
		if c.Episode != first.Episode || len(c.Returns) != len(first.Returns) {
			return fmt.Errorf("they are of the episodes %d and %d", first.Episode, c.Episode)
		}
		i := slices.Index(t.seeds, member.Seed)
		from[i], checkpoints[i] = r, c
	}
	if err := t.agent.Load(from...); err != nil {
		var of *sac.SeedError
		if errors.As(err, &of) {
			k := slices.IndexFunc(t.members, func(m runs.Spec) bool { return m.Seed == of.Seed })
			return &stateError{t.members[k], of.Err}
		}
		return err
	}
	t.episode = first.Episode
	for i, r := range from {
		t.returns[i] = slices.Clone(first.Returns)
		if r != nil {
			t.returns[i] = checkpoints[i].Returns
		}
	}
	return nil
}
