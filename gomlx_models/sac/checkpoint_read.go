package sac

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync/atomic"

	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/klauspost/compress/zstd"
)

// SeedError is the error of the checkpoint of one seed.
type SeedError struct {
	Seed int64
	Err  error
}

// Error names the seed.
func (e *SeedError) Error() string { return fmt.Sprintf("of seed %d: %v", e.Seed, e.Err) }

// Unwrap returns what is wrong with it.
func (e *SeedError) Unwrap() error { return e.Err }

// Load puts each seed into the state of its checkpoint; all checkpoints are of the same number of updates and
// transitions. A seed whose reader is nil becomes a copy of the first one that has a checkpoint: it only fills the
// program. Errors: a checkpoint of other settings or of another seed, a damaged one, one of another format
// (*SeedError), or checkpoints that do not fit together. They leave the agent as it was.
func (a *Agent) Load(from ...io.Reader) error {
	if len(from) != len(a.seeds) {
		return fmt.Errorf("sac: %d readers for %d seeds", len(from), len(a.seeds))
	}
	if err := a.load(from); err != nil {
		return fmt.Errorf("sac: cannot read the checkpoint: %w", err)
	}
	return nil
}

func (a *Agent) load(from []io.Reader) error {
	sources, err := a.openSources(from)
	defer func() {
		for _, s := range sources {
			s.z.Close()
		}
	}()
	if err != nil {
		return err
	}
	state, err := readTensors(sources, a.state)
	if err != nil {
		return err
	}
	g, err := readTensors(sources, a.g)
	if err != nil {
		return err
	}
	index, array, err := a.readReplay(sources)
	if err != nil {
		return err
	}
	net.Free(a.state...)
	net.Free(a.g...)
	a.array.close()
	a.state, a.g, a.index, a.array = state, g, index, array
	for i, s := range sources {
		a.lastFit[i], a.fresh[i], a.rollout.steps[i] = s.LastFit, s.Fresh, s.Steps
		a.updates, a.gUpdates, a.rollout.acts = s.Updates, s.Fits, s.Acts
	}
	return nil
}

// source is where the state of a seed comes from.
type source struct {
	*header
	z  *zstd.Decoder
	at int // number of the seed whose checkpoint it is: another one's for a copy
}

// openSources reads the headers. The sources must be closed, also after an error.
func (a *Agent) openSources(from []io.Reader) (sources []*source, err error) {
	first := slices.IndexFunc(from, func(r io.Reader) bool { return r != nil })
	if first < 0 {
		return nil, errors.New("there is none")
	}
	opened, heads := make([]*source, len(from)), make([][]byte, len(from))
	for i, r := range from {
		if r == nil {
			continue
		}
		packed := &countingReader{r: r}
		z, err := zstd.NewReader(packed, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return sources, err
		}
		opened[i] = &source{z: z, at: i}
		sources = append(sources, opened[i])
		if heads[i], err = readHead(&boundedReader{r: z, packed: packed}); err == nil {
			opened[i].header, err = a.parseHead(heads[i], a.seeds[i])
		}
		if err != nil {
			return sources, &SeedError{a.seeds[i], err}
		}
		if err := opened[i].fits(opened[first].header); err != nil {
			return sources, err
		}
	}
	for i := range opened {
		if opened[i] == nil { // read again, as a copy shares no memory
			copied, err := a.parseHead(heads[first], a.seeds[first])
			if err != nil {
				return sources, err
			}
			opened[i] = &source{header: copied, z: opened[first].z, at: first}
		}
	}
	return opened, nil
}

// fits returns an error unless both checkpoints are of the same moment.
func (h *header) fits(other *header) error {
	if h.Updates != other.Updates || h.Fits != other.Fits || h.Acts != other.Acts || h.Replay.Total != other.Replay.Total {
		return fmt.Errorf("seed %d made %d updates, %d of g, %d actions and %d transitions, seed %d %d, %d, %d and %d",
			other.Seed, other.Updates, other.Fits, other.Acts, other.Replay.Total, h.Seed, h.Updates, h.Fits, h.Acts,
			h.Replay.Total)
	}
	return nil
}

