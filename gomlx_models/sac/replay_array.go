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

// blockRows is the most transitions of each seed that one call of the insertion writes.
const blockRows = 256

// replayArray holds the transitions of all seeds on the device, in one array [seeds*capacity,
// stepWidth]. A seed's rows are a ring buffer: its transition number i is row i mod capacity of
// its part. A row is a step [action, reward, observation]; the next observation is that of the
// next row. Programs take the array and row numbers, and gather.
//
// If host and device share memory (XLA on the CPU, the Go backend), rows are written in
// place. No program sees a partial row: calls are synchronous. The operating system allocates
// such an array page by page, as rows are written.
//
// Otherwise rows are pending on the host until a program needs the array; then a compiled
// insertion writes up to blockRows of each seed per call. It copies the array on the device,
// which therefore needs memory for two: go-xla 0.4.2 donates buffers to XLA without saying
// which result may reuse them.
type replayArray struct {
	cfg    Config
	seeds  int
	tensor *tensors.Tensor

	shared []float32 // the array's memory if the host can write it, otherwise nil

	pending []float32 // [rows, seeds, stepWidth], transitions that are not in the array yet
	first   int       // number of the first of them
	insert  *Exec     // (array, rows, start, from, count) -> array
}

// newReplayArray allocates the array, in memory that host and device share or not. Its
// initial content is never read.
func newReplayArray(backend compute.Backend, cfg Config, seeds int, share bool) (r *replayArray, err error) {
	if cfg.Capacity > math.MaxInt32/seeds {
		return nil, fmt.Errorf("sac: a replay of %d transitions for %d seeds has more than %d rows; lower the capacity",
			cfg.Capacity, seeds, math.MaxInt32)
	}
	r = &replayArray{cfg: cfg, seeds: seeds}
	caught := exceptions.TryCatch[error](func() {
		if share {
			err = r.share(backend)
		} else {
			err = r.allocate(backend)
		}
	})
	if err == nil {
		err = caught
	}
	if err != nil {
		r.close()
		return nil, fmt.Errorf("sac: no memory for a replay of %d transitions for %d seeds (%d MB); lower the capacity: %w",
			cfg.Capacity, seeds, r.shape().ByteSize()>>20, err)
	}
	return r, nil
}

// shape is that of the array.
func (r *replayArray) shape() shapes.Shape { return shapeOf(r.seeds*r.cfg.Capacity, r.cfg.stepWidth()) }

func (r *replayArray) share(backend compute.Backend) error {
	buffer, flat, err := backend.NewSharedBuffer(0, r.shape())
	if err != nil {
		return err
	}
	if r.tensor, err = tensors.FromBuffer(buffer); err != nil {
		return err
	}
	r.shared = flat.([]float32)
	return nil
}

func (r *replayArray) allocate(backend compute.Backend) (err error) {
	if r.tensor, err = CallOnce(backend, func(g *Graph) *Node { return Zeros(g, r.shape()) }); err != nil {
		return err
	}
	if r.insert, err = NewExec(backend, r.insertGraph); err != nil {
		return err
	}
	r.insert.WithName("sac insert")
	return nil
}

func (r *replayArray) close() {
	r.shared = nil
	if r.tensor != nil {
		net.Free(r.tensor)
	}
	if r.insert != nil {
		r.insert.Finalize()
	}
}

