package propensity

import (
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// Trend is MLP with the time itself as one more input, since cos(pi u) is flat at both ends of the times.
const Trend Network = "trend"

var _ = register(network{name: Trend, rows: 8192, build: trend, pair: trendPair})

func trend(s *net.Scope, c Config, in Input, t Times) *Node {
	x, slope := trendLayer(s, c, in, t)
	return fromTrend(s, c, in, t, x, slope)
}

// trendPair computes once what x adds to the first layer.
func trendPair(s *net.Scope, c Config, in Input, t2, t1 Times) (g2, g1 *Node) {
	x, slope := trendLayer(s, c, in, t2)
	axis := t2.batchAxis()
	label := Input{Label: in.Label}.twice(axis)
	return halves(fromTrend(s, c, label, t2.concatenate(t1), Concatenate([]*Node{x, x}, axis), slope), axis)
}

// trendLayer is what x adds to the first pre-activations, [batch, hidden], and the weights of the time, [1, hidden].
func trendLayer(s *net.Scope, c Config, in Input, t Times) (x, slope *Node) {
	layer := s.In("layer1")
	v, init := c.scaled(vectors(in.X, t))
	dim := v.Shape().Dim(-1)
	weights := layer.Weight("weights", init(dim+1), dim+1, c.Hidden)
	bias := layer.Bias("biases", net.Constant(0), c.Hidden)
	x = net.Affine(layer, v, SliceAxis(weights, -2, AxisRange(0, dim)), bias)
	return x, SliceAxis(weights, -2, AxisRange(dim, dim+1))
}

// fromTrend is the rest of the network.
func fromTrend(s *net.Scope, c Config, in Input, t Times, x, slope *Node) *Node {
	if c.Method != Standard { // which has no time
		x = Add(x, Mul(t.trend(), slope))
	}
	return fromFirst(s, c, Add(x, condition(s, c, in, t, c.Hidden)), plainRelu)
}
