package figures

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Two seeds and three steps by hand: the seeds' means are 2 and 4, the steps' means 1, 3 and 5, and nothing is left.
// So S² = 2, B² = (4+4)/4 and R² = 0; 12.7062 and 4.3027 are the quantiles for 1 and 2 degrees of freedom.
func TestOverSeedsAndSteps(t *testing.T) {
	grid := [][]float64{{0, 2, 4}, {2, 4, 6}}
	for _, unmeasured := range []float64{0, .5, 1} {
		e := OverSeedsAndSteps(grid, unmeasured)(Level)
		half := math.Sqrt(math.Pow(12.706205, 2)*2/2 + math.Pow(4.302653, 2)*unmeasured*2/3)
		near(t, "mean", e.Mean, 3)
		near(t, "low", e.Low, 3-half)
		near(t, "high", e.High, 3+half)
	}
	// Only the residual differs: R² = 4, so steps that differ by √8 have B² = 4 - 4/2.
	d := math.Sqrt2
	residual := [][]float64{{1 - d, -1 + d}, {-1 - d, 1 + d}}
	near(t, "half", OverSeedsAndSteps(residual, 1)(Level).High, 12.706205*math.Sqrt((4-4/2.)/2))
	if e := OverSeedsAndSteps(grid[:1], 1)(Level); e.Low != e.High || e.N != 1 {
		t.Errorf("one seed has the interval %+v", e)
	}
}

// TestStepsCoverage: what the comment of OverSeedsAndSteps says of it. The truth is the mean of all steps' effects.
func TestStepsCoverage(t *testing.T) {
	const all, stride, times = 180, 17, 4000
	effects := map[string]func(*rand.Rand) []float64{
		"independent":    func(rng *rand.Rand) []float64 { return series(rng, all, 0) },
		"autoregressive": func(rng *rand.Rand) []float64 { return series(rng, all, .9) },
		"wave": func(rng *rand.Rand) []float64 {
			phase, out := rng.Float64(), make([]float64, all)
			for t := range out {
				out[t] = math.Sin(2 * math.Pi * (float64(t)/45 + phase))
			}
			return out
		},
		"trend": func(*rand.Rand) []float64 {
			out := make([]float64, all)
			for t := range out {
				out[t] = float64(t) / all
			}
			return out
		},
	}
	for name, effect := range effects {
		for _, n := range []int{3, 8} {
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			got := covered(times, func() (Estimate, float64) {
				steps, first := effect(rng), rng.IntN(9)
				grid := make([][]float64, n)
				for i := range grid {
					seed := .1 * rng.NormFloat64()
					for t := first; t < all; t += stride {
						grid[i] = append(grid[i], steps[t]+seed+.3*rng.NormFloat64())
					}
				}
				return OverSeedsAndSteps(grid, 1-1./stride)(Level), stat.Mean(steps, nil)
			})
			t.Logf("%s, %d seeds: %.3f", name, n, got)
			if got < .945 {
				t.Errorf("%s effects of steps, %d seeds: the interval covers %.3f", name, n, got)
			}
		}
	}
}

// series returns an autoregressive series of order 1 with standard deviation 1.
func series(rng *rand.Rand, length int, correlation float64) []float64 {
	out := make([]float64, length)
	out[0] = rng.NormFloat64()
	for t := 1; t < length; t++ {
		out[t] = correlation*out[t-1] + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
	}
	return out
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
		near(t, "pseudo-value", v, values[j])
	}
	square := Jackknifed(len(values), func(kept []int) float64 { return math.Pow(mean(kept), 2) })
	near(t, "mean of the pseudo-values", stat.Mean(square, nil), 36-stat.Variance(values, nil)/4)
}

// TestOverShare: equal shares of three seeds keep Wilson's interval, here of 27 of 30; and all intervals lie in [0, 1].
func TestOverShare(t *testing.T) {
	seed := []float64{1, 1, 1, 0, 1, 1, 1, 1, 1, 1}
	e := OverShare([][]float64{seed, seed, seed}, 0)(Level)
	near(t, "mean", e.Mean, .9)
	near(t, "low", e.Low, .7438)
	near(t, "high", e.High, .9654)
	ones := [][]float64{{1, 1}, {1, 1}, {1, 1}}
	if e := OverShare(ones, 0)(Level); e.High != 1 || e.Low > .7 || e.Low < .5 {
		t.Errorf("six of six: %+v", e)
	}
	near(t, "two of two steps, all seeds alike", OverShare(ones, .9)(Level).Low, .3424)
	e = OverShare([][]float64{{1, 0, 0}, {1, 1, 1}, {0, 0, 0}}, 0)(Level)
	if e.Low != 0 || e.High != 1 {
		t.Errorf("seeds that differ: %+v, want the interval over seeds, cut", e)
	}
}

// TestShareCoverage: the interval of a share covers it, whether seeds differ or not; and if of a long stream every
// eleventh step is measured, and all seeds have the same hits.
func TestShareCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	hits := func(share float64) []float64 {
		out := make([]float64, 11)
		for j := range out {
			if rng.Float64() < share {
				out[j] = 1
			}
		}
		return out
	}
	for _, c := range []struct{ share, differ, unmeasured float64 }{
		{.5, 0, 0}, {.5, .1, 0}, {.9, 0, 0}, {.9, .1, 0}, {.5, 0, 10. / 11}, {.8, 0, 10. / 11}, {.9, 0, 10. / 11},
	} {
		got := covered(1500, func() (Estimate, float64) {
			same := hits(c.share)
			grid := [][]float64{same, same, same}
			for i := range grid {
				if c.unmeasured == 0 {
					grid[i] = hits(c.share + c.differ*(2*rng.Float64()-1))
				}
			}
			return OverShare(grid, c.unmeasured)(Level), c.share
		})
		t.Logf("%+v: %.3f", c, got)
		if got < .94 {
			t.Errorf("%+v: the interval covers %.3f", c, got)
		}
	}
}

// TestPValue: that of a mean is Student's. For mean 1, s = 1, n = 4 it is t = 2 with 3 degrees of freedom: .1393.
func TestPValue(t *testing.T) {
	unit := math.Sqrt(1.5) / math.Sqrt2
	i := OverSeeds([]float64{1 - unit, 1 - unit, 1 + unit, 1 + unit})
	near(t, "p", i.PValue(func(e Estimate) bool { return e.Low > 0 }), .1393)
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
