package sac

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"tvps/gomlx_models/net"

	"github.com/klauspost/compress/zstd"
)

// A checkpoint is of one seed. It is a zstd stream: the length of a JSON header (uint32), the header, then
// little-endian arrays: the seed's part of the variables and of those of g, and of its replay the numbers of the steps
// (int32) and the rows. zstd's checksum detects a damaged file.

// header is what a checkpoint holds besides arrays. The names of its fields, and of those in
// it, are part of the format.
type header struct {
	Format  int
	Config  Config
	Seed    int64
	Updates int
	Fits    int         // updates of g
	Acts    int         // of the rollout in which the agent trains
	Steps   [][]float32 // its history
	LastFit omegaFit    `json:"Present"`
	Fresh   []freshLoss `json:",omitempty"`
	Replay  replayHeader
}

type replayHeader struct {
	Total    int
	Open     bool
	Episodes []episode
	Moments  moments
}

// checkpointFormat is 2: a checkpoint of format 1 had all seeds of an agent.
const checkpointFormat = 2

// Save writes a checkpoint of each seed, in their order; it leaves out those whose writer is nil. A checkpoint has
// everything that the seed's future depends on: networks, targets, optimisers, entropy coefficient, g, replay, history
// and the counters that name the random numbers. An agent that loads it continues with the same bits, with whichever
// other seeds, as far as their number does not change XLA's rounding: on the CPU one seed is rounded differently from
// several.
func (a *Agent) Save(to ...io.Writer) error {
	if len(to) != len(a.seeds) {
		return fmt.Errorf("sac: %d writers for %d seeds", len(to), len(a.seeds))
	}
	if err := a.save(to); err != nil {
		return fmt.Errorf("sac: cannot write a checkpoint: %w", err)
	}
	return nil
}

func (a *Agent) save(to []io.Writer) (err error) {
	state, err := net.FromTensors(a.state)
	if err != nil {
		return err
	}
	g, err := net.FromTensors(a.g)
	if err != nil {
		return err
	}
	packed := make([]*zstd.Encoder, len(to))
	for i, w := range to {
		if w == nil {
			continue
		}
		if packed[i], err = zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
			return err
		}
		defer packed[i].Close() // after an error
		if err := a.writeVariables(packed[i], i, slices.Concat(state, g)); err != nil {
			return err
		}
	}
	return a.array.read(func(flat []float32) error {
		for i, w := range packed {
			if w == nil {
				continue
			}
			err := transfer(a.index[i], flat, func(data any) error { return binary.Write(w, binary.LittleEndian, data) })
			if err := errors.Join(err, w.Close()); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeVariables writes the header of seed number i and its part of the variables.
func (a *Agent) writeVariables(w io.Writer, i int, values net.Values) error {
	r := a.index[i]
	head, err := json.Marshal(header{Format: checkpointFormat, Config: a.cfg, Seed: a.seeds[i], Updates: a.updates,
		Fits: a.gUpdates, Acts: a.rollout.acts, Steps: a.rollout.steps[i], LastFit: a.lastFit[i], Fresh: a.fresh[i],
		Replay: replayHeader{r.total, r.open, r.episodes, r.moments}})
	if err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, uint32(len(head))); err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, v := range values {
		if err := binary.Write(w, binary.LittleEndian, part(v, i, len(a.seeds))); err != nil {
			return err
		}
	}
	return nil
}

// part is that of seed number i of n in a variable, whose first axis is the seeds.
func part(v []float32, i, n int) []float32 {
	size := len(v) / n
	return v[i*size : (i+1)*size]
}

// chunkRows is how many rows are encoded at a time.
const chunkRows = 4096

// transfer calls fn with the arrays of a seed's replay, to write or to fill them.
func transfer(r *replayIndex, flat []float32, fn func(data any) error) error {
	if err := fn(r.step); err != nil {
		return err
	}
	for chunk := range slices.Chunk(r.part(flat), chunkRows*r.cfg.rowWidth()) {
		if err := fn(chunk); err != nil {
			return err
		}
	}
	return nil
}

// part is that of the seed's transitions in the values of the replay array.
func (r *replayIndex) part(flat []float32) []float32 {
	w := r.cfg.rowWidth()
	return flat[r.base*w:][:len(r.step)*w]
}
