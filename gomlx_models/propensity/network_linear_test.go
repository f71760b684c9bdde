package propensity

import (
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// Linear is g with one hidden layer whose output is added to a linear score of x: an example of a network, shown in
// CONTRIBUTING.md. It exists in tests only.
const Linear Network = "linear"

var _ = register(network{name: Linear, rows: 8192, build: func(s *net.Scope, c Config, in Input, t Times) *Node {
	hidden := net.Dense(s.In("out"), net.Relu(firstLayer(s, c, in, t)), 1, zero)
	return Squeeze(Add(hidden, net.Dense(s.In("direct"), vectors(in.X, t), 1, zero)), -1)
}})
