package net

import (
	"fmt"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// layered uses every layer that supports Copies: an embedding of the batch's index, dense
// layers and a batch normalisation. x: [..., batch, 3], index: [..., batch].
func layered(s *Scope, x, index *Node) *Node {
	h := Add(Dense(s.In("a"), x, 4, He), Embedding(s.In("e"), index, 5, 4))
	return Dense(s.In("b"), Relu(BatchNorm(s.In("norm"), h, BatchStatistics)), 2, Lecun)
}

const layeredBatch = 6

// declareLayered returns the parameters of layered in scopes of copies.
func declareLayered(t *testing.T, copies ...int) []Param {
	t.Helper()
	in := []shapes.Shape{shapes.Make(dtypes.Float32, append(slices.Clone(copies), layeredBatch, 3)...),
		shapes.Make(dtypes.Int32, append(slices.Clone(copies), layeredBatch)...)}
	params, err := Declare(open(t, backend.Go), in,
		func(s *Scope, in []*Node) { layered(within(s, copies), in[0], in[1]) })
	demand.NoError(t, err)
	return params
}

// layeredPass is one pass of layered. It returns its value, two new running averages and three
// gradients of the weights.
func layeredPass(t *testing.T, name string, training bool, params []Param, x []float32, index []int32,
	values Values, copies ...int) [][]float32 {
	t.Helper()
	args := []any{tensor(x, append(slices.Clone(copies), layeredBatch, 3)...),
		tensor(index, append(slices.Clone(copies), layeredBatch)...)}
	for _, v := range values.Tensors(params) {
		args = append(args, v)
	}
	return run(t, open(t, name), func(in []*Node) []*Node {
		root := Bind(in[0].Graph(), params, in[2:], training)
		y := layered(within(root, copies), in[0], in[1])
		loss := ReduceAllSum(Mul(y, Mul(y, y)))
		return slices.Concat([]*Node{y}, root.Updated(params, in[2:])[5:7], Gradient(loss, in[2], in[4], in[9]))
	}, args...)
}

// TestCopiesMatchSeparateNetworks compares one pass of n copies with n passes of one network.
func TestCopiesMatchSeparateNetworks(t *testing.T) {
	const batch = layeredBatch
	seeds := []int64{3, 1, 4}
	n := len(seeds)
	x, index := draw(n*batch*3, "copies"), []int32{0, 1, 2, 3, 4, 0, 4, 4, 4, 4, 4, 3, 1, 0, 1, 0, 1, 2}
	one, batched := declareLayered(t), declareLayered(t, n)
	results := []string{"value", "average mean", "average variance", "gradient of a", "gradient of the table",
		"gradient of b"}
	for _, name := range backends {
		for _, training := range []bool{true, false} {
			got := layeredPass(t, name, training, batched, x, index, InitSeeds(batched, seeds, "copies"), n)
			want := make([][]float32, len(got))
			for i, seed := range seeds {
				separate := layeredPass(t, name, training, one, x[i*batch*3:(i+1)*batch*3],
					index[i*batch:(i+1)*batch], Init(one, seed, "copies"))
				for k := range want {
					want[k] = append(want[k], separate[k]...)
				}
			}
			for k, what := range results {
				demand.Floats(t, fmt.Sprintf("%s, training %v, backend %q", what, training, name), got[k], want[k], 2e-5)
			}
		}
	}
}

// within returns the scope of copies of copies.
func within(s *Scope, copies []int) *Scope {
	for _, n := range copies {
		s = s.Copies(n)
	}
	return s
}

// TestGradient compares gradients with GoMLX's, of layers that are applied once and of one that is applied twice.
func TestGradient(t *testing.T) {
	for _, copies := range [][]int{nil, {3}, {3, 2}} {
		dims := append(slices.Clone(copies), layeredBatch, 3)
		shape := shapes.Make(dtypes.Float32, dims...)
		loss := func(s *Scope, x *Node) *Node {
			s = within(s, copies)
			h := Dense(s.In("twice"), Relu(Dense(s.In("twice"), x, 3, He)), 3, He)
			y := Dense(s.In("once"), h, 2, Lecun)
			return ReduceAllSum(Mul(y, Mul(y, y)))
		}
		params, err := Declare(open(t, backend.Go), []shapes.Shape{shape}, func(s *Scope, in []*Node) { loss(s, in[0]) })
		demand.NoError(t, err)
		for _, name := range []string{backend.Go, ""} {
			args := []any{tensor(draw(shape.Size(), "gradient"), dims...)}
			for _, v := range Init(params, 1, "gradient").Tensors(params) {
				args = append(args, v)
			}
			got := run(t, open(t, name), func(in []*Node) []*Node {
				s := Bind(in[0].Graph(), params, in[1:], true)
				value := loss(s, in[0])
				ours, theirs := s.Gradient(value, in[1:]...), Gradient(value, in[1:]...)
				for i, p := range params {
					if at := ours[i].Type(); p.Name == "once/weights" && at != NodeTypeDotGeneral {
						t.Errorf("the gradient of %s is a %s, not the product itself", p.Name, at)
					}
				}
				return slices.Concat(ours, theirs)
			}, args...)
			for i, p := range params {
				demand.Floats(t, fmt.Sprintf("gradient of %s in copies %v", p.Name, copies), got[i], got[len(params)+i], 1e-5)
			}
		}
	}
}
