// Package loop trains small networks inside one XLA While.
//
// A training step of a small network takes microseconds, its dispatch from Go a millisecond.
// So the whole loop is compiled: an index array selects the minibatches on the device, and
// forward pass, gradient and optimiser run without a return to Go.
//
// One call to the device runs at most Chunk updates, so that a long training can be cancelled.
// All arrays have a fixed capacity and the indices select the rows in use. So the shapes do not
// change when data are added, and the program is compiled once.
//
// A Group trains batched seeds: several trainings of one Problem in one program.
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
	Name   string // for error messages
	Params []net.Param
	// Loss builds the loss of one minibatch, a float32 scalar; of n networks that train side by
	// side, whose arrays have a leading axis [n], the loss of each, [n]. data are arrays that
	// stay on the device. feeds are this update's slices of the feeds: a feed of shape
	// [chunk, batch, ...] is passed as [batch, ...]. For a Group of m members, the scope has
	// m copies (net.Scope.Copies), data and feeds have a leading axis [m], and the result is
	// the loss of each member, [m].
	Loss func(s *net.Scope, data, feeds []*Node) *Node
	// Step, if not nil, builds the update instead of a step of Adam on Loss, and Loss is not
	// used. Slots are the arrays that it carries in addition to Params, such as moments. They
	// start at zero; only their Dims are used. A Problem with a Step cannot be used in a Group
	// of more than one member.
	Step  Step
	Slots []net.Param
	// RateFactors says that the last of the Feeds, of shape [chunk], is a factor of the learning rate
	// for each update: a schedule. Loss does not get it. Members of a Group have the same factors.
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
	backend   compute.Backend
	problem   Problem // given, with a leading axis of members in Params and Slots if members > 0
	given     Problem // the argument of New
	members   int     // of the group that it trains; 0: no axis of members
	chunk     int
	exec      *Exec
	stackExec *Exec // stacks the members' data on a leading axis

	mu      sync.Mutex
	batched map[int]*Trainer // trainers of groups, by number of members
}

// New prepares the loop, which is compiled at the first Fit. chunk is the number of updates in
// one call to the device, at least 1. On the pure Go backend (compute 0.1.3), where a While
// with a gradient loses values, and for a Problem with Dispatch each update is a separate call
// and Chunk is 1. Close the Trainer when it is no longer needed.
func New(backend compute.Backend, problem Problem, chunk int) *Trainer {
	return newTrainer(backend, problem, chunk, 0)
}

// newTrainer is New for a group of members, or without an axis of members if members is 0.
func newTrainer(backend compute.Backend, problem Problem, chunk, members int) *Trainer {
	t := &Trainer{backend: backend, problem: problem, given: problem, members: members, chunk: chunk,
		batched: map[int]*Trainer{}}
	if members > 0 {
		t.problem.Name = fmt.Sprintf("%s, %d members", problem.Name, members)
		t.problem.Params = slices.Clone(problem.Params)
		for i, p := range problem.Params {
			t.problem.Params[i].Dims = slices.Concat([]int{members}, p.Dims)
		}
	}
	if problem.Step == nil {
		t.problem.Step, t.problem.Slots = adamStep(t.problem, members)
	}
	graph := t.loopGraph
	if problem.Dispatch || backend.String() == gobackend.BackendName {
		t.chunk, graph = 1, t.stepGraph
	}
	t.exec = MustNewExec(backend, graph).WithName(t.problem.Name)
	t.stackExec = MustNewExec(backend, func(in []*Node) []*Node { return []*Node{Stack(in, 0)} })
	return t
}

