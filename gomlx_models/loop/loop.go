// Package loop trains small networks inside one XLA While.
//
// A training step of a small network takes microseconds, its dispatch from Go a millisecond.
// So the whole loop is compiled: an index array selects the minibatches on the device, and
// forward pass, gradient and optimiser run without a return to Go.
//
// One call to the device runs at most Chunk updates, so that a long training can be cancelled.
// All arrays have a fixed capacity and the indices select the rows in use. So the shapes do not
// change when data are added, and the program is compiled once.
package loop

import (
	"context"
	"fmt"
	"math"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Problem is what a Trainer minimises.
type Problem struct {
	Name   string // for error messages
	Params []net.Param
	// Loss builds the loss of one minibatch, a float32 scalar. data are arrays that
	// stay on the device. feeds are this update's slices of the feeds: a feed of shape
	// [chunk, batch, ...] is passed as [batch, ...].
	Loss func(s *net.Scope, data, feeds []*Node) *Node
	// Step, if not nil, builds the update instead of a step of Adam on Loss, and Loss is not
	// used. Slots are the arrays that it carries in addition to Params, such as moments. They
	// start at zero; only their Dims are used.
	Step  Step
	Slots []net.Param
	// RateFactors says that the last of the Feeds, of shape [chunk], is a factor of the learning rate
	// for each update: a schedule. Loss does not get it.
	RateFactors bool
	// Dispatch runs each update as a separate call to the device, without the compiled loop.
	// Use it if an update takes longer than a call, and for convolutions on the CPU: XLA runs
	// them 70 times slower inside a While.
	Dispatch bool
	// Data and Feeds are the numbers of data arrays and of feeds, with that of RateFactors.
	Data, Feeds int
}

// Step builds the graph of one update. state holds the values of the Params, then of the
// Slots. data and feeds are as for Loss. step (int32 scalar) is the number of updates before
// this one, rate (float32 scalar) the learning rate. It returns the loss (float32 scalar) and
// the state after the update, in the order of state.
type Step func(state, data, feeds []*Node, step, rate *Node) (loss *Node, next []*Node)

// Trainer holds the compiled loop of a Problem. Several goroutines may use it, except Close.
type Trainer struct {
	problem Problem
	chunk   int
	exec    *Exec
}

// New prepares the loop, which is compiled at the first Fit. chunk is the number of updates in
// one call to the device, at least 1. On the pure Go backend (compute 0.1.3), where a While
// with a gradient fails ("input 0 for node Mul not computed yet"), and for a Problem with Dispatch
// each update is a separate call and Chunk is 1. Close the Trainer when it is no longer needed.
func New(backend compute.Backend, problem Problem, chunk int) *Trainer {
	t := &Trainer{problem: problem, chunk: chunk}
	if problem.Step == nil {
		t.problem.Step, t.problem.Slots = adamStep(problem)
	}
	graph := t.loopGraph
	if problem.Dispatch || backend.String() == gobackend.BackendName {
		t.chunk, graph = 1, t.stepGraph
	}
	t.exec = MustNewExec(backend, graph).WithName(problem.Name)
	return t
}

// Chunk is the number of updates in one call to the device.
func (t *Trainer) Chunk() int { return t.chunk }

// Close frees the compiled program.
func (t *Trainer) Close() { t.exec.Finalize() }

// Feed returns the feeds of updates first..first+count-1: Problem.Feeds tensors of shape
// [Chunk, batch, ...], of which only the first count rows are read. Fit frees them.
type Feed func(first, count int) []*tensors.Tensor

// Fit runs the updates with learning rate rate from the start values (in the order of
// Problem.Params). It returns the trained values and the mean loss of each chunk. report, if not nil, is called
// after each chunk with the number of updates done and the mean loss of the chunk. If the
// shapes of data differ from those of the last call, the loop is compiled again. It fails if ctx is
// cancelled (checked before each chunk), if a loss or a trained value is not finite, and if the backend fails.
func (t *Trainer) Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int,
	feed Feed, report func(done int, loss float64)) (net.Values, []float64, error) {
	state := start.Tensors(t.problem.Params)
	for _, slot := range t.problem.Slots {
		state = append(state, tensors.FromShape(shapes.Make(dtypes.Float32, slot.Dims...)))
	}
	defer func() { net.Free(state...) }()
	var losses []float64
	for first := 0; first < updates; first += t.chunk {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		count := min(t.chunk, updates-first)
		out, err := t.call(data, feed(first, count), state, first, count, rate)
		if err != nil {
			return nil, nil, err
		}
		net.Free(state...)
		state = out[1:]
		sums, err := tensors.CopyFlatData[float32](out[0])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", t.problem.Name, err)
		}
		net.Free(out[0])
		loss := float64(sums[0]) / float64(count)
		losses = append(losses, loss)
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return nil, nil, fmt.Errorf("%s: the loss became %v within %d updates; "+
				"lower the learning rate (%g) or scale the inputs", t.problem.Name, loss, first+count, rate)
		}
		if report != nil {
			report(first+count, loss)
		}
	}
	values, err := net.FromTensors(state[:len(t.problem.Params)])
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.problem.Name, err)
	}
	for i, p := range t.problem.Params { // no loss shows the last update
		for _, v := range values[i] {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, nil, fmt.Errorf("%s: a value of %s became %v within %d updates; "+
					"lower the learning rate (%g) or scale the inputs", t.problem.Name, p.Name, v, updates, rate)
			}
		}
	}
	return values, losses, nil
}

