package propensity

import (
	"math"

	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// g builds the score g(x, y, t). x: [batch, ...] standardised, label and time:
// [batch] int32, table: [times, encoding] float32. Result: [batch].
func g(s *net.Scope, cfg Config, x, label, time, table *Node) *Node {
	if cfg.Network == Conv5 {
		return conv5(s, cfg, x, label, time, table)
	}
	h := Add(entrance(s.In("layer1"), cfg, x), condition(s, cfg, label, time, table, cfg.Hidden))
	h = activate(s.In("norm1"), cfg, h)
	h = activate(s.In("norm2"), cfg, net.Dense(s.In("layer2"), h, cfg.Hidden, net.He))
	return Squeeze(net.Dense(s.In("layer3"), h, 1, zero), -1)
}

// entrance is what x adds to the first sums, as loud as the join has it. Result: [batch, hidden].
func entrance(s *net.Scope, cfg Config, x *Node) *Node {
	x = Reshape(x, x.Shape().Dim(0), -1)
	if cfg.Join != JoinEven {
		return net.Dense(s, x, cfg.Hidden, net.He)
	}
	return net.Dense(s, DivScalar(x, float64(x.Shape().Dim(1))), cfg.Hidden, unit)
}

// unit is N(0, 1), the initial distribution of label and time.
func unit(int) net.Initial { return net.Initial{Std: 1} }

// activate is ReLU, behind a batch normalisation in FC3.
func activate(s *net.Scope, cfg Config, x *Node) *Node {
	if cfg.Network == FC3 {
		x = net.BatchNorm(s, x, net.BatchStatistics)
	}
	return net.Relu(x)
}

// condition is what label and time add to the first sums. Result: [batch, width].
func condition(s *net.Scope, cfg Config, label, time, table *Node, width int) *Node {
	var sum *Node
	add := func(x *Node) {
		if sum == nil {
			sum = x
		} else {
			sum = Add(sum, x)
		}
	}
	times := table.Shape().Dim(0)
	switch {
	case cfg.Method == Standard:
		add(Zeros(s.Graph(), shapeOf(label.Shape().Dim(0), width)))
	case cfg.Time == TimeOneHot:
		add(net.Embedding(s.In("time"), time, times, width, 1))
	case cfg.Time == TimeEmbedding:
		e := net.Embedding(s.In("time"), time, times, embeddingDim, 1)
		add(net.Dense(s.In("time/map"), e, width, net.Lecun))
	default:
		add(net.Dense(s.In("time/map"), Gather(table, ExpandAxes(time, -1)), width, net.Lecun))
	}
	if cfg.Classes > 0 {
		add(net.Embedding(s.In("label"), label, cfg.Classes, width, 1))
	}
	return sum
}

const embeddingDim = 8

// zero starts the last layer: before training g is 0 and every weight 1. With random
// values there, a g that has hardly been trained gives weights that are arbitrary.
func zero(int) net.Initial { return net.Constant(0) }

// conv5 is five 3x3 convolutions, four of them with stride 2, and a linear layer.
// Label and time shift the channels before the first two nonlinearities.
// x: [batch, height, width, channels].
func conv5(s *net.Scope, cfg Config, x, label, time, table *Node) *Node {
	channels := cfg.Hidden
	for i, stride := range []int{1, 2, 2, 2, 2} {
		if i == 2 || i == 4 {
			channels *= 2
		}
		in := s.In("conv" + string(rune('1'+i)))
		x = net.Conv(in, x, channels, 3, stride, net.Im2col)
		if i < 2 {
			c := condition(in, cfg, label, time, table, channels)
			x = Add(x, Reshape(c, c.Shape().Dim(0), 1, 1, channels))
		} else {
			b := in.Bias("biases", net.Constant(0), channels)
			x = Add(x, ExpandLeftToRank(b, 4))
		}
		x = net.Relu(x)
	}
	flat := Reshape(x, x.Shape().Dim(0), -1)
	return Squeeze(net.Dense(s.In("linear"), flat, 1, zero), -1)
}

// encode returns the fixed encodings of times, [len(times)][width], for the encodings
// that are functions of t; u is t scaled to [0, 1] between first and last.
func encode(cfg Config, times []float64, first, last float64) [][]float32 {
	out := make([][]float32, len(times))
	for i, t := range times {
		u := (t - first) / (last - first)
		switch cfg.Time {
		case TimeScalar:
			out[i] = []float32{float32(2*u - 1)}
		case TimeFourier:
			for k := range cfg.Frequencies {
				phase := math.Pi * float64(k+1) * u
				out[i] = append(out[i], float32(math.Sin(phase)), float32(math.Cos(phase)))
			}
		default:
			out[i] = []float32{0}
		}
	}
	return out
}
