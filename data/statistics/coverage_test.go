package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// simulation is a source of intervals whose truth is known.
type simulation struct {
	name        string
	times       int
	least, most float64 // of the share of times at which the interval holds the truth
	once        func(r *rand.Rand) (e Estimate, truth float64)
}

// TestCoverage: what the comments of the intervals say about how often they hold the truth.
func TestCoverage(t *testing.T) {
	for _, s := range slices.Concat(ofMeans(), ofSteps(), ofShares(), ofTwoGroups()) {
		r, held := rand.New(rand.NewPCG(2024, 1)), 0
		for range s.times {
			if e, truth := s.once(r); e.Low <= truth && truth <= e.High {
				held++
			}
		}
		got := float64(held) / float64(s.times)
		t.Logf("%s: %.3f", s.name, got)
		if got < s.least || got > s.most {
			t.Errorf("%s: the interval holds the truth %.3f of the time, want %.3f to %.3f", s.name, got, s.least, s.most)
		}
	}
}

// Values of a seed around the true mean 0.
func normal(r *rand.Rand) float64      { return r.NormFloat64() }
func uniform(r *rand.Rand) float64     { return r.Float64() - .5 }
func exponential(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }
func chiSquare4(r *rand.Rand) float64  { return 2 * (r.ExpFloat64() + r.ExpFloat64() - 2) }
func twoPlaces(r *rand.Rand) float64   { return float64(2*r.IntN(2)-1) + .04*r.NormFloat64() }

func draws(r *rand.Rand, n int, of func(*rand.Rand) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = of(r)
	}
	return out
}

func ofMeans() []simulation {
	var out []simulation
	for _, c := range []struct {
		name  string
		of    func(*rand.Rand) float64
		least [5]float64 // for 2, 3, 5, 8 and 10 seeds
	}{
		{"normal", normal, [5]float64{.934, .934, .934, .934, .934}},
		{"uniform", uniform, [5]float64{.91, .91, .92, .93, .93}},
		{"chi-square 4", chiSquare4, [5]float64{.91, .905, .90, .91, .91}},
		{"exponential", exponential, [5]float64{.89, .87, .87, .87, .88}},
		{"two places", twoPlaces, [5]float64{.47, .72, .91, .91, .93}},
	} {
		for i, n := range []int{2, 3, 5, 8, 10} {
			out = append(out, simulation{fmt.Sprintf("mean of %d, %s", n, c.name), 3000, c.least[i], .966,
				func(r *rand.Rand) (Estimate, float64) { return MeanInterval(draws(r, n, c.of)), 0 }})
		}
	}
	return append(out, simulation{"interquartile mean of 30", 300, .88, .98, func(r *rand.Rand) (Estimate, float64) {
		return InterquartileMean([][]float64{draws(r, 30, normal)}), 0
	}})
}

// ofSteps are streams of which every 17th step is measured. The truth is the mean of all steps' effects.
func ofSteps() []simulation {
	const all, stride = 180, 17
	correlated := func(correlation float64) func(r *rand.Rand, t int, last float64) float64 {
		return func(r *rand.Rand, t int, last float64) float64 {
			if t == 0 {
				return r.NormFloat64()
			}
			return correlation*last + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
		}
	}
	var out []simulation
	for _, c := range []struct {
		name string
		next func(r *rand.Rand, t int, last float64) float64
	}{
		{"independent", correlated(0)},
		{"autoregressive", correlated(.9)},
		{"wave", func(_ *rand.Rand, t int, _ float64) float64 { return math.Sin(2 * math.Pi * float64(t) / 45) }},
		{"trend", func(_ *rand.Rand, t int, _ float64) float64 { return float64(t) / all }},
	} {
		for _, n := range []int{3, 8} {
			once := func(r *rand.Rand) (Estimate, float64) {
				steps := make([]float64, all)
				for t := range steps {
					steps[t] = c.next(r, t, steps[max(0, t-1)])
				}
				grid, first := make([][]float64, n), r.IntN(9)
				for i := range grid {
					seed := .1 * r.NormFloat64()
					for t := first; t < all; t += stride {
						grid[i] = append(grid[i], steps[t]+seed+.3*r.NormFloat64())
					}
				}
				return OverSeedsAndSteps(grid, 1-1./stride)(Level), stat.Mean(steps, nil)
			}
			out = append(out, simulation{fmt.Sprintf("steps, %s, %d seeds", c.name, n), 3000, .93, 1, once})
		}
	}
	return out
}

// ofShares are shares of 11 steps, by seeds that differ or not; or of a long stream of which every eleventh step is
// measured, where all seeds have the same hits.
func ofShares() []simulation {
	var out []simulation
	for _, c := range []struct{ share, differ, unmeasured float64 }{
		{.5, 0, 0}, {.5, .1, 0}, {.9, 0, 0}, {.9, .1, 0}, {.5, 0, 10. / 11}, {.8, 0, 10. / 11}, {.9, 0, 10. / 11},
	} {
		out = append(out, simulation{fmt.Sprintf("share %+v", c), 1500, .91, 1, func(r *rand.Rand) (Estimate, float64) {
			hits := func(share float64) []float64 {
				return draws(r, 11, func(r *rand.Rand) float64 { return math.Ceil(share - r.Float64()) })
			}
			same := hits(c.share)
			grid := [][]float64{same, same, same}
			for i := range grid {
				if c.unmeasured == 0 {
					grid[i] = hits(c.share + c.differ*(2*r.Float64()-1))
				}
			}
			return OverShare(grid, c.unmeasured)(Level), c.share
		}})
	}
	return out
}

// ofTwoGroups are comparisons of groups of seeds, of two steps that go together.
func ofTwoGroups() []simulation {
	above := func(r *rand.Rand) float64 { return 1 + r.NormFloat64() }
	out := []simulation{{"probability of improvement", 2000, .93, .98, func(r *rand.Rand) (Estimate, float64) {
		return Improvement(draws(r, 10, above), draws(r, 10, normal)), .5 * math.Erfc(-1/2.) // Phi(1 / sqrt 2)
	}}}
	for _, c := range []struct {
		name        string
		of          func(*rand.Rand) float64
		n           int
		least, most float64
	}{
		{"normal", normal, 3, .96, 1}, {"normal", normal, 5, .96, 1}, {"normal", normal, 10, .9, .99},
		{"exponential", exponential, 10, .86, .97},
	} {
		group := func(r *rand.Rand) [][]float64 {
			var out [][]float64
			for _, v := range draws(r, c.n, c.of) {
				out = append(out, []float64{v, v})
			}
			return out
		}
		out = append(out, simulation{fmt.Sprintf("variance ratio of %d, %s", c.n, c.name), 150, c.least, c.most,
			func(r *rand.Rand) (Estimate, float64) { return VarianceRatio(group(r), group(r))(Level), 0 }})
	}
	return out
}
