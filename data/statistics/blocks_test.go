package statistics

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"

	"gonum.org/v1/gonum/stat"
)

// TestBootstrapCoverage: intervals cover the mean of independent and of autoregressive differences, and simultaneous
// ones all means.
func TestBootstrapCoverage(t *testing.T) {
	const n, series, times = 40, 4, 150
	rows := slices.Repeat([]int{10}, n)
	rows[3] = 30
	weight := slices.Repeat([]float64{1}, n)
	weight[3] = 3
	for _, r := range []float64{0, .5} {
		covered, together := 0, 0
		for s := range times {
			rng := random.New(int64(s), "coverage")
			diff := make([][]float64, series)
			for k := range diff {
				v := rng.NormFloat64()
				for range n {
					v = r*v + math.Sqrt(1-r*r)*rng.NormFloat64()
					diff[k] = append(diff[k], v)
				}
			}
			pointwise, simultaneous := BlockBootstrap(diff, rows, 0)
			all := true
			for k := range series {
				p, q := pointwise[k], simultaneous[k]
				if math.Abs(p.Mean-stat.Mean(diff[k], weight)) > 1e-12 || q.Low > p.Low || q.High < p.High {
					t.Fatalf("interval %v, together with others %v, mean %v", p, q, stat.Mean(diff[k], weight))
				}
				if p.Low < 0 && 0 < p.High {
					covered++
				}
				all = all && q.Low < 0 && 0 < q.High
			}
			if all {
				together++
			}
		}
		a, b := float64(covered)/(times*series), float64(together)/times
		t.Logf("coefficient %g: 95%% intervals cover %.3f of the means, simultaneous ones all means in %.3f", r, a, b)
		if a < .91 || a > .99 || b < .9 {
			t.Errorf("coefficient %g: coverage %.3f, of all means %.3f", r, a, b)
		}
	}
	same, _ := BlockBootstrap([][]float64{make([]float64, n)}, rows, 0)
	demand.Equal(t, same[0], (Estimate{N: n}), "a rule against itself")
	one, _ := BlockBootstrap([][]float64{{3}}, []int{10}, 0)
	demand.Equal(t, one[0], Estimate{Mean: 3, Low: 3, High: 3, N: 1}, "one block")
}
