package propensity

import (
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// FC3 has three fully connected layers with ReLU and batch normalisation (the paper's g for
// CLEAR): it is MLP with a batch normalisation before each ReLU.
const FC3 Network = "fc3"

var _ = register(network{name: FC3, rows: 8192, build: func(s *net.Scope, c Config, in Input, t Times) *Node {
	return twoHidden(s, c, in, t, normRelu)
}})
