package propensity

import (
	"fmt"

	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// Conv5 has five convolutions and one linear layer (the paper's g for CIFAR-10); samples are
// images of [height, width, channels].
const Conv5 Network = "conv5"

// An evaluation takes fewer rows than that of vectors: patches of images need a hundred
// times the memory.
var _ = register(network{name: Conv5, rows: 256, images: true, build: conv5})

// conv5 is five 3x3 convolutions, four of them with stride 2, and a linear layer. Label and
// time shift the channels before the first two nonlinearities.
func conv5(s *net.Scope, c Config, in Input, t Times) *Node {
	x, channels := in.X, c.Hidden
	for i, stride := range []int{1, 2, 2, 2, 2} {
		if i == 2 || i == 4 {
			channels *= 2
		}
		layer := s.In(fmt.Sprint("conv", i+1))
		x = net.Im2colConv(layer, x, channels, 3, stride)
		if i < 2 {
			shift := condition(layer, c, in, t, channels)
			x = Add(x, Reshape(shift, shift.Shape().Dim(0), 1, 1, channels))
		} else {
			b := layer.Bias("biases", net.Constant(0), channels)
			x = Add(x, ExpandLeftToRank(b, 4))
		}
		x = net.Relu(x)
	}
	return Squeeze(net.Dense(s.In("linear"), vectors(x, t), 1, zero), -1)
}
