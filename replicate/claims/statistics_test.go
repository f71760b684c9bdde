package claims

import (
	"cmp"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat"
)

// TestStatistics compares all statistics of a curve with values computed by hand.
func TestStatistics(t *testing.T) {
	c := curve{t: []float64{0, 1, 2, 3, 4, 5, 6}, series: []float64{1, 2, 3, 4, 5, 6, 7},
		base: []float64{2, 2, 2, 2, 2, 2, 2}, exact: []float64{7, 6, 5, 4, 3, 2, 1}}
	for name, want := range map[paper.Statistic]float64{
		paper.Level: 4, paper.Difference: 2, paper.Share: 5.5 / 7, paper.Rejected: 0, paper.Slope: 100, paper.Correlation: 0,
		paper.CorrelationGain: -1, paper.Ratio: 1, paper.End: 7,
		paper.EndGain: 5, paper.Adapts: 5,
		paper.Sooner: -2,
	} {
		grid, err := definitions[name].grid([]curve{c}, false)
		demand.NoError(t, err)
		if got := stat.Mean(grid[0], nil); got < want-1e-12 || got > want+1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	p := curve{t: c.t, series: []float64{0, .049, .05, .2, .3, .4, 1}}
	if got := stat.Mean(rejected(p), nil); math.Abs(got-2/7.) > 1e-12 {
		t.Errorf("%v of the p-values are below .05, want 2 of 7", got)
	}
	for _, f := range paper.Figures() {
		for _, c := range f.Claims {
			for _, p := range c.Parts {
				if _, ok := definitions[cmp.Or(p.Statistic, paper.Difference)]; !ok {
					t.Errorf("claim %s: no statistic %q", c.ID, p.Statistic)
				}
			}
		}
	}
	if len(definitions) != 17 {
		t.Errorf("there are %d statistics, 12, Spread, Highest, Further, Regret and Variation are tested", len(definitions))
	}
}

// TestHighest: 15, 20, 25 and 30 steps before the end against all other phases; 5 and 10 steps before it do not matter.
func TestHighest(t *testing.T) {
	var c curve
	for t := range 36 {
		score := .1
		switch {
		case t%5 != 0:
			score = .3
		case t == 5 || t == 10 || t == 15 || t == 20:
			score = .8 - float64(t)/100
		}
		c.t, c.series = append(c.t, float64(t)), append(c.series, score)
	}
	if got := highest(c); math.Abs(got-(.6-.3)) > 1e-12 {
		t.Errorf("the lowest of the same phase is %v above the highest of the others, want .3", got)
	}
}

// TestSooner: a curve that never reaches the final level of the base counts as one measurement late.
func TestSooner(t *testing.T) {
	at := []float64{10, 20, 30, 40, 50, 60, 70, 80}
	base := []float64{0, 0, 0, 0, 6, 6, 6, 6} // ends at 6; the mean of three values reaches it at 70
	for _, c := range []struct {
		series []float64
		want   float64
	}{
		{base, 0},
		{[]float64{0, 6, 6, 6, 6, 6, 6, 6}, 30},
		{[]float64{6, 0, 0, 0, 0, 0, 0, 0}, 60},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 5}, -20},
	} {
		demand.Equal(t, sooner(curve{t: at, series: c.series, base: base}), c.want, "%v comes sooner by", c.series)
	}
}

// TestSpread: the log of the ratio of the variances over seeds, each averaged over steps.
func TestSpread(t *testing.T) {
	var rows []figures.Row
	for seed, v := range []float64{1, 2, 6} {
		for at := range 2 {
			rows = append(rows, figures.Row{Panel: "a", Series: "sac-omega", Seed: int64(seed), T: at,
				Metric: "return", Value: v + float64(100*at)},
				figures.Row{Panel: "a", Series: "sac", Seed: int64(seed), T: at, Metric: "return", Value: 3 * v})
		}
	}
	m, err := NewEffect(rows, paper.Part{Panel: "a", Series: "sac-omega", Base: "sac", Statistic: paper.Spread},
		"return", false)
	demand.NoError(t, err)
	got := m.Interval(statistics.Level)
	if want := -math.Log(9); math.Abs(got.Mean-want) > 1e-12 || got.N != 3 || got.High < want {
		t.Errorf("%+v, want %v", got, want)
	}
}
