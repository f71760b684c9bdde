package sac

import (
	"math"
	"testing"

	"tvps/ci/demand"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestLogProbabilityStaysFinite: if tanh(u) rounds to 1, log(1 - tanh(u)^2) is -inf, but the
// true value is 2 log 2 - 2 |u|.
func TestLogProbabilityStaysFinite(t *testing.T) {
	for _, mean := range []float32{30, -30, 200} {
		out := evaluate(t, func(in []*Node) []*Node {
			_, logProb := squash(in[0], ZerosLike(in[0]), ZerosLike(in[0]))
			return []*Node{logProb}
		}, tensors.FromFlatDataAndDimensions([]float32{mean}, 1, 1))
		demand.Floats(t, "log pi", out[0], []float64{-math.Log(2*math.Pi)/2 - 2*math.Ln2 + 2*math.Abs(float64(mean))}, 1e-5)
	}
}

// TestLogStdIsClamped sets the last layer's bias far outside the range.
func TestLogStdIsClamped(t *testing.T) {
	cfg := tiny()
	a := open(t, "go", cfg, 1)
	for _, c := range []struct{ bias, want float32 }{{1e3, 2}, {-1e3, -20}} {
		got := evaluate(t, func(in []*Node) []*Node {
			_, logStd := a.programs.actorNet(bindBias(a, in[0].Graph(), c.bias), in[0], nil)
			return []*Node{logStd}
		}, tensors.FromFlatDataAndDimensions([]float32{1, 2, 3}, 1, 1, 3))
		demand.Floats(t, "log std", got[0], []float64{float64(c.want), float64(c.want)}, 0)
	}
}
