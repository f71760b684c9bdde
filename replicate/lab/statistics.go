package lab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/figures"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat"
)

// curve holds the measurements of one seed: the values of the series and the base at the steps that both have, in
// order.
type curve struct {
	t                   []float64
	series, base, exact []float64 // exact: the series of Part.Truth
}

// statistic is a number that compares series and base, with its name in sentences. Either it is computed within each
// seed, and its interval is Student's t over seeds, or it is computed over all seeds.
type statistic struct {
	words string
	of    func(c curve) float64
	over  func(seeds []curve) figures.Estimate
}

// statistics are all statistics.
var statistics = map[paper.Statistic]statistic{
	paper.End: {words: "mean of SERIES over the last quarter",
		of: func(c curve) float64 { return stat.Mean(lastQuarter(c.series), nil) }},
	paper.Level: {words: "mean of SERIES", of: func(c curve) float64 { return stat.Mean(c.series, nil) }},
	paper.Difference: {words: "SERIES minus BASE",
		of: func(c curve) float64 { return stat.Mean(c.series, nil) - stat.Mean(c.base, nil) }},
	paper.EndGain: {words: "SERIES minus BASE over the last quarter",
		of: func(c curve) float64 {
			return stat.Mean(lastQuarter(c.series), nil) - stat.Mean(lastQuarter(c.base), nil)
		}},
	paper.Share: {words: "share of steps at which SERIES is above BASE", of: share},
	paper.Slope: {words: "rise of SERIES in 100 steps", of: slope},
	paper.Correlation: {words: "correlation of SERIES with BASE over steps",
		of: func(c curve) float64 { return correlation(c.series, c.base) }},
	paper.CorrelationGain: {words: "correlation of SERIES with the exact curve minus that of BASE", of: correlationGain},
	paper.Phase:           {words: "mean of SERIES at the steps of the same phase minus that at the others", of: phase},
	paper.Ratio: {words: "SERIES minus BASE, relative to BASE",
		of: func(c curve) float64 { return stat.Mean(c.series, nil)/stat.Mean(c.base, nil) - 1 }},
	paper.Sooner: {words: "steps by which SERIES comes sooner to where BASE ends", of: sooner},
	paper.Spread: {words: "log of the variance of SERIES over seeds, divided by that of BASE", over: spread},
}

// share counts a tie as half a step.
func share(c curve) float64 {
	sum := 0.0
	for i := range c.t {
		switch {
		case c.series[i] > c.base[i]:
			sum++
		case c.series[i] == c.base[i]:
			sum += .5
		}
	}
	return sum / float64(len(c.t))
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

func correlationGain(c curve) float64 {
	return correlation(c.series, c.exact) - correlation(c.base, c.exact)
}

// phase excludes the last step itself.
func phase(c curve) float64 {
	const period = 5 // of the stream of Figure 5
	last := int(c.t[len(c.t)-1])
	var same, other []float64
	for i, t := range c.t {
		switch distance := last - int(t); {
		case distance == 0:
		case distance%period == 0:
			same = append(same, c.series[i])
		default:
			other = append(other, c.series[i])
		}
	}
	return stat.Mean(same, nil) - stat.Mean(other, nil)
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

func lastQuarter(values []float64) []float64 { return values[len(values)-max(1, len(values)/4):] }

func spread(seeds []curve) figures.Estimate {
	var series, base [][]float64
	for _, c := range seeds {
		series, base = append(series, c.series), append(base, c.base)
	}
	return figures.VarianceRatio(series, base)
}

// estimate returns the part's statistic with its interval over seeds. Errors: an unknown statistic, a value that is no
// number, and no seed with all series of the part.
func estimate(rows []figures.Row, p paper.Part, metric string) (figures.Estimate, error) {
	name := cmp.Or(p.Statistic, paper.Difference)
	take, ok := statistics[name]
	if !ok {
		return figures.Estimate{}, fmt.Errorf("there is no statistic %q", name)
	}
	seeds := curves(rows, p, metric)
	var e figures.Estimate
	if take.over != nil {
		e = take.over(seeds)
	} else {
		values, err := perSeed(seeds, take.of)
		if err != nil {
			return e, fmt.Errorf("the %s of %s %w", name, p.Series, err)
		}
		e = figures.MeanInterval(values)
	}
	if e.N == 0 {
		return e, fmt.Errorf("there are no values of %s", p.Series)
	}
	return e, nil
}

// perSeed returns a statistic of each seed.
func perSeed(seeds []curve, of func(c curve) float64) ([]float64, error) {
	var out []float64
	for _, c := range seeds {
		value := of(c)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, errors.New("is no number: there are too few steps")
		}
		out = append(out, value)
	}
	return out, nil
}

// curves returns the measurements of each seed that has all series of the part, in the order of the seeds. A part
// without a base compares the series with itself.
func curves(rows []figures.Row, p paper.Part, metric string) []curve {
	bySeed := valuesBySeed(rows, p.Panel, metric)
	var out []curve
	for _, seed := range slices.Sorted(maps.Keys(bySeed)) {
		of := bySeed[seed]
		if slices.ContainsFunc(needs(p), func(name string) bool { return len(of[name]) == 0 }) {
			continue
		}
		if c := paired(of[p.Series], of[cmp.Or(p.Base, p.Series)], of[p.Truth]); len(c.t) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// valuesBySeed returns the values of a panel's metric by seed, series and step.
func valuesBySeed(rows []figures.Row, panel, metric string) map[int64]map[string]map[int]float64 {
	bySeed := map[int64]map[string]map[int]float64{}
	for _, r := range rows {
		if r.Panel != panel || r.Metric != metric {
			continue
		}
		if bySeed[r.Seed] == nil {
			bySeed[r.Seed] = map[string]map[int]float64{}
		}
		if bySeed[r.Seed][r.Series] == nil {
			bySeed[r.Seed][r.Series] = map[int]float64{}
		}
		bySeed[r.Seed][r.Series][r.T] = r.Value
	}
	return bySeed
}

// needs lists the series of the panel that the part's statistic is computed from.
func needs(p paper.Part) []string {
	names := []string{p.Series}
	if p.Base != "" {
		names = append(names, p.Base)
	}
	if p.Truth != "" {
		names = append(names, p.Truth)
	}
	return names
}

// paired returns the values at the steps that series and base have in common.
func paired(series, base, exact map[int]float64) curve {
	var c curve
	for _, t := range slices.Sorted(maps.Keys(series)) {
		if b, ok := base[t]; ok {
			c.t = append(c.t, float64(t))
			c.series, c.base, c.exact = append(c.series, series[t]), append(c.base, b), append(c.exact, exact[t])
		}
	}
	return c
}
