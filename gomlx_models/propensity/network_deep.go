package propensity

import (
	"fmt"
	"strings"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Deep has Layers fully connected layers with ReLU and batch normalisation, on x, the code
// of the time and the label as one vector (the paper's g for reinforcement learning). The
// time encoding must be fixed.
const Deep Network = "deep"

var _ = register(network{name: Deep, rows: 8192, validate: validateDeep, build: deep})

func validateDeep(c Config) error {
	if err := AtLeast("layers", c.Layers, 2); err != nil {
		return err
	}
	if c.Method != Standard && c.Time.spec().learned != nil {
		return fmt.Errorf("network deep takes the time as a number, not by time encoding %s; use one of %s", c.Time,
			strings.Join(Names(ContinuousEncodings()), ", "))
	}
	if c.Join == JoinEven {
		return fmt.Errorf("network deep has no join even; use join first")
	}
	return nil
}

func deep(s *net.Scope, c Config, in Input, t Times) *Node {
	parts := []*Node{vectors(in.X, t)}
	if c.Method != Standard {
		parts = append(parts, t.code(c))
	}
	if c.Classes > 0 {
		parts = append(parts, OneHot(in.Label, c.Classes, dtypes.Float32))
	}
	h := Concatenate(parts, -1)
	for i := range c.Layers - 1 {
		layer := s.In(fmt.Sprint("layer", i+1))
		h = normRelu(layer, net.Dense(layer, h, c.Hidden, net.He))
	}
	return Squeeze(net.Dense(s.In("out"), h, 1, zero), -1)
}
