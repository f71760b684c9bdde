package propensity

import (
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// MLP has two hidden layers with ReLU.
const MLP Network = "mlp"

var _ = register(network{name: MLP, rows: 8192, build: func(s *net.Scope, c Config, in Input, t Times) *Node {
	return twoHidden(s, c, in, t, plainRelu)
}})

// FC3 has three fully connected layers with ReLU and batch normalisation (the paper's g for
// CLEAR): it is MLP with a batch normalisation before each ReLU.
const FC3 Network = "fc3"

var _ = register(network{name: FC3, rows: 8192, build: func(s *net.Scope, c Config, in Input, t Times) *Node {
	return twoHidden(s, c, in, t, normRelu)
}})

func plainRelu(_ *net.Scope, x *Node) *Node { return net.Relu(x) }

// twoHidden is three fully connected layers; time and label join x in the first.
func twoHidden(s *net.Scope, c Config, in Input, t Times, activate func(s *net.Scope, x *Node) *Node) *Node {
	h := activate(s.In("norm1"), firstLayer(s, c, in, t))
	h = activate(s.In("norm2"), net.Dense(s.In("layer2"), h, c.Hidden, net.He))
	return Squeeze(net.Dense(s.In("layer3"), h, 1, zero), -1)
}
