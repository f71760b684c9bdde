package sac

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// squashed evaluates squash for a policy of one action, at each noise.
func squashed(tb testing.TB, mean, logStd float64, noise []float32) (action, logProb []float32) {
	out := evaluate(tb, func(in []*Node) []*Node {
		a, l := squash(AddScalar(ZerosLike(in[0]), mean), AddScalar(ZerosLike(in[0]), logStd), in[0])
		return []*Node{a, l}
	}, tensors.FromFlatDataAndDimensions(noise, len(noise), 1))
	return out[0], out[1]
}

// TestLogProbabilityIsAChangeOfVariables compares log pi with the normal density divided by
// the derivative of the action by the noise, from finite differences in float64.
func TestLogProbabilityIsAChangeOfVariables(t *testing.T) {
	noise := []float32{-3, -1, -.2, 0, .5, 1.5, 2.5}
	for _, c := range []struct{ mean, logStd float64 }{{0, 0}, {1.2, -.7}, {-2, .2}} {
		_, logProb := squashed(t, c.mean, c.logStd, noise)
		want := make([]float64, len(noise))
		for i, e := range wide(noise) {
			action := func(e float64) float64 { return math.Tanh(c.mean + math.Exp(c.logStd)*e) }
			slope := (action(e+1e-5) - action(e-1e-5)) / 2e-5
			want[i] = -e*e/2 - math.Log(2*math.Pi)/2 - math.Log(slope)
		}
		near(t, "log pi", logProb, want, 1e-4)
	}
}

// TestLogProbabilityStaysFinite: if tanh(u) rounds to 1, log(1 - tanh(u)^2) is -inf, but the
// true value is 2 log 2 - 2 |u|.
func TestLogProbabilityStaysFinite(t *testing.T) {
	for _, mean := range []float64{30, -30, 200} {
		_, logProb := squashed(t, mean, 0, []float32{0})
		near(t, "log pi", logProb, []float64{-math.Log(2*math.Pi)/2 - 2*math.Ln2 + 2*math.Abs(mean)}, 1e-5)
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
		near(t, "log std", got[0], []float64{float64(c.want), float64(c.want)}, 0)
	}
}
