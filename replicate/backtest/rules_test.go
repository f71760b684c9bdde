package backtest

import (
	"math"
	"slices"
	"testing"

	"tvps/data/random"
	"tvps/gomlx_models/propensity/crossfit"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// TestWeights: windows, forgetting and omega multiply, the mean is 1, negligible rows have no weight.
func TestWeights(t *testing.T) {
	block, age, omega := []int{0, 1, 2, 3}, []float64{30, 20, 10, 0}, []float64{1, .5, 1, .25}
	for _, c := range []struct {
		w    Weighting
		want []float64 // up to a factor
	}{
		{Weighting{}, []float64{1, 1, 1, 1}},
		{Weighting{Window: 2}, []float64{0, 0, 1, 1}},
		{Weighting{HalfLife: 10}, []float64{.125, .25, .5, 1}},
		{Weighting{Kind: crossfit.Joint}, omega},
		{Weighting{Kind: crossfit.Joint, HalfLife: 10}, []float64{.125, .125, .5, .25}},
		{Weighting{HalfLife: 1}, []float64{0, math.Exp2(-20) * 0, math.Exp2(-10), 1}},
	} {
		var o []float64
		if c.w.Kind != "" {
			o = omega
		}
		got := c.w.weights(block, 3, age, o)
		floats.Scale(4/floats.Sum(c.want), c.want)
		if !floats.EqualApprox(got, c.want, 1e-12) {
			t.Errorf("%s: weights %v, want %v", c.w, got, c.want)
		}
	}
}

// TestAllRules: no half-life or window is longer than half of the blocks; each rule has its own kind.
func TestAllRules(t *testing.T) {
	rules := allRules(20, 7)
	var names []string
	for _, r := range rules {
		names = append(names, r.Name)
		for _, w := range r.Weightings {
			if w.Kind != r.Kind || w.Window > 10 || w.HalfLife > 70 {
				t.Errorf("%s has weighting %+v", r.Name, w)
			}
		}
	}
	if want := append(Baselines(), "joint", "joint-forgetting", "covariate", "covariate-forgetting", "conditional",
		"conditional-forgetting"); !slices.Equal(names, want) {
		t.Errorf("rules %v, want %v", names, want)
	}
	if n := len(weightings(rules)); n != 1+1+3+4+3*(1+4) {
		t.Errorf("%d weightings of 20 blocks", n)
	}
}

// TestChoose: a choice depends on earlier steps alone.
func TestChoose(t *testing.T) {
	r := Rule{Weightings: []Weighting{{HalfLife: 1}, {HalfLife: 2}, {}}}
	loss := map[float64][]float64{1: {3, 0, 0, 9}, 2: {2, 2, 0, 0}, 0: {1, 3, 3, 0}}
	got := r.choose(4, func(step int, w Weighting) float64 { return loss[w.HalfLife][step] })
	want := []Weighting{{}, {}, {HalfLife: 1}, {HalfLife: 1}, {HalfLife: 2}}
	if !slices.Equal(got, want) {
		t.Errorf("chosen %v, want %v", got, want)
	}
}

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
			pointwise, simultaneous := blockBootstrap(diff, rows, 0)
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
	same, _ := blockBootstrap([][]float64{make([]float64, n)}, rows, 0)
	if same[0] != (Interval{}) {
		t.Errorf("a rule against itself has %v", same[0])
	}
}
