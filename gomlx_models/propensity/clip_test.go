package propensity

import (
	"math"
	"testing"

	"tvps/ci/demand"
)

func TestClipPolicies(t *testing.T) {
	logs := []float64{-60, -2, 0, .5, 1, 3, 60}
	e := math.Exp
	for policy, want := range map[ClipPolicy][]float64{
		ClipOne:      {e(-60), e(-2), 1, 1, 1, 1, 1},
		ClipExponent: {e(-60), e(-2), 1, e(.5), e(1), e(1), e(1)},
		ClipNone:     {e(-60), e(-2), 1, e(.5), e(1), e(3), e(60)},
	} {
		demand.List(t, policy.Weights(logs), want, "%s", policy)
	}
	demand.Equal(t, ClipNone.Omega(1000), math.Exp(60), "no clip: omega of e^1000")
}

func TestEffectiveSampleSize(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		want    float64
	}{
		{nil, 0}, {[]float64{0, 0}, 0}, {[]float64{3}, 1}, {[]float64{2, 2, 2, 2}, 4},
		{[]float64{1, 0, 0}, 1}, {[]float64{1, 2, 3}, 36. / 14}, {[]float64{10, 20, 30}, 36. / 14},
	} {
		if got := EffectiveSampleSize(c.weights); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.weights, got, c.want)
		}
	}
}
