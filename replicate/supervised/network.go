package supervised

import (
	"math"

	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"

	. "github.com/gomlx/gomlx/core/graph"
)

// network builds the logits. x: [batch, dims...], result: [batch, classes].
func network(s *net.Scope, cfg Settings, x *Node, classes int) *Node {
	switch cfg.Network {
	case "head":
		bn := map[string]net.BatchNormMode{"batch": net.BatchStatistics, "frozen": net.FrozenAverages}[cfg.BatchNorm]
		cut := map[string]resnet.Cut{"basic": resnet.LastBlock, "stage": resnet.LastStage}[cfg.Block]
		x = Reshape(x, x.Shape().Dim(0), cut.Side(), cut.Side(), -1)
		if cfg.Convolution == winograd {
			return resnet.WinogradHead(s, x, bn)
		}
		return cut.Head(s, x, bn)
	case "mlp":
		x = standardised(s, x)
		x = net.Relu(net.Dense(s.In("layer1"), x, cfg.Hidden, net.He))
		x = net.Relu(net.Dense(s.In("layer2"), x, cfg.Hidden, net.He))
	default:
		x = standardised(s, x)
	}
	return net.Dense(s.In("output"), x, classes, net.Lecun)
}

// The standardisation of the inputs is part of the model: two arrays that are not trained but set from the first data
// that the model learns from (see Standardise).
const inputMean, inputScale = "input/mean", "input/scale"

// standardised subtracts the mean of the inputs and divides by their scale.
func standardised(s *net.Scope, x *Node) *Node {
	dim := x.Shape().Dim(-1)
	mean, scale := s.State(inputMean, net.Constant(0), dim), s.State(inputScale, net.Constant(1), dim)
	return Div(Sub(x, s.Spread(mean, x.Rank())), s.Spread(scale, x.Rank()))
}

// Standardise returns the start values with the mean and scale of a vector model's inputs set from the data that it
// is about to learn from. x holds the pool's rows, [rows * dim]. The head of ResNet-18 has none: its copy is
// unchanged.
func (c *Classifier) Standardise(start net.Values, x []float32, data Samples) net.Values {
	out := start.Clone()
	input := map[string][]float32{}
	for i, p := range c.params {
		input[p.Name] = out[i]
	}
	if mean := input[inputMean]; mean != nil {
		dim := len(mean)
		of := func(row int32) []float32 { return x[int(row)*dim : int(row+1)*dim] }
		moments(of, data.Row, mean, input[inputScale])
	}
	return out
}

// moments writes the mean and the standard deviation of rows into mean and scale, [dim]. of returns a row, [dim]. The
// scale of a constant is 1.
func moments(of func(row int32) []float32, rows []int32, mean, scale []float32) {
	dim, n := len(mean), float64(len(rows))
	sum, squares := make([]float64, dim), make([]float64, dim)
	for _, row := range rows {
		for j, v := range of(row) {
			sum[j] += float64(v)
		}
	}
	for j := range sum {
		sum[j] /= n
	}
	for _, row := range rows {
		for j, v := range of(row) {
			d := float64(v) - sum[j]
			squares[j] += d * d
		}
	}
	for j := range mean {
		mean[j], scale[j] = float32(sum[j]), 1
		if sd := math.Sqrt(squares[j] / max(1, n-1)); sd > 1e-6 {
			scale[j] = float32(sd)
		}
	}
}
