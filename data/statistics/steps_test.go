package statistics

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tvps/ci/demand"
)

// Two seeds and three steps by hand: the seeds' means are 2 and 4, the steps' means 1, 3 and 5, and nothing is left.
// So S² = 2, B² = (4+4)/4 and R² = 0; 12.7062 and 4.3027 are the quantiles for 1 and 2 degrees of freedom.
func TestOverSeedsAndSteps(t *testing.T) {
	grid := [][]float64{{0, 2, 4}, {2, 4, 6}}
	for _, unmeasured := range []float64{0, .5, 1} {
		e := OverSeedsAndSteps(grid, unmeasured)(Level)
		half := math.Sqrt(math.Pow(12.706205, 2)*2/2 + math.Pow(4.302653, 2)*unmeasured*2/3)
		demand.Near(t, "mean", e.Mean, 3)
		demand.Near(t, "low", e.Low, 3-half)
		demand.Near(t, "high", e.High, 3+half)
	}
	// Only the residual differs: R² = 4, so steps that differ by √8 have B² = 4 - 4/2.
	d := math.Sqrt2
	residual := [][]float64{{1 - d, -1 + d}, {-1 - d, 1 + d}}
	demand.Near(t, "half", OverSeedsAndSteps(residual, 1)(Level).High, 12.706205*math.Sqrt((4-4/2.)/2))
	if e := OverSeedsAndSteps(grid[:1], 1)(Level); e.Low != e.High || e.N != 1 {
		t.Errorf("one seed has the interval %+v", e)
	}
}

// The pseudo-values of a mean are the values; those of a square of a mean give its unbiased estimate.
func TestJackknifed(t *testing.T) {
	values := []float64{1, 4, 7, 12}
	mean := func(kept []int) float64 {
		sum := 0.0
		for _, j := range kept {
			sum += values[j]
		}
		return sum / float64(len(kept))
	}
	for j, v := range Jackknifed(len(values), mean) {
		demand.Near(t, "pseudo-value", v, values[j])
	}
	square := Jackknifed(len(values), func(kept []int) float64 { return math.Pow(mean(kept), 2) })
	demand.Near(t, "mean of the pseudo-values", stat.Mean(square, nil), 36-stat.Variance(values, nil)/4)
}

// TestOverShare: equal shares of three seeds keep Wilson's interval, here of 27 of 30; and all intervals lie in [0, 1].
func TestOverShare(t *testing.T) {
	seed := []float64{1, 1, 1, 0, 1, 1, 1, 1, 1, 1}
	e := OverShare([][]float64{seed, seed, seed}, 0)(Level)
	demand.Near(t, "mean", e.Mean, .9)
	demand.Near(t, "low", e.Low, .7438)
	demand.Near(t, "high", e.High, .9654)
	ones := [][]float64{{1, 1}, {1, 1}, {1, 1}}
	if e := OverShare(ones, 0)(Level); e.High != 1 || e.Low > .7 || e.Low < .5 {
		t.Errorf("six of six: %+v", e)
	}
	demand.Near(t, "two of two steps, all seeds alike", OverShare(ones, .9)(Level).Low, .3424)
	e = OverShare([][]float64{{1, 0, 0}, {1, 1, 1}, {0, 0, 0}}, 0)(Level)
	if e.Low != 0 || e.High != 1 {
		t.Errorf("seeds that differ: %+v, want the interval over seeds, cut", e)
	}
}

// TestPValue: that of a mean is Student's. For mean 1, s = 1, n = 4 it is t = 2 with 3 degrees of freedom: .1393.
func TestPValue(t *testing.T) {
	unit := math.Sqrt(1.5) / math.Sqrt2
	i := OverSeeds([]float64{1 - unit, 1 - unit, 1 + unit, 1 + unit})
	demand.Near(t, "p", i.PValue(func(e Estimate) bool { return e.Low > 0 }), .1393)
	if p := i.PValue(func(Estimate) bool { return false }); p < .999 {
		t.Errorf("never decided: p = %v", p)
	}
	if p := i.PValue(func(Estimate) bool { return true }); p > 1e-11 {
		t.Errorf("always decided: p = %v", p)
	}
	if e := i.Clip(.5, 1.2)(Level); e.Low != .5 || e.High != 1.2 || e.Mean != 1 {
		t.Errorf("clipped: %+v", e)
	}
}