// batchedTrainer returns the trainer of the problem for a group of members. There is one for
// each number of members. Close of t closes it.
func (t *Trainer) batchedTrainer(members int) (*Trainer, error) {
	if t.given.Step != nil {
		return nil, fmt.Errorf("loop: %s has its own Step, which cannot train a group; train its members separately",
			t.given.Name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.batched[members] == nil {
		t.batched[members] = newTrainer(t.backend, t.given, t.chunk, members)
	}
	return t.batched[members], nil
}

// Chunk is the number of updates in one call to the device.
func (t *Trainer) Chunk() int { return t.chunk }

// Close frees the compiled programs.
func (t *Trainer) Close() {
	t.exec.Finalize()
	t.stackExec.Finalize()
	for _, b := range t.batched {
		b.Close()
	}
}

// Feed returns the feeds of updates first..first+count-1: Problem.Feeds tensors of shape
// [Chunk, batch, ...], of which only the first count rows are read. Fit frees them.
type Feed func(first, count int) []*tensors.Tensor

// Fitter trains a Problem: a Trainer, or one of Group.Member. See Trainer.Fit.
type Fitter interface {
	Chunk() int
	Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int,
		feed Feed) (net.Values, []float64, error)
}

// Fit runs the updates with learning rate rate from the start values (in the order of
// Problem.Params). It returns the trained values and the mean loss of each chunk. If the
// shapes of data differ from those of the last call, the loop is compiled again. It fails if ctx is
// cancelled (checked before each chunk), if a loss is not finite, and if the backend fails.
func (t *Trainer) Fit(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int,
	feed Feed) (net.Values, []float64, error) {
	return t.FitUntil(ctx, start, data, rate, updates, feed, nil)
}

// Look is called after each chunk with the number of updates done, the mean loss of the chunk (of the first member of a
// group), and a function that copies the values from the device. The training ends if it returns true, or with its
// error.
type Look func(done int, loss float64, values func() (net.Values, error)) (stop bool, err error)

// FitUntil is Fit that ends when look says so; without look it is Fit.
func (t *Trainer) FitUntil(ctx context.Context, start net.Values, data []*tensors.Tensor, rate float64, updates int,
	feed Feed, look Look) (net.Values, []float64, error) {
	values, losses, err := t.fit(ctx, []net.Values{start}, data, rate, updates, []Feed{feed}, look)
	if err != nil {
		return nil, nil, err
	}
	return values[0], losses[0], nil
}

// divergenceError reports that the loss of a member is not finite.
type divergenceError struct {
	error
	member int
}

// fit is Fit for a group: starts, feeds and the results are by member, and data have a leading
// axis of members. A Trainer without this axis has one member.
func (t *Trainer) fit(ctx context.Context, starts []net.Values, data []*tensors.Tensor, rate float64, updates int,
	feeds []Feed, look Look) ([]net.Values, [][]float64, error) {
	state := concatValues(starts).Tensors(t.problem.Params)
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
				return nil, nil, divergenceError{fmt.Errorf("%s: the loss became %v within %d updates; "+
					"lower the learning rate (%g) or scale the inputs", t.given.Name, loss, first+count, rate), i}
			}
		}
		if look != nil {
			latest := losses[0][len(losses[0])-1]
			stop, err := look(first+count, latest, func() (net.Values, error) { return t.paramValues(state) })
			if err != nil {
				return nil, nil, err
			}
			if stop {
				break
			}
		}
	}
	values, err := t.paramValues(state)
	if err != nil {
		return nil, nil, err
	}
	return splitValues(values, len(starts)), losses, nil
}

// paramValues copies the values of the Params from the device. state: Params, then Slots.
func (t *Trainer) paramValues(state []*tensors.Tensor) (net.Values, error) {
	values, err := net.FromTensors(state[:len(t.problem.Params)])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.problem.Name, err)
	}
	return values, nil
}

// concatValues concatenates each array of the members, so that the member is the leading axis.
func concatValues(members []net.Values) net.Values {
	out := make(net.Values, len(members[0]))
	for _, values := range members {
		for i, array := range values {
			out[i] = append(out[i], array...)
		}
	}
	return out
}

// splitValues is the inverse of concatValues.
func splitValues(all net.Values, members int) []net.Values {
	out := make([]net.Values, members)
	for _, array := range all {
		size := len(array) / members
		for i := range out {
			out[i] = append(out[i], slices.Clone(array[i*size:(i+1)*size]))
		}
	}
	return out
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

// loopGraph is the compiled function. Inputs: first, count, rate, data..., feeds... (all feeds of
// member 0, then of member 1, ...), parameters..., slots... . Results: the sum of the losses
// (by member), then parameters and slots after the last update. The loop carries all inputs,
// because a closure of go-xla cannot use outer values in every operation. Values that the body
// returns unchanged are not copied.
func (t *Trainer) loopGraph(in []*Node) []*Node {
	g := in[0].Graph()
	in = t.stackFeeds(in)
	fixed := 3 + t.problem.Data + t.problem.Feeds
	sum := Const(g, float32(0))
	if t.members > 0 {
		sum = Const(g, make([]float32, t.members))
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
	in = t.stackFeeds(in)
	fixed := 3 + t.problem.Data + t.problem.Feeds
	feeds := sliceFeeds(in[3+t.problem.Data:fixed], Const(in[0].Graph(), int32(0)))
	loss, next := t.problem.Step(in[fixed:], in[3:3+t.problem.Data], feeds, in[0], in[2])
	return append([]*Node{loss}, next...)
}

// stackFeeds replaces the feeds of the members, [chunk, batch, ...] each, by one feed for all,
// [chunk, members, batch, ...].
func (t *Trainer) stackFeeds(in []*Node) []*Node {
	if t.members == 0 {
		return in
	}
	from, n := 3+t.problem.Data, t.problem.Feeds
	out := slices.Clone(in[:from])
	for k := range n {
		var column []*Node
		for i := range t.members {
			column = append(column, in[from+i*n+k])
		}
		out = append(out, Stack(column, 1))
	}
	return append(out, in[from+t.members*n:]...)
}

// sliceFeeds returns row i of every feed.
func sliceFeeds(feeds []*Node, i *Node) []*Node {
	out := make([]*Node, len(feeds))
	for k, f := range feeds {
		out[k] = Gather(f, Reshape(i, 1))
	}
	return out
}
