package claims

import (
	"math"

	"tvps/data/statistics"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat"
)

// curve holds the measurements of one seed: the values of the series and the base at the steps that both have, in
// order.
type curve struct {
	t                   []float64
	series, base, exact []float64 // exact: the series of Part.Truth
}

// statistic is a number that compares series and base, with its name in sentences. One of the functions is set: of is
// the number itself, within a seed; hit is 0, 1/2 or 1 for each step of a seed, and the number is their mean; over is
// computed over all seeds. Interval: [statistics.OverSeedsAndSteps], of the pseudo-values of of where steps were left
// out, and [statistics.OverShare].
type statistic struct {
	words string
	of    func(c curve) float64
	hit   func(c curve) []float64
	over  func(seeds []curve) statistics.Intervals
	most  float64 // of its absolute value, if there is a limit
}

// definitions are those of all statistics.
var definitions = map[paper.Statistic]statistic{
	paper.End: {words: "mean of SERIES over the last quarter",
		of: func(c curve) float64 { return stat.Mean(lastQuarter(c.series), nil) }},
	paper.Level: {words: "mean of SERIES", of: func(c curve) float64 { return stat.Mean(c.series, nil) }},
	paper.Difference: {words: "SERIES minus BASE",
		of: func(c curve) float64 { return stat.Mean(c.series, nil) - stat.Mean(c.base, nil) }},
	paper.EndGain: {words: "SERIES minus BASE over the last quarter", of: endGain},
	paper.Adapts: {words: "SERIES minus BASE in the tasks where that earns least, over the last quarter",
		of: endGain},
	paper.Share:    {words: "share of steps at which SERIES is above BASE", hit: above},
	paper.Rejected: {words: "share of steps at which the p-value of SERIES is below 0.05", hit: rejected},
	paper.Slope:    {words: "rise of SERIES in 100 steps", of: slope},
	paper.Correlation: {words: "correlation of SERIES with BASE over steps",
		of: func(c curve) float64 { return correlation(c.series, c.base) }, most: 1},
	paper.CorrelationGain: {words: "correlation of SERIES with the exact curve minus that of BASE",
		of: func(c curve) float64 { return correlation(c.series, c.exact) - correlation(c.base, c.exact) }, most: 2},
	paper.Highest: {words: "lowest SERIES at times 84, 79, 74 and 69 minus the highest at times of another phase",
		of: highest},
	paper.Ratio: {words: "SERIES minus BASE, relative to BASE",
		of: func(c curve) float64 { return stat.Mean(c.series, nil)/stat.Mean(c.base, nil) - 1 }},
	paper.Sooner: {words: "episodes by which SERIES comes sooner to the return at which BASE ends", of: sooner},
	paper.Spread: {words: "log of the variance of SERIES over seeds, divided by that of BASE", over: spread},
	paper.Regret: {words: "worst distance from the best learner of a panel, SERIES minus BASE"}, // see regret
	paper.Variation: {words: "largest total variation of the labels from a step to the next", // a closed form
		of: func(c curve) float64 { return stat.Mean(c.series, nil) }},
	paper.Further: {words: "SERIES minus BASE with the first 3 seeds, minus the same with the others", over: further},
}

// above counts a tie as half a step.
func above(c curve) []float64 {
	hits := make([]float64, len(c.t))
	for i := range hits {
		switch {
		case c.series[i] > c.base[i]:
			hits[i] = 1
		case c.series[i] == c.base[i]:
			hits[i] = .5
		}
	}
	return hits
}

func rejected(c curve) []float64 {
	hits := make([]float64, len(c.t))
	for i := range hits {
		if c.series[i] < 1-statistics.Level {
			hits[i] = 1
		}
	}
	return hits
}

func slope(c curve) float64 {
	_, beta := stat.LinearRegression(c.t, c.series, nil, false)
	return 100 * beta
}

// correlation returns Pearson's correlation, or 0 if one of the two is constant.
func correlation(a, b []float64) float64 {
	if r := stat.Correlation(a, b, nil); !math.IsNaN(r) {
		return r
	}
	return 0
}

// highest compares the times that Figure 5's caption names, seen from time 99, with all times of another phase: those
// whose exact score is below 1. It is NaN for another stream or target, in which the caption's times mean nothing.
func highest(c curve) float64 {
	least, most, named := math.Inf(1), math.Inf(-1), 0
	for i, t := range c.t {
		switch {
		case c.exact[i] < 1:
			most = max(most, c.series[i])
		case t == 84 || t == 79 || t == 74 || t == 69:
			least = min(least, c.series[i])
			named++
		}
	}
	if named < 4 || c.t[len(c.t)-1] != 99 {
		return math.NaN()
	}
	return least - most
}

// sooner compares the steps at which series and base first reach the base's mean over its last quarter, as a mean of
// their last three measurements. A curve that never reaches it counts as one measurement after the last.
func sooner(c curve) float64 {
	level := stat.Mean(lastQuarter(c.base), nil)
	reach := func(values []float64) float64 {
		for i := range values {
			if stat.Mean(values[max(0, i-2):i+1], nil) >= level {
				return c.t[i]
			}
		}
		last := len(c.t) - 1
		return 2*c.t[last] - c.t[max(0, last-1)]
	}
	return reach(c.base) - reach(c.series)
}

func endGain(c curve) float64 {
	return stat.Mean(lastQuarter(c.series), nil) - stat.Mean(lastQuarter(c.base), nil)
}

func lastQuarter(values []float64) []float64 { return values[len(values)-max(1, len(values)/4):] }

func spread(seeds []curve) statistics.Intervals {
	var series, base [][]float64
	for _, c := range seeds {
		series, base = append(series, c.series), append(base, c.base)
	}
	return statistics.VarianceRatio(series, base)
}

// further compares the first three seeds with all others. Both have the same steps.
func further(seeds []curve) statistics.Intervals {
	const first = 3
	var means []float64
	for _, c := range seeds {
		means = append(means, stat.Mean(c.series, nil)-stat.Mean(c.base, nil))
	}
	return statistics.DifferenceOfMeans(means[:min(first, len(means))], means[min(first, len(means)):])
}
