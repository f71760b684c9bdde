package claims

import (
	"math"
	"math/rand/v2"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/replicate/paper"
)

// TestJackknifeCoverage: what statistics.Jackknifed says of the intervals of a slope and of a ratio. As in
// Figure 9, every 11th of 120 steps is measured with six seeds, or with three. The truth is the statistic of all steps.
func TestJackknifeCoverage(t *testing.T) {
	if !demand.Nightly {
		t.Skip("a simulation of seconds: TVPS_NIGHTLY=1 runs it")
	}
	const stride, times = 11, 2000
	for name, effect := range streams {
		for statistic, least := range map[paper.Statistic]float64{paper.Slope: .925, paper.Ratio: .915} {
			for _, n := range []int{3, 6} {
				rng := rand.New(rand.NewPCG(9, uint64(n)))
				covered, alone := 0, 0
				for range times {
					whole := related(effect(rng), effect(rng))
					truth := definitions[statistic].of(whole)
					grid, err := definitions[statistic].grid(sampledCurves(rng, whole, n, stride), true)
					demand.NoError(t, err)
					if e := statistics.OverSeedsAndSteps(grid, 1-1./stride)(statistics.Level); e.Low <= truth && truth <= e.High {
						covered++
					}
					if e := statistics.OverSeedsAndSteps(grid, 0)(statistics.Level); e.Low <= truth && truth <= e.High {
						alone++
					}
				}
				t.Logf("%s of %s effects, %d seeds: %d of %d, over seeds alone %d", statistic, name, n, covered, times, alone)
				if float64(covered) < least*times {
					t.Errorf("%s of %s effects, %d seeds: the interval covers %d of %d", statistic, name, n, covered, times)
				}
			}
		}
	}
}

const streamLength = 120

// streams draw effects of the steps of a stream.
var streams = map[string]func(*rand.Rand) []float64{
	"independent":    func(rng *rand.Rand) []float64 { return autoregressive(rng, 0) },
	"autoregressive": func(rng *rand.Rand) []float64 { return autoregressive(rng, .9) },
	"skewed": func(rng *rand.Rand) []float64 {
		out := make([]float64, streamLength)
		for t := range out {
			out[t] = rng.ExpFloat64()
		}
		return out
	},
	"wave": func(rng *rand.Rand) []float64 {
		phase, out := rng.Float64(), make([]float64, streamLength)
		for t := range out {
			out[t] = math.Sin(2 * math.Pi * (float64(t)/45 + phase))
		}
		return out
	},
	"trend": func(rng *rand.Rand) []float64 {
		out := autoregressive(rng, 0)
		for t := range out {
			out[t] = .3*out[t] + 3*float64(t)/streamLength
		}
		return out
	},
}

// autoregressive returns a series of order 1 with standard deviation 1.
func autoregressive(rng *rand.Rand, correlation float64) []float64 {
	out := []float64{rng.NormFloat64()}
	for t := 1; t < streamLength; t++ {
		out = append(out, correlation*out[t-1]+math.Sqrt(1-correlation*correlation)*rng.NormFloat64())
	}
	return out
}

// related is a stream whose series has .6 of the base and effects of its own.
func related(own, base []float64) (c curve) {
	for t := range base {
		c.exact = append(c.exact, 0)
		c.t, c.base = append(c.t, float64(t)), append(c.base, 5+base[t])
		c.series = append(c.series, .6*c.base[t]+.3*own[t])
	}
	return c
}

// sampledCurves measures every so many steps of a stream with n seeds, which have effects and noise of their own.
func sampledCurves(rng *rand.Rand, whole curve, n, stride int) []curve {
	var kept []int
	for t := rng.IntN(stride); t < streamLength; t += stride {
		kept = append(kept, t)
	}
	var out []curve
	for range n {
		c, own := whole.only(kept), .2*rng.NormFloat64()
		for i := range kept {
			c.series[i] += own + .2*rng.NormFloat64()
			c.base[i] += own + .2*rng.NormFloat64()
		}
		out = append(out, c)
	}
	return out
}
