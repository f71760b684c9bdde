package propensity

import (
	"fmt"
	"maps"
	"slices"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Network is the name of g's architecture. Each is declared in a file network_NAME.go; a new
// one is one more such file.
type Network string

// network declares one architecture of g.
type network struct {
	name   Network
	rows   int  // samples of one evaluation: as many as the memory for their activations allows
	images bool // samples are images of [height, width, channels], and seeds cannot be batched
	// validate returns an error for settings that are impossible with this network; nil if it
	// takes all.
	validate func(c Config) error
	// build builds g(x, y, t), [batch]. With a leading axis of batched seeds in its inputs it
	// must give each seed its own network; the layers of package net do that.
	build func(s *net.Scope, c Config, in Input, t Times) *Node
}

var networks = map[Network]network{}

// register enters a network into the table.
func register(n network) Network {
	if _, exists := networks[n.name]; exists {
		panic(fmt.Sprintf("propensity: network %s is registered twice", n.name))
	}
	networks[n.name] = n
	return n.name
}

// Networks lists all networks.
func Networks() []Network { return slices.Sorted(maps.Keys(networks)) }

// BatchedNetworks lists the networks that can be trained for batched seeds: those of vectors.
func BatchedNetworks() []Network {
	return slices.DeleteFunc(Networks(), func(n Network) bool { return n.spec().images })
}

// spec is the declaration of that name, empty if there is none.
func (n Network) spec() network { return networks[n] }

// firstLayer is the pre-activations of the first layer: what x, time and label add to them.
// Result: [batch, hidden].
func firstLayer(s *net.Scope, c Config, in Input, t Times) *Node {
	return Add(fromX(s.In("layer1"), c, vectors(in.X, t)), condition(s, c, in, t, c.Hidden))
}

// vectors flattens each sample: [batch, dims...] to [batch, dim].
func vectors(x *Node, t Times) *Node {
	leading := t.batchAxis() + 1
	if x.Rank() == leading+1 {
		return x
	}
	return Reshape(x, append(slices.Clone(x.Shape().Dimensions[:leading]), -1)...)
}

// fromX is what x adds to the first pre-activations, as Join says. Result: [batch, hidden].
func fromX(s *net.Scope, c Config, x *Node) *Node {
	if c.Join != JoinEven {
		return net.Dense(s, x, c.Hidden, net.He)
	}
	return net.Dense(s, DivScalar(x, float64(x.Shape().Dim(-1))), c.Hidden, unit)
}

// unit is N(0, 1), the initial distribution of label and time.
func unit(int) net.Initial { return net.Initial{Std: 1} }

// condition is what time and label add to the first pre-activations. Result: [batch, width].
func condition(s *net.Scope, c Config, in Input, t Times, width int) *Node {
	sum := fromTime(s, c, t, width)
	if c.Classes > 0 {
		sum = Add(sum, net.Embedding(s.In("label"), in.Label, c.Classes, width))
	}
	return sum
}

// fromTime is what the time adds to the first pre-activations: nothing in the standard score.
func fromTime(s *net.Scope, c Config, t Times, width int) *Node {
	if c.Method == Standard {
		return Zeros(s.Graph(), shapeOf(append(slices.Clone(t.values().Shape().Dimensions), width)...))
	}
	if learned := c.Time.spec().learned; learned != nil {
		return learned(s, t, width)
	}
	return net.Dense(s.In("time/map"), t.code(c), width, net.Lecun)
}

// normRelu is ReLU after a batch normalisation.
func normRelu(s *net.Scope, x *Node) *Node {
	return net.Relu(net.BatchNorm(s, x, net.BatchStatistics))
}

// zero starts the last layer: before training g is 0 and every weight 1. With random
// values there, a g that has hardly been trained gives arbitrary weights.
func zero(int) net.Initial { return net.Constant(0) }

func shapeOf(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
