package rules

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity/crossfit"

	"gonum.org/v1/gonum/stat"
)

// TestMixed: the times stand for the rows by their weights.
func TestMixed(t *testing.T) {
	got := mixed([]float64{5, 1, 2, 2}, []float64{4, 2, 1, 1})
	want := slices.Concat(slices.Repeat([]float64{1}, 5), slices.Repeat([]float64{2}, 5), slices.Repeat([]float64{5}, 10))
	demand.List(t, got, want, "times")
}

// TestLogMixture: of rows whose mean moves from -1 to 1, the logs follow those of the exact densities, the last time's
// over the mixture of all, while those of omega, over the own time's, follow them less.
func TestLogMixture(t *testing.T) {
	const n, steps = 4000, 8
	r := rand.New(rand.NewPCG(1, 2))
	d := crossfit.Table{Dim: 1}
	mean := func(s float64) float64 { return 2*s/(steps-1) - 1 }
	for i := range n {
		s := float64(i * steps / n)
		d.Time, d.X = append(d.Time, s), append(d.X, float32(mean(s)+r.NormFloat64()))
	}
	fit := crossfit.DefaultConfig()
	fit.Permutations, fit.Ensemble, fit.Kinds = 0, 1, []crossfit.Kind{crossfit.Covariate}
	g, err := crossfit.Fit(t.Context(), d, fit, 1)
	demand.NoError(t, err)
	got, err := logMixture(t.Context(), g, d, steps-1, mixed(d.Time, slices.Repeat([]float64{1}, n)), crossfit.Covariate)
	demand.NoError(t, err)
	var exact []float64
	for _, x := range d.X {
		density := func(s float64) float64 { return math.Exp(-(float64(x) - mean(s)) * (float64(x) - mean(s)) / 2) }
		m := 0.
		for s := range steps {
			m += density(float64(s)) / steps
		}
		exact = append(exact, math.Log(density(steps-1)/m))
	}
	omega, err := g.WeightsOf(t.Context(), d, steps-1, crossfit.WeightOptions{Kind: crossfit.Covariate})
	demand.NoError(t, err)
	if c, o := stat.Correlation(got, exact, nil), stat.Correlation(omega.LogOmega, exact, nil); c < .95 || o > c-.05 {
		t.Errorf("correlation with the exact logs %.3f, of omega %.3f", c, o)
	}
}
