package loop

import (
	"math"
	"slices"
	"testing"

	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestFitUntil: each update moves a value of constant gradient by the rate times its factor. The loss is that of two
// networks, [2]. look ends the training.
func TestFitUntil(t *testing.T) {
	problem := Problem{Name: "factors", Feeds: 1, RateFactors: true,
		Params: []net.Param{{Name: "w", Dims: []int{2}, Trainable: true}},
		Loss:   func(s *net.Scope, _, _ []*Node) *Node { return s.Copies(2).Weight("w", net.Constant(0)) }}
	tr := New(open(t, "go"), problem, 1)
	defer tr.Close()
	feed := func(first, _ int) []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions([]float32{[]float32{.5, .25, 1}[first]}, 1)}
	}
	var seen []float32
	look := func(done int, _ float64, values func() (net.Values, error)) (bool, error) {
		now, err := values()
		seen = append(seen, now[0][0])
		return done == 2, err
	}
	got, losses, err := tr.FitUntil(t.Context(), net.Values{{2, 4}}, nil, .1, 3, feed, look)
	near := func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }
	if err != nil || !slices.EqualFunc(got[0], []float32{1.925, 3.925}, near) ||
		!slices.EqualFunc(seen, []float32{1.95, 1.925}, near) || len(losses) != 2 {
		t.Errorf("values %v, seen %v, losses %v, %v", got, seen, losses, err)
	}
}
