package sac

import (
	"fmt"
	"math"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"
)

// blockRows is how many transitions of each seed one call of the insertion writes at most.
const blockRows = 256

// store holds the transitions of all seeds on the device, in one array [seeds*capacity,
// rowWidth]. A seed's rows are a ring: its transition number i is row i mod capacity of
// its part. A row is [action, reward, observation, next, terminal]; its first part is what
// the context reads of a step. Programs take the array and the numbers of rows, and gather.
//
// Where the device's memory is the host's (XLA on the CPU, the Go backend), a row is
// written in place, which no program can see halfway: each is run to its end before Go
// goes on. The system gives such an array its memory page by page, when rows are written.
//
// Elsewhere rows wait on the host until a program needs the array, and a compiled insertion
// writes up to blockRows of each seed in one call. It copies the array on the device:
// go-xla 0.4.2 hands donated buffers to XLA without marking which result may take their
// place. So the device needs room for the array twice.
type store struct {
	cfg   Config
	seeds int
	array *tensors.Tensor

	shared []float32 // the array's memory where the host can write it, else nil

	waiting []float32 // [rows, seeds, rowWidth], transitions that are not in the array yet
	first   int       // number of the first of them
	insert  *Exec     // (array, rows, start, from, count) -> array
}

// newStore makes an array without transitions, in memory that host and device share or not.
// What it holds before they are written is never looked at.
func newStore(backend compute.Backend, cfg Config, seeds int, share bool) (s *store, err error) {
	if cfg.Capacity > math.MaxInt32/seeds {
		return nil, fmt.Errorf("sac: a replay of %d transitions for %d seeds has more rows than the %d that can be numbered; lower the capacity",
			cfg.Capacity, seeds, math.MaxInt32)
	}
	s = &store{cfg: cfg, seeds: seeds}
	caught := exceptions.TryCatch[error](func() {
		if share {
			err = s.share(backend)
		} else {
			err = s.allocate(backend)
		}
	})
	if err == nil {
		err = caught
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("sac: no room for a replay of %d transitions for %d seeds (%d MB); lower the capacity: %w",
			cfg.Capacity, seeds, s.shape().ByteSize()>>20, err)
	}
	return s, nil
}

// shape is that of the array.
func (s *store) shape() shapes.Shape { return shapeOf(s.seeds*s.cfg.Capacity, s.cfg.rowWidth()) }

func (s *store) share(backend compute.Backend) error {
	buffer, flat, err := backend.NewSharedBuffer(0, s.shape())
	if err != nil {
		return err
	}
	if s.array, err = tensors.FromBuffer(buffer); err != nil {
		return err
	}
	s.shared = flat.([]float32)
	return nil
}

func (s *store) allocate(backend compute.Backend) (err error) {
	if s.array, err = CallOnce(backend, func(g *Graph) *Node { return Zeros(g, s.shape()) }); err != nil {
		return err
	}
	if s.insert, err = NewExec(backend, s.insertGraph); err != nil {
		return err
	}
	s.insert.WithName("sac insert")
	return nil
}

func (s *store) close() {
	s.shared = nil
	if s.array != nil {
		net.Free(s.array)
	}
	if s.insert != nil {
		s.insert.Finalize()
	}
}

