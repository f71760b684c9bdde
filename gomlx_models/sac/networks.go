package sac

import (
	"fmt"
	"slices"

	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// mlp is the given number of hidden layers with ReLU, then a linear layer. The weights start
// at N(0, 1/fanIn), the biases at 0, as in flax and therefore in SBX, with which the learning
// curve is compared. x: [..., batch, in], result: [..., batch, out].
func mlp(s *net.Scope, x *Node, layers, hidden, out int) *Node {
	for i := range layers {
		x = net.Relu(net.Dense(s.In(fmt.Sprint("layer", i+1)), x, hidden, net.Lecun))
	}
	return net.Dense(s.In("out"), x, out, net.Lecun)
}

// policy is the actor pi(. | s, c). x: observation and context, [seeds, batch, in].
// Results: mean and log standard deviation of u, [seeds, batch, actions].
func (c Config) policy(s *net.Scope, x *Node) (mean, logStd *Node) {
	out := mlp(s.In("policy"), x, c.Layers, c.Hidden, 2*c.Actions)
	n := c.Actions
	mean, logStd = lastAxis(out, 0, n), lastAxis(out, n, 2*n)
	return mean, ClipScalar(logStd, minLogStd, maxLogStd)
}

// twinQ is Q1 and Q2 of (s, a, c), as two copies of one network. x: observation, action and
// context, [seeds, batch, in]. Result: [seeds, 2, batch].
func (c Config) twinQ(s *net.Scope, x *Node) *Node {
	dims := slices.Insert(slices.Clone(x.Shape().Dimensions), 1, 2)
	both := BroadcastToDims(ExpandAxes(x, 1), dims...)
	return Squeeze(mlp(s.In("q").Copies(2), both, c.Layers, c.Hidden, 1), -1)
}

// gru is the context: the last hidden state of a gated recurrent unit after the steps
// [a, r, s] of a window, starting from 0. Its gates are PyTorch's:
//
//	r = sigmoid(Wr x + Ur h + b), z = sigmoid(Wz x + Uz h + b'),
//	n = tanh(Wn x + b" + r (Un h + b"')),  h' = (1-z) n + z h.
//
// Steps before the start of the episode are zeros; the unit reads them like any other.
// steps: [seeds, history, batch, width], result: [seeds, batch, hidden].
//
// Each gate is computed with a multiple of 8 units, those that the unit does not have with
// weights 0: they stay at 0 and change no number. XLA's CPU code works on 8 numbers of the last
// axis at a time then; of 30 numbers it takes 4 at a time and the last two one by one.
func gru(s *net.Scope, steps *Node, hidden int) *Node {
	seeds, history, batch, width := steps.Shape().Dim(0), steps.Shape().Dim(1), steps.Shape().Dim(2), steps.Shape().Dim(3)
	units := (hidden + 7) / 8 * 8
	input := gateLayer(s.In("input"), width, width, hidden, units)
	state := gateLayer(s.In("state"), hidden, units, hidden, units)
	h := Zeros(s.Graph(), shapeOf(seeds, batch, units))
	for t := range history {
		// One product per step: with one product for all steps, the gradient of each slice of
		// it would be an array of the whole window, filled with zeros.
		x := input(Reshape(Slice(steps, AxisRange(), AxisElem(t)), seeds, batch, width))
		u := state(h)
		gates := Sigmoid(Add(lastAxis(x, 0, 2*units), lastAxis(u, 0, 2*units)))
		r, z := lastAxis(gates, 0, units), lastAxis(gates, units, 2*units)
		n := Tanh(Add(lastAxis(x, 2*units, 3*units), Mul(r, lastAxis(u, 2*units, 3*units))))
		h = Add(n, Mul(z, Sub(h, n)))
	}
	return lastAxis(h, 0, hidden)
}

// gateLayer is a linear layer from in numbers to three gates of hidden units, with zeros appended to
// its weights so that it maps rows of inWide numbers to three gates of outWide units.
func gateLayer(s *net.Scope, in, inWide, hidden, outWide int) func(x *Node) *Node {
	// eachGate appends zeros to each third of the last axis.
	eachGate := func(x *Node) *Node {
		dims := x.Shape().Dimensions
		leading := dims[:len(dims)-1]
		x = Reshape(x, slices.Concat(leading, []int{3, hidden})...)
		return Reshape(padded(x, -1, outWide), slices.Concat(leading, []int{3 * outWide})...)
	}
	w := padded(eachGate(s.Weight("weights", net.Lecun(in), in, 3*hidden)), -2, inWide)
	b := eachGate(s.Bias("biases", net.Constant(0), 3*hidden))
	return func(x *Node) *Node { return net.Affine(s, x, w, b) }
}

// padded is x with zeros appended to an axis up to the given length.
func padded(x *Node, axis, length int) *Node {
	return net.PadZeros(x, axis, 0, length-x.Shape().Dim(axis))
}

// join concatenates inputs [seeds, batch, ...] and, for agents with context, the GRU's state along their last axis.
// steps: [seeds, history, batch, width], or nil.
func (c Config) join(s *net.Scope, steps *Node, inputs ...*Node) *Node {
	if c.Context != nil {
		inputs = append(inputs, gru(s.In("gru"), steps, c.Context.Hidden))
	}
	return Concatenate(inputs, -1)
}

// lastAxis is x[..., from:to].
func lastAxis(x *Node, from, to int) *Node {
	return SliceAxis(x, -1, AxisRange(from, to))
}