// A header may be large: it lists the episodes of the replay, up to 650 bytes each, which is 16 MB for the paper's on
// the claw. So its memory is bounded by the bytes read, and by maxHeader.
const (
	maxHeader = 128 << 20
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

// readHead reads the header's bytes.
func readHead(r io.Reader) ([]byte, error) {
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
	return head, nil
}

// parseHead returns the header of a seed's checkpoint for this agent.
func (a *Agent) parseHead(head []byte, seed int64) (*header, error) {
	var format struct{ Format int }
	if err := json.Unmarshal(head, &format); err != nil {
		return nil, err
	}
	if format.Format != checkpointFormat {
		return nil, fmt.Errorf("it has format %d; this program reads format %d", format.Format, checkpointFormat)
	}
	h := &header{}
	if err := json.Unmarshal(head, h); err != nil {
		return nil, err
	}
	switch {
	case !reflect.DeepEqual(h.Config, a.cfg):
		return nil, fmt.Errorf("it was written with other settings; use those, or delete it to start from scratch")
	case h.Seed != seed:
		return nil, fmt.Errorf("it is of seed %d", h.Seed)
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
	if err := cmp.Or(h.Replay.check(h.Config, width), h.LastFit.check(h.Config, width)); err != nil {
		return err
	}
	if len(h.Steps) > history {
		return fmt.Errorf("a history of %d steps", len(h.Steps))
	}
	for _, step := range h.Steps {
		if len(step) != h.Config.stepWidth() {
			return fmt.Errorf("a step of %d values", len(step))
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

// readTensors reads each seed's part of arrays of the same shapes as others.
func readTensors(sources []*source, like []*tensors.Tensor) ([]*tensors.Tensor, error) {
	out := make([]*tensors.Tensor, len(like))
	n := len(sources)
	for k, t := range like {
		v := make([]float32, t.Size())
		for i, s := range sources {
			if s.at != i {
				continue
			}
			if err := binary.Read(s.z, binary.LittleEndian, part(v, i, n)); err != nil {
				return nil, &SeedError{s.Seed, err}
			}
		}
		for i, s := range sources {
			copy(part(v, i, n), part(v, s.at, n)) // itself, but for a copy
		}
		out[k] = tensors.FromFlatDataAndDimensions(v, t.Shape().Dimensions...)
	}
	return out, nil
}

// readReplay reads the replays of all seeds: the end of their streams.
func (a *Agent) readReplay(sources []*source) ([]*replayIndex, *replayArray, error) {
	index := make([]*replayIndex, len(sources))
	for i, s := range sources {
		r, h := newReplayIndex(a.cfg, i), s.Replay
		r.total, r.open, r.episodes, r.moments = h.Total, h.Open, h.Episodes, h.Moments
		r.step = make([]int32, min(h.Total, a.cfg.Capacity))
		index[i] = r
	}
	array, err := newReplayArray(a.backend, a.cfg, len(sources), a.array.shared != nil)
	if err != nil {
		return nil, nil, err
	}
	err = array.fill(a.backend, func(flat []float32) error {
		for i, s := range sources {
			if s.at != i {
				continue
			}
			if err := index[i].read(s.z, flat); err != nil {
				return &SeedError{s.Seed, err}
			}
		}
		for i, s := range sources {
			copy(index[i].step, index[s.at].step)
			copy(index[i].part(flat), index[s.at].part(flat))
		}
		return nil
	})
	if err != nil {
		array.close()
		return nil, nil, err
	}
	return index, array, nil
}

// read reads the seed's part of the replay, to the end of the stream.
func (r *replayIndex) read(from io.Reader, flat []float32) error {
	err := transfer(r, flat, func(data any) error { return binary.Read(from, binary.LittleEndian, data) })
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(r.step, func(step int32) bool { return step < 0 || int(step) >= r.total }); i >= 0 {
		return fmt.Errorf("row %d is step %d of its episode", i, r.step[i])
	}
	if n, err := from.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) { // this read also compares the checksum
		return fmt.Errorf("it does not end where it should (%v)", err)
	}
	return nil
}