// add puts transition number i of each seed into the array, or into the waiting list.
func (s *store) add(i int, transitions []Transition) error {
	w := s.cfg.rowWidth()
	if s.shared != nil {
		for k, t := range transitions {
			s.cfg.pack(t, s.shared[(k*s.cfg.Capacity+i%s.cfg.Capacity)*w:][:w])
		}
		return nil
	}
	if len(s.waiting) == s.block()*s.seeds*w {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if len(s.waiting) == 0 {
		s.first = i
	}
	for _, t := range transitions {
		s.waiting = append(s.waiting, make([]float32, w)...)
		s.cfg.pack(t, s.waiting[len(s.waiting)-w:])
	}
	return nil
}

// pack writes a transition into its row.
func (c Config) pack(t Transition, row []float32) {
	row = row[copy(row, t.Action):]
	row[0] = t.Reward
	row = row[1+copy(row[1:], t.Observation):]
	row = row[copy(row, t.Next):]
	row[0] = 0
	if t.Terminal {
		row[0] = 1
	}
}

// current is the array with all transitions in it. It is valid until the next one is added.
func (s *store) current() (*tensors.Tensor, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	return s.array, nil
}

// block is how many transitions may wait: no more than the ring has rows.
func (s *store) block() int { return min(blockRows, s.cfg.Capacity) }

// flush writes the waiting transitions into the array: those up to the ring's end, and
// then those that begin it anew.
func (s *store) flush() error {
	n := len(s.waiting) / (s.seeds * s.cfg.rowWidth())
	for done := 0; done < n; {
		at := (s.first + done) % s.cfg.Capacity
		count := min(n-done, s.cfg.Capacity-at)
		if err := s.write(done, at, count); err != nil {
			return fmt.Errorf("sac: writing into the replay: %w", err)
		}
		done += count
	}
	s.waiting = s.waiting[:0]
	return nil
}

// write puts waiting transitions, count of them from number done of the list on, into each
// seed's rows from at on.
func (s *store) write(done, at, count int) error {
	w, size := s.cfg.rowWidth(), s.block()
	start := min(at, s.cfg.Capacity-size)
	block := make([]float32, s.seeds*size*w)
	for j := range count {
		for k := range s.seeds {
			copy(block[(k*size+at-start+j)*w:][:w], s.waiting[((done+j)*s.seeds+k)*w:])
		}
	}
	rows := tensors.FromFlatDataAndDimensions(block, s.seeds, size, w)
	defer net.Free(rows)
	out, err := net.Run(s.insert, s.array, rows, int32(start), int32(at-start), int32(count))
	if err != nil {
		return err
	}
	net.Free(s.array)
	s.array = out[0]
	return nil
}

// insertGraph takes the array, a block of rows of each seed [seeds, block, rowWidth], the
// row where it starts in each seed's part, and which of its rows are meant, count of them
// after the first from. The others keep what they have, so that one program serves any
// number of rows.
func (s *store) insertGraph(in []*Node) []*Node {
	array, rows, start, from, count := in[0], in[1], in[2], in[3], in[4]
	g, dims := array.Graph(), rows.Shape().Dimensions
	all := Reshape(array, s.seeds, s.cfg.Capacity, s.cfg.rowWidth())
	zero := ScalarZero(g, dtypes.Int32)
	at := []*Node{zero, start, zero}
	number := Iota(g, shapes.Make(dtypes.Int32, dims...), 1)
	meant := LogicalAnd(GreaterOrEqual(number, from), LessThan(number, Add(from, count)))
	all = DynamicUpdateSlice(all, Where(meant, rows, DynamicSlice(all, at, dims)), at)
	return []*Node{Reshape(all, array.Shape().Dimensions...)}
}

// read shows the array to a function.
func (s *store) read(look func(flat []float32) error) error {
	if err := s.flush(); err != nil {
		return err
	}
	var failed error
	err := tensors.ConstFlatData(s.array, func(flat []float32) { failed = look(flat) })
	if failed != nil {
		return failed
	}
	return err
}

// fill lets a function write the whole array.
func (s *store) fill(backend compute.Backend, write func(flat []float32) error) error {
	if s.shared != nil {
		return write(s.shared)
	}
	array := tensors.FromShape(s.shape())
	var failed error
	if err := tensors.MutableFlatData(array, func(flat []float32) { failed = write(flat) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if err := array.MaterializeOnDevice(backend, false, 0); err != nil {
		return err
	}
	array.FinalizeLocal()
	net.Free(s.array)
	s.array = array
	return nil
}

// gather is the rows of the array that an int32 index of any shape names, their first
// width values. Result: [..., width].
func gather(array, index *Node, width int) *Node {
	return lastAxis(Gather(array, ExpandAxes(index, -1)), 0, width)
}

// gatherSteps is the steps that a window's index names, with zeros where it is negative.
// index: [seeds, history+1, batch], result: [seeds, history+1, batch, stepWidth].
func (c Config) gatherSteps(array, index *Node) *Node {
	steps := gather(array, MaxScalar(index, 0), c.stepWidth())
	there := GreaterOrEqual(index, ScalarZero(index.Graph(), index.DType()))
	return Where(BroadcastToDims(ExpandAxes(there, -1), steps.Shape().Dimensions...), steps, ZerosLike(steps))
}
