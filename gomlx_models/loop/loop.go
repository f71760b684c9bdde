// Package loop trains small networks inside one XLA While.
//
// A training step of a small network takes microseconds, its dispatch from Go a
// millisecond. So the whole loop is compiled: minibatches are gathered on the device
// by an index array, and forward pass, gradient and optimiser run without coming back.
// One call runs a chunk of at most Chunk updates, so that a long training can be
// cancelled and its shapes, hence its compiled program, never change: data lies in
// arrays of fixed capacity, and how much of them is in use is told by the indices.
//
// A Group trains several problems of one shape, such as seeds, in one program.
package loop

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

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
	// [chunk, batch, ...] arrives here as [batch, ...]. For a Group, the scope is one of
	// copies (net.Scope.Copies), data and feeds have their axis in front, and the loss is
	// that of each copy, [copies].
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
	backend compute.Backend
	problem Problem // of a stack: its Params and Slots have the axis of copies
	alone   Problem // as it was given
	copies  int     // 0: none
	chunk   int
	exec    *Exec
	join    *Exec // puts the data of copies on one axis; nil without copies

	mu     sync.Mutex
	stacks map[int]*Trainer // by their copies
}

// New prepares the loop; it is compiled at the first Fit. chunk is the number of
// updates in one call to the device, at least 1. The pure Go backend (compute 0.1.3)
// loses values inside a While that holds a gradient, so there each update is a call
// of its own, and Chunk is 1.
func New(backend compute.Backend, problem Problem, chunk int) (*Trainer, error) {
	return newTrainer(backend, problem, chunk, 0)
}

func newTrainer(backend compute.Backend, problem Problem, chunk, copies int) (*Trainer, error) {
	if chunk < 1 {
		return nil, fmt.Errorf("loop: a chunk of %d updates; it must be at least 1", chunk)
	}
	t := &Trainer{backend: backend, problem: problem, alone: problem, copies: copies, chunk: chunk}
	if copies > 0 {
		t.problem.Name = fmt.Sprintf("%s, %d copies", problem.Name, copies)
		t.problem.Params = slices.Clone(problem.Params)
		for i, p := range problem.Params {
			t.problem.Params[i].Dims = slices.Concat(t.leading(), p.Dims)
		}
	}
	if problem.Step == nil {
		t.problem.Step, t.problem.Slots = adamStep(t.problem, copies)
	}
	graph := t.loopGraph
	if problem.Dispatch || backend.String() == gobackend.BackendName {
		t.chunk, graph = 1, t.stepGraph
	}
	var err error
	if t.exec, err = NewExec(backend, graph); err != nil {
		return nil, fmt.Errorf("loop: %s: %w", problem.Name, err)
	}
	t.exec = t.exec.WithName(t.problem.Name)
	if copies > 0 {
		if t.join, err = NewExec(backend, func(in []*Node) []*Node { return []*Node{Stack(in, 0)} }); err != nil {
			t.exec.Finalize()
			return nil, fmt.Errorf("loop: %s: %w", problem.Name, err)
		}
	}
	return t, nil
}

// leading are the axes of copies.
func (t *Trainer) leading() []int {
	if t.copies == 0 {
		return nil
	}
	return []int{t.copies}
}

// stack returns the trainer of several copies of the problem, made once for each number.
func (t *Trainer) stack(copies int) (*Trainer, error) {
	if t.alone.Step != nil {
		return nil, fmt.Errorf("loop: %s has a step of its own, which knows no copies; train it alone", t.alone.Name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if made := t.stacks[copies]; made != nil {
		return made, nil
	}
	made, err := newTrainer(t.backend, t.alone, t.chunk, copies)
	if err != nil {
		return nil, err
	}
	if t.stacks == nil {
		t.stacks = map[int]*Trainer{}
	}
	t.stacks[copies] = made
	return made, nil
}

// Chunk is the number of updates in one call to the device.
func (t *Trainer) Chunk() int { return t.chunk }

// Close frees the compiled programs.
func (t *Trainer) Close() {
	t.exec.Finalize()
	if t.join != nil {
		t.join.Finalize()
	}
	for _, stack := range t.stacks {
		stack.Close()
	}
}

// Feed fills the feeds of updates first..first+count-1: tensors of shape
// [Chunk, batch, ...], of which only the first count rows are read.
type Feed func(first, count int) []*tensors.Tensor

// Fitter trains a Problem: a Trainer alone, a Member of a Group together with others.
type Fitter interface {
	Chunk() int
	Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int, feed Feed) (net.Values, []float64, error)
}

// Fit runs updates from the start values and returns the trained values and
// the mean loss of each chunk. data must keep its shapes between calls, or the loop
// is compiled anew. Errors: a cancelled ctx, a loss that is not finite, and whatever
// the backend reports.
func (t *Trainer) Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int, feed Feed) (net.Values, []float64, error) {
	values, losses, err := t.fit(ctx, []net.Values{start}, data, rate, updates, []Feed{feed})
	if err != nil {
		return nil, nil, err
	}
	return values[0], losses[0], nil
}

