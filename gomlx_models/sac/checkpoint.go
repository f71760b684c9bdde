package sac

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sync/atomic"

	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/google/renameio/v2"
	"github.com/klauspost/compress/zstd"
)

// A checkpoint is a zstd stream: the length of a JSON header (uint32), the header, then
// little-endian arrays: the variables, those of g, and for each seed's replay the numbers
// of the steps (int32) and the rows. zstd's checksum detects a damaged file.

// header is what a checkpoint holds besides arrays. The names of its fields, and of those in
// it, are part of the format.
type header struct {
	Format  int
	Config  Config
	Seeds   []int64
	Updates int
	Fits    int           // updates of g
	Acts    int           // of the rollout in which the agent trains
	Steps   [][][]float32 // its histories
	LastFit []omegaFit    `json:"Present"`
	Fresh   [][]freshLoss `json:",omitempty"` // of each seed; none before the first
	Replay  []replayHeader
}

type replayHeader struct {
	Total    int
	Open     bool
	Episodes []episode
	Moments  moments
}

const checkpointFormat = 1

// Save writes everything that the agent's future depends on: networks, targets, optimisers,
// entropy coefficient, g, replay, histories and the counters that name the random numbers.
// An agent that loads it continues with the same bits.
func (a *Agent) Save(w io.Writer) error {
	h := header{Format: checkpointFormat, Config: a.cfg, Seeds: a.seeds, Updates: a.updates, Fits: a.gUpdates,
		Acts: a.rollout.acts, Steps: a.rollout.steps, LastFit: a.lastFit, Fresh: a.fresh}
	for _, r := range a.index {
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
		return fmt.Errorf("sac: cannot write a checkpoint: %w", err)
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
	return a.array.read(func(flat []float32) error {
		return transfer(a.index, flat, func(data any) error { return binary.Write(w, binary.LittleEndian, data) })
	})
}

// chunkRows is how many rows are encoded at a time.
const chunkRows = 4096

// transfer calls fn with the arrays of all replays, to write or to fill them.
func transfer(index []*replayIndex, flat []float32, fn func(data any) error) error {
	for _, r := range index {
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

// SaveFile is Save to a file. It replaces the file atomically: a reader sees the old one or
// the new one.
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

// Load puts the agent into the state of a checkpoint. Errors: a checkpoint of other settings
// or seeds, a damaged one, one of another format. They leave the agent as it was.
func (a *Agent) Load(r io.Reader) error {
	if err := a.load(r); err != nil {
		return fmt.Errorf("sac: cannot read the checkpoint: %w", err)
	}
	return nil
}

// LoadFile is Load from a file. If it does not exist, the error is fs.ErrNotExist.
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
	packed := &countingReader{r: r}
	z, err := zstd.NewReader(packed, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	defer z.Close()
	h, err := a.readHeader(&boundedReader{r: z, packed: packed})
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
	index, array, err := a.readReplay(z, h.Replay)
	if err != nil {
		return err
	}
	net.Free(a.state...)
	net.Free(a.g...)
	a.array.close()
	a.state, a.g, a.index, a.array, a.lastFit, a.fresh = state, g, index, array, h.LastFit, h.Fresh
	a.updates, a.gUpdates, a.rollout.acts, a.rollout.steps = h.Updates, h.Fits, h.Acts, h.Steps
	return nil
}

// A header may be large: it lists the episodes of the replay. So its memory is bounded by the bytes read.
const (
	maxHeader = 1 << 30
	maxRatio  = 100     // of a header's bytes to the compressed ones, above maxFree
	maxFree   = 1 << 20 // bytes
	maxWindow = 8 << 20 // of zstd; twice that of Save
)

// countingReader counts the bytes that were read. The decoder reads on goroutines of its own.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// boundedReader fails if far more bytes come out of the decoder than went in.
type boundedReader struct {
	r      io.Reader
	packed *countingReader
	n      int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.n += int64(n); b.n > maxFree+maxRatio*b.packed.n.Load() {
		return 0, fmt.Errorf("its header is more than %d times larger than compressed: it is not a checkpoint", maxRatio)
	}
	return n, err
}

func (a *Agent) readHeader(r io.Reader) (*header, error) {
	var length uint32
	if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	if length > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes: it is not a checkpoint", length)
	}
	head, err := io.ReadAll(io.LimitReader(r, int64(length)))
	if err != nil {
		return nil, err
	}
	if len(head) < int(length) {
		return nil, io.ErrUnexpectedEOF
	}
	h := &header{}
	if err := json.Unmarshal(head, h); err != nil {
		return nil, err
	}
	switch n := len(a.seeds); {
	case h.Format != checkpointFormat:
		return nil, fmt.Errorf("it has format %d; this program reads format %d", h.Format, checkpointFormat)
	case !reflect.DeepEqual(h.Config, a.cfg):
		return nil, fmt.Errorf("it was written with other settings; use those, or delete it to start from scratch")
	case !reflect.DeepEqual(h.Seeds, a.seeds):
		return nil, fmt.Errorf("it is of seeds %v, not %v", h.Seeds, a.seeds)
	case len(h.Replay) != n || len(h.LastFit) != n || len(h.Steps) != n ||
		h.Fresh != nil && len(h.Fresh) != n:
		return nil, fmt.Errorf("its header is not one of %d seeds", n)
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("its header is damaged: %w", err)
	}
	return h, nil
}

// check returns an error for what no agent of these settings and seeds writes.
func (h *header) check() error {
	if h.Updates < 0 || h.Fits < 0 || h.Acts < 0 {
		return fmt.Errorf("%d updates, %d of g, %d actions", h.Updates, h.Fits, h.Acts)
	}
	history, width := 0, h.Config.Actions+h.Config.Observations
	if h.Config.Context != nil {
		history = h.Config.Context.History
	}
	for i, r := range h.Replay {
		if err := cmp.Or(r.check(h.Config, width), h.LastFit[i].check(h.Config, width)); err != nil {
			return err
		}
		if r.Total != h.Replay[0].Total {
			return fmt.Errorf("%d and %d transitions", h.Replay[0].Total, r.Total)
		}
		if len(h.Steps[i]) > history {
			return fmt.Errorf("a history of %d steps", len(h.Steps[i]))
		}
		for _, step := range h.Steps[i] {
			if len(step) != h.Config.stepWidth() {
				return fmt.Errorf("a step of %d values", len(step))
			}
		}
	}
	return nil
}

// check returns an error for episodes that do not cover the latest transitions without a gap.
func (r replayHeader) check(cfg Config, width int) error {
	m := r.Moments
	if r.Total < 0 || m.Count != float64(r.Total) || len(m.Mean) != width || len(m.M2) != width || slices.Min(m.M2) < 0 {
		return fmt.Errorf("%d transitions with moments of %v, %d and %d values", r.Total, m.Count, len(m.Mean), len(m.M2))
	}
	if r.Open && len(r.Episodes) == 0 || len(r.Episodes) == 0 != (r.Total == 0) {
		return fmt.Errorf("%d episodes of %d transitions", len(r.Episodes), r.Total)
	}
	last, end := -1, 0
	for i, e := range r.Episodes {
		if i == 0 {
			end = e.First
		}
		if e.Number <= last || e.Number > maxEpisode || e.First != end || e.First < 0 || e.Count < 1 || e.Count > r.Total ||
			len(e.Sum) != 0 && len(e.Sum) != width {
			return fmt.Errorf("episode %d of %d transitions from %d after episode %d, which ends at %d", e.Number, e.Count,
				e.First, last, end)
		}
		last, end = e.Number, end+e.Count
	}
	if len(r.Episodes) == 0 {
		return nil
	}
	first, oldest := r.Episodes[0], max(0, r.Total-cfg.Capacity)
	if end != r.Total || first.First > oldest || first.First+first.Count <= oldest {
		return fmt.Errorf("episodes of transitions %d to %d, not %d to %d", first.First, end, oldest, r.Total)
	}
	return nil
}

// check returns an error for a fit with arrays of other sizes.
func (f omegaFit) check(cfg Config, width int) error {
	waves := 0
	if cfg.Omega != nil {
		waves = cfg.Omega.waves()
	}
	if f.Episode < -1 || f.Episode > maxEpisode || f.Searched < 0 || f.Searched > maxEpisode ||
		len(f.Mean) != width || len(f.Scale) != width || slices.Min(f.Scale) <= 0 || len(f.Frequencies) > waves {
		return fmt.Errorf("a fit of g for episode %d, searched at %d, with %d means, %d scales and %d frequencies", f.Episode,
			f.Searched, len(f.Mean), len(f.Scale), len(f.Frequencies))
	}
	return nil
}

// readTensors reads arrays of the same shapes as others.
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

// readReplay reads the replays of all seeds: the end of the stream.
func (a *Agent) readReplay(from io.Reader, list []replayHeader) ([]*replayIndex, *replayArray, error) {
	index := make([]*replayIndex, len(list))
	for i, h := range list {
		r := newReplayIndex(a.cfg, i)
		r.total, r.open, r.episodes, r.moments = h.Total, h.Open, h.Episodes, h.Moments
		r.step = make([]int32, min(h.Total, a.cfg.Capacity))
		index[i] = r
	}
	array, err := newReplayArray(a.backend, a.cfg, len(list), a.array.shared != nil)
	if err != nil {
		return nil, nil, err
	}
	err = array.fill(a.backend, func(flat []float32) error {
		err := transfer(index, flat, func(data any) error { return binary.Read(from, binary.LittleEndian, data) })
		if err != nil {
			return err
		}
		for _, r := range index {
			if i := slices.IndexFunc(r.step, func(step int32) bool { return step < 0 || int(step) >= r.total }); i >= 0 {
				return fmt.Errorf("row %d is step %d of its episode", i, r.step[i])
			}
		}
		if n, err := from.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) { // this read also compares the checksum
			return fmt.Errorf("it does not end where it should (%v)", err)
		}
		return nil
	})
	if err != nil {
		array.close()
		return nil, nil, err
	}
	return index, array, nil
}
