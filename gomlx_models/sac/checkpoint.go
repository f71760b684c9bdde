package sac

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/google/renameio/v2"
	"github.com/klauspost/compress/zstd"
)

// A checkpoint is a zstd stream: the length of a JSON header (uint32), the header, then
// little-endian arrays: the variables, those of g, and of each seed's replay the numbers
// of the steps (int32) and the rows. zstd's checksum tells a damaged file.

// header is what a checkpoint holds beside arrays.
type header struct {
	Format  int
	Config  Config
	Seeds   []int64
	Updates int
	Fits    int
	Acts    int           // of the rollout in which the agent trains
	Steps   [][][]float32 // its histories
	Present []present
	Replay  []replayHeader
}

type replayHeader struct {
	Total    int
	Open     bool
	Episodes []episode
	Moments  moments
}

const checkpointFormat = 1

// Save writes everything that the agent's future depends on: networks, targets,
// optimisers, entropy coefficient, g, replay, histories and the counters that name the
// random numbers. An agent that Loads it goes on with the same bits.
func (a *Agent) Save(w io.Writer) error {
	h := header{Format: checkpointFormat, Config: a.cfg, Seeds: a.seeds, Updates: a.updates, Fits: a.fits,
		Acts: a.rollout.acts, Steps: a.rollout.steps, Present: a.present}
	for _, r := range a.replay {
		h.Replay = append(h.Replay, replayHeader{r.total, r.open, r.episodes, r.moments})
	}
	head, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("sac: %w", err)
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return fmt.Errorf("sac: %w", err)
	}
	if err := errors.Join(a.writeBody(z, head), z.Close()); err != nil {
		return fmt.Errorf("sac: writing a checkpoint: %w", err)
	}
	return nil
}

func (a *Agent) writeBody(w io.Writer, head []byte) error {
	if err := binary.Write(w, binary.LittleEndian, uint32(len(head))); err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, list := range [][]*tensors.Tensor{a.state, a.g} {
		values, err := net.FromTensors(list)
		if err != nil {
			return err
		}
		for _, v := range values {
			if err := binary.Write(w, binary.LittleEndian, v); err != nil {
				return err
			}
		}
	}
	for _, r := range a.replay {
		if err := r.transfer(func(data any) error { return binary.Write(w, binary.LittleEndian, data) }); err != nil {
			return err
		}
	}
	return nil
}

// transfer hands the replay's arrays to a function that writes or fills them.
func (r *replay) transfer(fn func(data any) error) error {
	if err := fn(r.step); err != nil {
		return err
	}
	for i, chunk := range r.rows {
		used := min(chunkRows, len(r.step)-i*chunkRows)
		if err := fn(chunk[:used*r.cfg.rowWidth()]); err != nil {
			return err
		}
	}
	return nil
}

// SaveFile is Save to a file, atomically: a reader sees the old file or the new one.
func (a *Agent) SaveFile(path string) error {
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("sac: cannot write the checkpoint %s: %w", path, err)
	}
	defer f.Cleanup()
	if err := a.Save(f); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("sac: cannot write the checkpoint %s: %w", path, err)
	}
	return nil
}

// Load puts the agent into the state of a checkpoint. Errors leave it as it was: a
// checkpoint of other settings or seeds, a damaged one, one of another format.
func (a *Agent) Load(r io.Reader) error {
	if err := a.load(r); err != nil {
		return fmt.Errorf("sac: reading a checkpoint: %w", err)
	}
	return nil
}

// LoadFile is Load from a file. Where there is none the error is fs.ErrNotExist.
func (a *Agent) LoadFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sac: %w", err)
	}
	defer f.Close()
	if err := a.Load(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (a *Agent) load(r io.Reader) error {
	z, err := zstd.NewReader(r)
	if err != nil {
		return err
	}
	defer z.Close()
	h, err := a.readHeader(z)
	if err != nil {
		return err
	}
	state, err := readTensors(z, a.state)
	if err != nil {
		return err
	}
	g, err := readTensors(z, a.g)
	if err != nil {
		return err
	}
	replays := make([]*replay, len(a.seeds))
	for i, rh := range h.Replay {
		if replays[i], err = a.readReplay(z, rh); err != nil {
			return err
		}
	}
	if n, err := z.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) { // also checks the sum
		return fmt.Errorf("it does not end where it should (%v)", err)
	}
	net.Free(a.state...)
	net.Free(a.g...)
	a.state, a.g, a.replay, a.present = state, g, replays, h.Present
	a.updates, a.fits, a.rollout.acts, a.rollout.steps = h.Updates, h.Fits, h.Acts, h.Steps
	return nil
}

func (a *Agent) readHeader(r io.Reader) (*header, error) {
	var length uint32
	if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	const most = 1 << 30
	if length > most {
		return nil, fmt.Errorf("its header would have %d bytes; it is no checkpoint", length)
	}
	head := make([]byte, length)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	h := &header{}
	if err := json.Unmarshal(head, h); err != nil {
		return nil, err
	}
	switch n := len(a.seeds); {
	case h.Format != checkpointFormat:
		return nil, fmt.Errorf("it has format %d, this program reads %d", h.Format, checkpointFormat)
	case !reflect.DeepEqual(h.Config, a.cfg):
		return nil, fmt.Errorf("it was made with other settings; delete it to start anew, or ask for those")
	case !reflect.DeepEqual(h.Seeds, a.seeds):
		return nil, fmt.Errorf("it is of seeds %v, not %v", h.Seeds, a.seeds)
	case len(h.Replay) != n || len(h.Present) != n || len(h.Steps) != n:
		return nil, fmt.Errorf("its header is not of %d seeds", n)
	}
	return h, nil
}

// readTensors reads arrays of the shapes of others.
func readTensors(r io.Reader, like []*tensors.Tensor) ([]*tensors.Tensor, error) {
	out := make([]*tensors.Tensor, len(like))
	for i, t := range like {
		v := make([]float32, t.Size())
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			return nil, err
		}
		out[i] = tensors.FromFlatDataAndDimensions(v, t.Shape().Dimensions...)
	}
	return out, nil
}

func (a *Agent) readReplay(from io.Reader, h replayHeader) (*replay, error) {
	r := newReplay(a.cfg)
	r.total, r.open, r.episodes, r.moments = h.Total, h.Open, h.Episodes, h.Moments
	stored := min(h.Total, a.cfg.Capacity)
	r.step = make([]int32, stored)
	for range (stored + chunkRows - 1) / chunkRows {
		r.rows = append(r.rows, make([]float32, chunkRows*a.cfg.rowWidth()))
	}
	return r, r.transfer(func(data any) error { return binary.Read(from, binary.LittleEndian, data) })
}