// call runs count updates on the device and frees feeds.
func (t *Trainer) call(data, feeds, state []*tensors.Tensor, first, count int,
	rate float64) ([]*tensors.Tensor, error) {
	defer net.Free(feeds...)
	out, err := net.Run(t.exec, int32(first), int32(count), float32(rate), data, feeds, state)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.problem.Name, err)
	}
	return out, nil
}

// loopGraph is the compiled function. Inputs: first, count, rate, data..., feeds..., parameters..., slots... . Results:
// the sum of the losses, then parameters and slots after the last update. The loop carries all inputs,
// because a closure of go-xla cannot use outer values in every operation. Values that the body
// returns unchanged are not copied.
func (t *Trainer) loopGraph(in []*Node) []*Node {
	g := in[0].Graph()
	fixed := 3 + t.problem.Data + t.problem.Feeds
	carried := append([]*Node{Const(g, int32(0)), Const(g, float32(0))}, in...)
	parameters := func(g *Graph) (i, loss *Node, rest []*Node) {
		nodes := make([]*Node, len(carried))
		for k, x := range carried {
			nodes[k] = Parameter(g, fmt.Sprintf("carried%d", k), x.Shape())
		}
		return nodes[0], nodes[1], nodes[2:]
	}
	cond := NewClosure(g, func(g *Graph) []*Node {
		i, _, rest := parameters(g)
		return []*Node{LessThan(i, rest[1])}
	})
	body := NewClosure(g, func(g *Graph) []*Node {
		i, sum, rest := parameters(g)
		first, rate, data, feeds := rest[0], rest[2], rest[3:3+t.problem.Data], rest[3+t.problem.Data:fixed]
		loss, next := t.problem.Step(rest[fixed:], data, sliceFeeds(feeds, i), Add(first, i), rate)
		return append(append([]*Node{AddScalar(i, 1), Add(sum, loss)}, rest[:fixed]...), next...)
	})
	out := While(cond, body, carried...)
	return append(out[1:2:2], out[2+fixed:]...)
}

// stepGraph is loopGraph for a chunk of one update, without the While.
func (t *Trainer) stepGraph(in []*Node) []*Node {
	fixed := 3 + t.problem.Data + t.problem.Feeds
	feeds := sliceFeeds(in[3+t.problem.Data:fixed], Const(in[0].Graph(), int32(0)))
	loss, next := t.problem.Step(in[fixed:], in[3:3+t.problem.Data], feeds, in[0], in[2])
	return append([]*Node{loss}, next...)
}

// sliceFeeds returns row i of every feed.
func sliceFeeds(feeds []*Node, i *Node) []*Node {
	out := make([]*Node, len(feeds))
	for k, f := range feeds {
		out[k] = Gather(f, Reshape(i, 1))
	}
	return out
}
