package propensity

import (
	"math"
	"slices"
	"testing"

	"tvps/data/random"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestNormalScores: the scores of few values, also of equal ones, between values and beyond them.
func TestNormalScores(t *testing.T) {
	quantile := distuv.UnitNormal.Quantile
	for _, c := range []struct {
		name     string
		values   []float64
		of, want []float64
	}{
		{"different values, one of them far", []float64{1e9, -1, 3, 0}, []float64{-7, -1, -.5, 0, 3, 1e9, 1e12},
			[]float64{quantile(1. / 8), quantile(1. / 8), (quantile(1./8) + quantile(3./8)) / 2, quantile(3. / 8),
				quantile(5. / 8), quantile(7. / 8), quantile(7. / 8)}},
		{"equal values share a rank", []float64{2, 0, 2, 2, 5}, []float64{0, 2, 5},
			[]float64{quantile(.1), quantile(.5), quantile(.9)}},
		{"two values have mean 0, and a distance of 2", []float64{1, 0, 0, 0}, []float64{0, 1, .5}, []float64{-.5, 1.5, .5}},
		{"a constant up to rounding", []float64{1e7, 1e7 + 1}, []float64{0, 1e7, 2e7}, []float64{0, 0, 0}},
		{"numbers of float32 that differ", []float64{1e6, 1e6 + 1}, []float64{0, 1e6, 2e6}, []float64{-1, -1, 1}},
		{"no values", nil, []float64{7}, []float64{0}},
		{"as far apart as numbers can be", []float64{-math.MaxFloat64, 0, math.MaxFloat64}, []float64{math.MaxFloat64 / 2},
			[]float64{quantile(5./6) / 2}},
	} {
		k := NormalScores(slices.Clone(c.values), Rounding)
		for i, v := range c.of {
			if got := k.Of(v); math.Abs(got-c.want[i]) > 1e-12 {
				t.Errorf("%s: %v has score %v, want %v", c.name, v, got, c.want[i])
			}
		}
	}
}

// TestKnots: few knots give the scores of many values, of which the rarest keep theirs; x and -x have opposite scores.
func TestKnots(t *testing.T) {
	const n = 30000
	values, minus := make([]float64, n), make([]float64, n)
	rng := random.New(1, "knots")
	for i := range values {
		values[i] = math.Exp(3 * rng.NormFloat64())
		minus[i] = -values[i]
	}
	k, opposite := NormalScores(values, 0), NormalScores(minus, 0) // they sort the values
	if len(k.Value) > 8*knotsPerScore+10 {
		t.Errorf("%d knots", len(k.Value))
	}
	for i, v := range values {
		exact, got := distuv.UnitNormal.Quantile((float64(i)+.5)/n), k.Of(v)
		if math.Abs(got-exact) > .5/knotsPerScore {
			t.Errorf("value %d of %d has score %.4f, want %.4f", i, n, got, exact)
		}
		if math.Abs(got+opposite.Of(-v)) > 1e-4 {
			t.Errorf("%v has score %v, and -%v has %v", v, got, v, opposite.Of(-v))
		}
	}
	if got, want := k.Of(values[n-1]), distuv.UnitNormal.Quantile((n-.5)/n); math.Abs(got-want) > 1e-12 {
		t.Errorf("the largest value has score %v, want %v", got, want)
	}
}
