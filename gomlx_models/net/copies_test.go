package net

import (
	"fmt"
	"slices"
	"testing"

	"tvps/gomlx_models/backend"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// layered uses every layer that knows copies: an embedding of the batch's index, dense
// layers and a batch normalisation. x: [..., batch, 3], index: [..., batch].
func layered(s *Scope, x, index *Node) *Node {
	h := Add(Dense(s.In("a"), x, 4, He), Embedding(s.In("e"), index, 5, 4, 1))
	return Dense(s.In("b"), Relu(BatchNorm(s.In("norm"), h, BatchStatistics)), 2, Lecun)
}

// TestCopiesAreNetworksSideBySide compares n copies in one pass with n passes of one
// network: values, gradients of the weights and new averages, while training and after.
func TestCopiesAreNetworksSideBySide(t *testing.T) {
	const batch = 6
	seeds := []int64{3, 1, 4}
	n := len(seeds)
	declare := func(copies ...int) []Param {
		in := []shapes.Shape{shapes.Make(dtypes.Float32, append(slices.Clone(copies), batch, 3)...), shapes.Make(dtypes.Int32, append(slices.Clone(copies), batch)...)}
		params, err := Declare(open(t, backend.Go), in, func(s *Scope, in []*Node) { layered(within(s, copies), in[0], in[1]) })
		if err != nil {
			t.Fatal(err)
		}
		return params
	}
	x, index := draw(n*batch*3, "copies"), []int32{0, 1, 2, 3, 4, 0, 4, 4, 4, 4, 4, 3, 1, 0, 1, 0, 1, 2}
	for _, name := range backends {
		for _, training := range []bool{true, false} {
			pass := func(params []Param, x []float32, index []int32, values Values, copies ...int) [][]float32 {
				args := []any{tensor(x, append(slices.Clone(copies), batch, 3)...), reshaped(index, append(slices.Clone(copies), batch)...)}
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
			one, stack := declare(), declare(n)
			got := pass(stack, x, index, InitSeeds(stack, seeds, "copies"), n)
			want := make([][]float32, len(got))
			for i, seed := range seeds {
				alone := pass(one, x[i*batch*3:(i+1)*batch*3], index[i*batch:(i+1)*batch], Init(one, seed, "copies"))
				for k := range want {
					want[k] = append(want[k], alone[k]...)
				}
			}
			for k, what := range []string{"result", "average mean", "average variance", "gradient of a", "gradient of the table", "gradient of b"} {
				near(t, fmt.Sprintf("%s, training %v, backend %q", what, training, name), got[k], want[k], 2e-5)
			}
		}
	}
}

// within enters the scope of each of the copies in turn.
func within(s *Scope, copies []int) *Scope {
	for _, n := range copies {
		s = s.Copies(n)
	}
	return s
}

// TestCopiesOfCopies checks the order of the axes and what each copy holds.
func TestCopiesOfCopies(t *testing.T) {
	in := []shapes.Shape{shapes.Make(dtypes.Float32, 2, 3, 5, 7)}
	params, err := Declare(open(t, backend.Go), in, func(s *Scope, in []*Node) {
		s = s.Copies(2)
		y := Dense(s.In("twin").Copies(3), in[0], 11, He)
		if want := []int{2, 3, 5, 11}; !slices.Equal(y.Shape().Dimensions, want) {
			t.Errorf("the result has shape %v, not %v", y.Shape(), want)
		}
		s.Bias("outer", Constant(1), 4)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]int{"twin/weights": {2, 3, 7, 11}, "twin/biases": {2, 3, 11}, "outer": {2, 4}}
	for _, p := range params {
		if !slices.Equal(p.Dims, want[p.Name]) {
			t.Errorf("%s has shape %v, not %v", p.Name, p.Dims, want[p.Name])
		}
	}
	v := InitSeeds(params, []int64{8, 9}, "nested")
	size := 3 * 7 * 11
	for i, seed := range []int64{8, 9} {
		alone := Init([]Param{{Name: "twin/weights", Dims: []int{3, 7, 11}, Init: He(7)}}, seed, "nested")[0]
		if !slices.Equal(v[0][i*size:(i+1)*size], alone) {
			t.Errorf("copy %d does not start as seed %d alone", i, seed)
		}
		if slices.Equal(alone[:77], alone[77:154]) {
			t.Error("two inner copies start alike")
		}
	}
}
