package sac

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

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
	return a.store.read(func(flat []float32) error {
		return transfer(a.replay, flat, func(data any) error { return binary.Write(w, binary.LittleEndian, data) })
	})
}

// chunkRows is how many rows are encoded at a time.
const chunkRows = 4096

// transfer hands the replays' arrays to a function that writes or fills them.
func transfer(replays []*replay, flat []float32, fn func(data any) error) error {
	for _, r := range replays {
		if err := fn(r.step); err != nil {
			return err
		}
		w := r.cfg.rowWidth()
		for chunk := range slices.Chunk(flat[r.base*w:][:len(r.step)*w], chunkRows*w) {
			if err := fn(chunk); err != nil {
				return err
			}
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
	replays, rows, err := a.readReplay(z, h.Replay)
	if err != nil {
		return err
	}
	net.Free(a.state...)
	net.Free(a.g...)
	a.store.close()
	a.state, a.g, a.replay, a.store, a.present = state, g, replays, rows, h.Present
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

// readReplay reads the replays of all seeds, which end the stream.
func (a *Agent) readReplay(from io.Reader, list []replayHeader) ([]*replay, *store, error) {
	replays := make([]*replay, len(list))
	for i, h := range list {
		r := newReplay(a.cfg, i)
		r.total, r.open, r.episodes, r.moments = h.Total, h.Open, h.Episodes, h.Moments
		r.step = make([]int32, min(h.Total, a.cfg.Capacity))
		replays[i] = r
	}
	rows, err := newStore(a.backend, a.cfg, len(list), a.store.shared != nil)
	if err != nil {
		return nil, nil, err
	}
	err = rows.fill(a.backend, func(flat []float32) error {
		err := transfer(replays, flat, func(data any) error { return binary.Read(from, binary.LittleEndian, data) })
		if err != nil {
			return err
		}
		if n, err := from.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) { // also checks the sum
			return fmt.Errorf("it does not end where it should (%v)", err)
		}
		return nil
	})
	if err != nil {
		rows.close()
		return nil, nil, err
	}
	return replays, rows, nil
}
