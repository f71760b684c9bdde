package sac

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/klauspost/compress/zstd"
)

// A checkpoint is of all seeds of an agent. Its first line has the format, and length and SHA-256 of the header, which
// follows in JSON. Then comes a zstd stream of little-endian arrays: the variables, those of g, and the rows of each
// seed's replay. zstd's checksum detects a damaged stream.

// firstLine names the format; the header's length and checksum follow. Change it with the format.
const firstLine = "tvps agents 4"

// header is what a checkpoint holds besides arrays.
type header struct {
	Config  Config
	Seeds   []int64
	Updates int
	Fits    int             // updates of g
	Acts    int             // of the rollout in which the agent trains
	Caller  json.RawMessage // what the caller keeps with the agent
	OfSeed  []seedHeader
}

type seedHeader struct {
	Steps   [][]float32 // the history of the rollout
	LastFit omegaFit
	Fresh   []freshLoss
	Replay  *replay // apart from its rows
}

// canonical is the configuration as checkpoints have it, of which old ones do not name g's network: Deep is "".
func (c Config) canonical() Config {
	if c.Omega != nil && c.Omega.Network == propensity.Deep {
		omega := *c.Omega
		omega.Network, c.Omega = "", &omega
	}
	return c
}

// Save writes a checkpoint, which has everything that the future of the agent depends on: networks, targets,
// optimisers, entropy coefficient, g, replay, history and the counters that name the random numbers. An agent that
// loads it continues with the same bits. What the caller keeps with it is stored as JSON.
func (a *Agent) Save(w io.Writer, caller any) (err error) {
	defer explain(&err, "write")
	h := header{Config: a.cfg, Seeds: a.seeds, Updates: a.updates, Fits: a.gUpdates, Acts: a.rollout.acts}
	for i, r := range a.replay {
		h.OfSeed = append(h.OfSeed, seedHeader{a.rollout.steps[i], a.lastFit[i], a.fresh[i], r})
	}
	if h.Caller, err = json.Marshal(caller); err != nil {
		return err
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s %d %x\n%s", firstLine, len(head), sha256.Sum256(head), head); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	err = a.arrays(tensors.ConstFlatData[float32], func(flat []float32) error {
		return binary.Write(z, binary.LittleEndian, flat)
	})
	return errors.Join(err, z.Close())
}

// Load puts the agent, which must be of the same settings and seeds, into the state of a checkpoint, and what the
// caller keeps with it into caller. After an error the agent must not be used: the checkpoint is damaged, of another
// format, or of other settings or seeds.
func (a *Agent) Load(file io.Reader, caller any) (err error) {
	defer explain(&err, "read")
	r := bufio.NewReader(file)
	h, err := readHeader(r)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(h.Config, a.cfg) {
		return errors.New("it was written with other settings")
	}
	if !slices.Equal(h.Seeds, a.seeds) {
		return fmt.Errorf("it is of the seeds %d, not %d", h.Seeds, a.seeds)
	}
	if err := json.Unmarshal(h.Caller, caller); err != nil {
		return err
	}
	a.updates, a.gUpdates, a.rollout.acts = h.Updates, h.Fits, h.Acts
	for i, s := range h.OfSeed {
		a.lastFit[i], a.fresh[i], a.rollout.steps[i] = s.LastFit, s.Fresh, s.Steps
		s.Replay.cfg = a.cfg
		s.Replay.rows = make([]float32, min(s.Replay.Total, a.cfg.Capacity)*a.cfg.stepWidth())
		a.replay[i] = s.Replay
	}
	z, err := zstd.NewReader(r)
	if err != nil {
		return err
	}
	defer z.Close()
	err = a.arrays(tensors.MutableFlatData[float32], func(flat []float32) error {
		return binary.Read(z, binary.LittleEndian, flat)
	})
	if err != nil {
		return err
	}
	if n, err := z.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) { // this read also compares the checksum
		return fmt.Errorf("it does not end where it should (%v)", err)
	}
	return nil
}

// explain says what failed, if an error did it.
func explain(err *error, doing string) {
	if *err != nil {
		*err = fmt.Errorf("sac: cannot %s the checkpoint: %w", doing, *err)
	}
}

// readHeader reads the header and compares its checksum.
func readHeader(r *bufio.Reader) (h header, err error) {
	var length int64
	var sum []byte
	if _, err := fmt.Fscanf(r, firstLine+" %d %x\n", &length, &sum); err != nil {
		return h, fmt.Errorf("its first line is not %q and so on: it is damaged or of another version of this program", firstLine)
	}
	head, err := io.ReadAll(io.LimitReader(r, length))
	if err != nil {
		return h, err
	}
	if got := sha256.Sum256(head); !bytes.Equal(got[:], sum) {
		return h, errors.New("its header does not match its checksum")
	}
	return h, json.Unmarshal(head, &h)
}

// chunkRows is how many rows of a replay are encoded at a time.
const chunkRows = 4096

// arrays calls fn with all arrays of a checkpoint, to write or to fill them; access gives those of a tensor.
func (a *Agent) arrays(access func(*tensors.Tensor, func(flat []float32)) error, fn func(flat []float32) error) error {
	for _, t := range slices.Concat(a.state, a.g) {
		var failed error
		err := access(t, func(flat []float32) { failed = fn(flat) })
		if err := errors.Join(failed, err); err != nil {
			return err
		}
	}
	for _, r := range a.replay {
		for chunk := range slices.Chunk(r.rows, chunkRows*a.cfg.stepWidth()) {
			if err := fn(chunk); err != nil {
				return err
			}
		}
	}
	return nil
}
