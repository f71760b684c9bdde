// Package loop trains small networks inside one XLA While.
//
// A training step of a small network takes microseconds, its dispatch from Go a
// millisecond. So the whole loop is compiled: minibatches are gathered on the device
// by an index array, and forward pass, gradient and optimiser run without coming back.
// One call runs a chunk of at most Chunk updates, so that a long training can be
// cancelled and its shapes, hence its compiled program, never change: data lies in
// arrays of fixed capacity, and how much of them is in use is told by the indices.
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
	Name   string
	Params []net.Param
	// Loss builds the scalar loss of one minibatch. data are arrays that stay on the
	// device, feeds the update's own slice of each feed: a feed of shape
	// [chunk, batch, ...] arrives here as [batch, ...].
	Loss func(s *net.Scope, data, feeds []*Node) *Node
	// Step, if given, is the update in place of one step of Adam on Loss, which is then
	// not used. Slots are the arrays that it carries beside Params, such as moments; they
	// start at zero, and only their Dims count.
	Step  Step
	Slots []net.Param
	// Dispatch makes every update a call of its own, without the loop. It is right where
	// a step takes longer than a call, and for convolutions on the CPU: XLA runs them 70
	// times slower inside a While.
	Dispatch bool
	// Data and Feeds are how many arrays of each kind Fit will be given.
	Data, Feeds int
}

// Step builds the graph of one update. state holds the values of the Params, then of
// the Slots; data and feeds are as for Loss; step (int32 scalar) is the number of
// updates before this one, rate (float32 scalar) the learning rate. It returns the loss
// and the state after the update, in the same order.
type Step func(state, data, feeds []*Node, step, rate *Node) (loss *Node, next []*Node)

// Trainer holds the compiled loop of a Problem. It may be used by several goroutines.
type Trainer struct {
	problem Problem
	chunk   int
	exec    *Exec
}

// New prepares the loop; it is compiled at the first Fit. chunk is the number of
// updates in one call to the device, at least 1. The pure Go backend (compute 0.1.3)
// loses values inside a While that holds a gradient, so there each update is a call
// of its own, and Chunk is 1.
func New(backend compute.Backend, problem Problem, chunk int) (*Trainer, error) {
	if chunk < 1 {
		return nil, fmt.Errorf("loop: a chunk of %d updates; it must be at least 1", chunk)
	}
	if problem.Step == nil {
		problem.Step, problem.Slots = adamStep(problem)
	}
	t := &Trainer{problem: problem, chunk: chunk}
	graph := t.loopGraph
	if problem.Dispatch || backend.String() == gobackend.BackendName {
		t.chunk, graph = 1, t.stepGraph
	}
	exec, err := NewExec(backend, graph)
	if err != nil {
		return nil, fmt.Errorf("loop: %s: %w", problem.Name, err)
	}
	t.exec = exec.WithName(problem.Name)
	return t, nil
}

// Chunk is the number of updates in one call to the device.
func (t *Trainer) Chunk() int { return t.chunk }

// Close frees the compiled program.
func (t *Trainer) Close() { t.exec.Finalize() }

// Feed fills the feeds of updates first..first+count-1: tensors of shape
// [Chunk, batch, ...], of which only the first count rows are read.
type Feed func(first, count int) []*tensors.Tensor

// Fit runs updates from the start values and returns the trained values and
// the mean loss of each chunk. data must keep its shapes between calls, or the loop
// is compiled anew. Errors: a cancelled ctx, a loss that is not finite, and whatever
// the backend reports.
func (t *Trainer) Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int, feed Feed) (net.Values, []float64, error) {
	n := len(t.problem.Params)
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
		loss := float64(tensors.ToScalar[float32](out[0])) / float64(count)
		net.Free(state...)
		state = out[1:]
		losses = append(losses, loss)
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return nil, nil, fmt.Errorf("%s: the loss became %v within %d updates; lower the learning rate (%g) or scale the inputs", t.problem.Name, loss, first+count, rate)
		}
	}
	if want := n + len(t.problem.Slots); len(state) != want {
		return nil, nil, fmt.Errorf("loop: %s returned %d arrays, not %d", t.problem.Name, len(state), want)
	}
	values, err := net.FromTensors(state[:n])
	return values, losses, err
}

func (t *Trainer) call(data, feeds, state []*tensors.Tensor, first, count int, rate float64) (out []*tensors.Tensor, err error) {
	defer net.Free(feeds...)
	out, err = net.Run(t.exec, int32(first), int32(count), float32(rate), data, feeds, state)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.problem.Name, err)
	}
	return out, nil
}

// loopGraph is the compiled function. Inputs: first, count, rate, data..., feeds...,
// parameters..., slots... . Results: the sum of the losses, then parameters and slots
// after the last update. The loop carries all of them: a closure of go-xla cannot use
// the values around it in every operation. What the body hands on unchanged is not copied.
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

// sliceFeeds takes row i of every feed.
func sliceFeeds(feeds []*Node, i *Node) []*Node {
	out := make([]*Node, len(feeds))
	for k, f := range feeds {
		out[k] = Gather(f, Reshape(i, 1))
	}
	return out
}