// divergence is a loss that is not finite.
type divergence struct {
	error
	copy int
}

// fit is Fit for each copy: starts, feeds and the results are by copy, and data has the
// axis of copies in front.
func (t *Trainer) fit(ctx context.Context, starts []net.Values, data []*tensors.Tensor, rate float64, updates int, feeds []Feed) ([]net.Values, [][]float64, error) {
	state := joinValues(starts).Tensors(t.problem.Params)
	for _, slot := range t.problem.Slots {
		state = append(state, tensors.FromShape(shapes.Make(dtypes.Float32, slot.Dims...)))
	}
	defer func() { net.Free(state...) }()
	losses := make([][]float64, len(starts))
	for first := 0; first < updates; first += t.chunk {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		count := min(t.chunk, updates-first)
		var fed []*tensors.Tensor
		for _, feed := range feeds {
			fed = append(fed, feed(first, count)...)
		}
		out, err := t.call(data, fed, state, first, count, rate)
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
		for i, sum := range sums {
			loss := float64(sum) / float64(count)
			losses[i] = append(losses[i], loss)
			if math.IsNaN(loss) || math.IsInf(loss, 0) {
				return nil, nil, divergence{fmt.Errorf("%s: the loss became %v within %d updates; lower the learning rate (%g) or scale the inputs", t.alone.Name, loss, first+count, rate), i}
			}
		}
	}
	n := len(t.problem.Params)
	if want := n + len(t.problem.Slots); len(state) != want {
		return nil, nil, fmt.Errorf("loop: %s returned %d arrays, not %d", t.problem.Name, len(state), want)
	}
	values, err := net.FromTensors(state[:n])
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.problem.Name, err)
	}
	return splitValues(values, len(starts)), losses, nil
}

// joinValues puts the arrays of copies one behind the other.
func joinValues(copies []net.Values) net.Values {
	out := make(net.Values, len(copies[0]))
	for _, values := range copies {
		for i, array := range values {
			out[i] = append(out[i], array...)
		}
	}
	return out
}

// splitValues is the inverse of joinValues.
func splitValues(joined net.Values, copies int) []net.Values {
	out := make([]net.Values, copies)
	for _, array := range joined {
		size := len(array) / copies
		for i := range out {
			out[i] = append(out[i], slices.Clone(array[i*size:(i+1)*size]))
		}
	}
	return out
}

func (t *Trainer) call(data, feeds, state []*tensors.Tensor, first, count int, rate float64) (out []*tensors.Tensor, err error) {
	defer net.Free(feeds...)
	out, err = net.Run(t.exec, int32(first), int32(count), float32(rate), data, feeds, state)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.problem.Name, err)
	}
	return out, nil
}

// loopGraph is the compiled function. Inputs: first, count, rate, data..., feeds... (those of
// each copy one behind the other), parameters..., slots... . Results: the sum of the losses, then parameters and slots
// after the last update. The loop carries all of them: a closure of go-xla cannot use
// the values around it in every operation. What the body hands on unchanged is not copied.
func (t *Trainer) loopGraph(in []*Node) []*Node {
	g := in[0].Graph()
	in = t.joinFeeds(in)
	fixed := 3 + t.problem.Data + t.problem.Feeds
	sum := Const(g, float32(0))
	if t.copies > 0 {
		sum = Const(g, make([]float32, t.copies))
	}
	carried := append([]*Node{Const(g, int32(0)), sum}, in...)
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
	in = t.joinFeeds(in)
	fixed := 3 + t.problem.Data + t.problem.Feeds
	feeds := sliceFeeds(in[3+t.problem.Data:fixed], Const(in[0].Graph(), int32(0)))
	loss, next := t.problem.Step(in[fixed:], in[3:3+t.problem.Data], feeds, in[0], in[2])
	return append([]*Node{loss}, next...)
}

// joinFeeds replaces the feeds of copies, [chunk, batch, ...] each, by those of all,
// [chunk, copies, batch, ...].
func (t *Trainer) joinFeeds(in []*Node) []*Node {
	if t.copies == 0 {
		return in
	}
	from, n := 3+t.problem.Data, t.problem.Feeds
	out := slices.Clone(in[:from])
	for k := range n {
		var column []*Node
		for i := range t.copies {
			column = append(column, in[from+i*n+k])
		}
		out = append(out, Stack(column, 1))
	}
	return append(out, in[from+t.copies*n:]...)
}

// sliceFeeds takes row i of every feed.
func sliceFeeds(feeds []*Node, i *Node) []*Node {
	out := make([]*Node, len(feeds))
	for k, f := range feeds {
		out[k] = Gather(f, Reshape(i, 1))
	}
	return out
}