// add writes row number i of each seed into the array, or makes it pending.
func (r *replayArray) add(i int, rows [][]float32) error {
	w := r.cfg.stepWidth()
	if r.shared != nil {
		for k, row := range rows {
			copy(r.shared[(k*r.cfg.Capacity+i%r.cfg.Capacity)*w:], row)
		}
		return nil
	}
	if len(r.pending) == r.block()*r.seeds*w {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if len(r.pending) == 0 {
		r.first = i
	}
	for _, row := range rows {
		r.pending = append(r.pending, row...)
	}
	return nil
}

// current is the array with all transitions in it, valid until the next one is added.
func (r *replayArray) current() (*tensors.Tensor, error) {
	if err := r.flush(); err != nil {
		return nil, err
	}
	return r.tensor, nil
}

// block is the most transitions that may be pending: no more than the ring has rows.
func (r *replayArray) block() int { return min(blockRows, r.cfg.Capacity) }

// flush writes the pending transitions into the array: those up to the end of the ring,
// then those that continue at its start.
func (r *replayArray) flush() error {
	n := len(r.pending) / (r.seeds * r.cfg.stepWidth())
	for done := 0; done < n; {
		at := (r.first + done) % r.cfg.Capacity
		count := min(n-done, r.cfg.Capacity-at)
		if err := r.write(done, at, count); err != nil {
			return fmt.Errorf("sac: cannot write into the replay: %w", err)
		}
		done += count
	}
	r.pending = r.pending[:0]
	return nil
}

// write writes count pending transitions, from number done of the list, into each seed's
// rows from at.
func (r *replayArray) write(done, at, count int) error {
	w, size := r.cfg.stepWidth(), r.block()
	start := min(at, r.cfg.Capacity-size)
	block := make([]float32, r.seeds*size*w)
	for j := range count {
		for k := range r.seeds {
			copy(block[(k*size+at-start+j)*w:][:w], r.pending[((done+j)*r.seeds+k)*w:])
		}
	}
	rows := tensors.FromFlatDataAndDimensions(block, r.seeds, size, w)
	defer net.Free(rows)
	out, err := net.Run(r.insert, r.tensor, rows, int32(start), int32(at-start), int32(count))
	if err != nil {
		return err
	}
	net.Free(r.tensor)
	r.tensor = out[0]
	return nil
}

// insertGraph takes the array, a block of rows of each seed [seeds, block, stepWidth], the
// block's first row in each seed's part, and which of its rows to write: count of them, from
// row number from. The others keep their values, so that one program serves any number of
// rows.
func (r *replayArray) insertGraph(in []*Node) []*Node {
	array, rows, start, from, count := in[0], in[1], in[2], in[3], in[4]
	g, dims := array.Graph(), rows.Shape().Dimensions
	all := Reshape(array, r.seeds, r.cfg.Capacity, r.cfg.stepWidth())
	zero := ScalarZero(g, dtypes.Int32)
	at := []*Node{zero, start, zero}
	number := Iota(g, shapes.Make(dtypes.Int32, dims...), 1)
	written := LogicalAnd(GreaterOrEqual(number, from), LessThan(number, Add(from, count)))
	all = DynamicUpdateSlice(all, Where(written, rows, DynamicSlice(all, at, dims)), at)
	return []*Node{Reshape(all, array.Shape().Dimensions...)}
}

// read calls a function with the array's values.
func (r *replayArray) read(fn func(flat []float32) error) error {
	if err := r.flush(); err != nil {
		return err
	}
	return withValues(tensors.ConstFlatData[float32], r.tensor, fn)
}

// fill lets a function write the whole array.
func (r *replayArray) fill(write func(flat []float32) error) error {
	if r.shared != nil {
		return write(r.shared)
	}
	r.pending = r.pending[:0]
	return withValues(tensors.MutableFlatData[float32], r.tensor, write)
}

// gather returns the rows that index names. index: int32 of any shape, result: [..., stepWidth].
func gather(array, index *Node) *Node { return Gather(array, ExpandAxes(index, -1)) }

// gatherOr returns the values from number first of the rows that index names, and those of otherwise where it is
// negative. otherwise and result: [..., stepWidth-first].
func gatherOr(array, index *Node, first int, otherwise *Node) *Node {
	rows := gather(array, MaxScalar(index, 0))
	exists := GreaterOrEqual(index, ScalarZero(index.Graph(), index.DType()))
	values := lastAxis(rows, first, rows.Shape().Dim(-1))
	return Where(BroadcastToDims(ExpandAxes(exists, -1), values.Shape().Dimensions...), values, otherwise)
}
