package statistics

import (
	"math"
	"testing"

	"tvps/ci/demand"
)

func TestInterquartileMean(t *testing.T) {
	for _, c := range []struct {
		strata [][]float64
		mean   float64
	}{
		{[][]float64{{1, 2, 3, 100}}, 2.5},
		{[][]float64{{5, 1, 3}}, 3}, // fewer than four: all of them
		{[][]float64{{1, 2}, {3, 1000}, {-50, 2}, {2, 2}}, 2},
		{[][]float64{{7}}, 7},
	} {
		e := InterquartileMean(c.strata)
		if math.Abs(e.Mean-c.mean) > 1e-12 || e.N != len(c.strata[0]) || e.Low > e.Mean || e.High < e.Mean {
			t.Errorf("%v: %+v, want the mean %v", c.strata, e, c.mean)
		}
	}
}

// Values are drawn within a stratum: two strata far apart, each without spread, leave none.
func TestInterquartileMeanIsStratified(t *testing.T) {
	if e := InterquartileMean([][]float64{{0, 0, 0, 0}, {10, 10, 10, 10}}); e.Low != 5 || e.High != 5 {
		t.Errorf("%+v, want 5 without spread", e)
	}
}

func TestVarianceRatio(t *testing.T) {
	a, b := [][]float64{{1, 10}, {3, 14}}, [][]float64{{0, 0}, {0, 2}, {0, 4}} // variances 2, 8 and 0, 4
	if e := VarianceRatio(a, b)(Level); math.Abs(e.Mean-math.Log(5/2.)) > 1e-12 || e.N != 2 || !(e.Low < e.Mean) ||
		math.Abs(e.High+e.Low-2*e.Mean) > 1e-9 {
		t.Errorf("%+v", e)
	}
	demand.Equal(t, VarianceRatio(a[:1], b)(Level), (Estimate{N: 1}), "one seed")
	demand.Equal(t, VarianceRatio(a, [][]float64{{1, 2}, {1, 2}})(Level), (Estimate{}), "without variance")
}

func TestImprovement(t *testing.T) {
	for _, c := range []struct {
		a, b      []float64
		mean, low float64 // low by a search over a grid of probabilities, in Python
	}{
		{[]float64{3, 4}, []float64{1, 2}, 1, .385636},
		{[]float64{1, 2, 3}, []float64{2}, .5, .091833},
		{[]float64{1, 3, 5, 7}, []float64{2, 4, 6, 8}, .375, .116121},
	} {
		e := Improvement(c.a, c.b)
		if math.Abs(e.Mean-c.mean) > 1e-12 || e.N != len(c.a) || math.Abs(e.Low-c.low) > 1e-5 || e.High > 1 {
			t.Errorf("%v above %v: %+v, want %v from %v", c.a, c.b, e, c.mean, c.low)
		}
		mirrored := Improvement(c.b, c.a)
		if math.Abs(mirrored.Low-(1-e.High)) > 1e-9 || math.Abs(mirrored.High-(1-e.Low)) > 1e-9 {
			t.Errorf("%+v is no mirror of %+v", mirrored, e)
		}
	}
}
