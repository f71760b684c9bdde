package claims

import (
	"math"
	"math/rand/v2"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
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

// TestLooks: seeds of a normal distribution are looked at when there are three or eight, and where these decide
// nothing, up to three times more. The interval that is reported in the end covers the true difference in all but 7.5%
// of cases after two looks, 9.2% after three and 10.4% after four. That of second looks alone does in 95%.
func TestLooks(t *testing.T) {
	if !demand.Nightly {
		t.Skip("a simulation of seconds: TVPS_NIGHTLY=1 runs it")
	}
	const reps = 1500
	for _, c := range []struct {
		looks         []int   // numbers of seeds
		truth, margin float64 // in standard deviations
	}{{[]int{3, 8}, 0, 0}, {[]int{3, 8}, 0, 1}, {[]int{8, 20}, 0, .5}, {[]int{3, 8, 20}, 0, 0}, {[]int{3, 8, 20}, 0, .5},
		{[]int{3, 8, 20}, .5, 0}, {[]int{3, 6, 12, 24}, 0, 0}, {[]int{3, 6, 12, 24}, 0, .5}} {
		rng := random.New(1, "looks", len(c.looks), c.looks[0], c.truth, c.margin)
		part := paper.Part{Test: paper.Above, Margin: c.margin}
		covered, least := 0, 1.
		for look := range c.looks {
			least -= .05 / float64(look+1)
		}
		again, coveredAgain := make([]int, len(c.looks)), make([]int, len(c.looks)) // by look
		for range reps {
			var grid [][]float64
			covers := false
			for look, n := range c.looks {
				for len(grid) < n {
					grid = append(grid, []float64{c.truth + rng.NormFloat64()})
				}
				e := statistics.OverSeedsAndSteps(grid, 0)((Panel{Looks: look + 1}).Level())
				covers = e.Low <= c.truth && e.High >= c.truth
				if again[look]++; covers {
					coveredAgain[look]++
				}
				if verdictOf(part, e) != Undecided {
					break
				}
			}
			if covers {
				covered++
			}
		}
		if float64(covered) < least*reps-2*math.Sqrt(.08*reps) || again[len(c.looks)-1] < reps/50 || float64(coveredAgain[1]) < .93*float64(again[1]) {
			t.Errorf("%+v: %d of %d covered; looks %v, of them covered %v", c, covered, reps, again, coveredAgain)
		}
	}
}
