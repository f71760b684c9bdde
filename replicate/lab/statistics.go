package lab

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/figures"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// curve holds the measurements of one seed: the values of the series and the base at the steps that both have, in
// order.
type curve struct {
	t                   []float64
	series, base, exact []float64 // exact: the series of Part.Truth
	middle, baseMiddle  []float64 // medians over seeds of series and base
}

// statistics are all statistics, with their names in sentences.
var statistics = map[paper.Statistic]struct {
	words string
	of    func(c curve) float64
}{
	paper.End: {"mean of SERIES over the last quarter",
		func(c curve) float64 { return stat.Mean(lastQuarter(c.series), nil) }},
	paper.Level: {"mean of SERIES", func(c curve) float64 { return stat.Mean(c.series, nil) }},
	paper.Difference: {"SERIES minus BASE",
		func(c curve) float64 { return stat.Mean(c.series, nil) - stat.Mean(c.base, nil) }},
	paper.EndGain: {"SERIES minus BASE over the last quarter",
		func(c curve) float64 {
			return stat.Mean(lastQuarter(c.series), nil) - stat.Mean(lastQuarter(c.base), nil)
		}},
	paper.Share: {"share of steps at which SERIES is above BASE", share},
	paper.Slope: {"rise of SERIES in 100 steps", slope},
	paper.Correlation: {"correlation of SERIES with BASE over steps",
		func(c curve) float64 { return correlation(c.series, c.base) }},
	paper.CorrelationGain: {"correlation of SERIES with the exact curve minus that of BASE", correlationGain},
	paper.Phase:           {"mean of SERIES at the steps of the same phase minus that at the others", phase},
	paper.Ratio: {"SERIES minus BASE, relative to BASE",
		func(c curve) float64 { return stat.Mean(c.series, nil)/stat.Mean(c.base, nil) - 1 }},
	paper.Sooner: {"steps by which SERIES comes sooner to where BASE ends", sooner},
	paper.Spread: {"spread of SERIES over seeds minus that of BASE", spread},
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

// spread returns a seed's term in the test of Brown and Forsythe (1974) for equal variances.
func spread(c curve) float64 {
	return distance(c.series, c.middle) - distance(c.base, c.baseMiddle)
}

// distance returns the mean absolute difference.
func distance(a, b []float64) float64 { return floats.Distance(a, b, 1) / float64(len(a)) }

// perSeed returns the part's statistic for each seed that has all series of the part, in the order of the seeds. A
// part without a base compares the series with itself. Errors: an unknown statistic, or a value that is no number.
func perSeed(rows []figures.Row, p paper.Part, metric string) ([]float64, error) {
	name := cmp.Or(p.Statistic, paper.Difference)
	take, ok := statistics[name]
	if !ok {
		return nil, fmt.Errorf("there is no statistic %q", name)
	}
	base := cmp.Or(p.Base, p.Series)
	bySeed := valuesBySeed(rows, p.Panel, metric)
	seeds := slices.Sorted(maps.Keys(bySeed))
	middle := map[string]map[int]float64{p.Series: medians(bySeed, p.Series), base: medians(bySeed, base)}
	var out []float64
	for _, seed := range seeds {
		of := bySeed[seed]
		if slices.ContainsFunc(needs(p), func(name string) bool { return len(of[name]) == 0 }) {
			continue
		}
		c := paired(of[p.Series], of[base], of[p.Truth])
		for _, t := range c.t {
			c.middle = append(c.middle, middle[p.Series][int(t)])
			c.baseMiddle = append(c.baseMiddle, middle[base][int(t)])
		}
		if len(c.t) == 0 {
			continue
		}
		value := take.of(c)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("the %s of %s is no number for seed %d: there are too few steps",
				name, p.Series, seed)
		}
		out = append(out, value)
	}
	return out, nil
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

// medians returns the medians over seeds of a series, by step.
func medians(bySeed map[int64]map[string]map[int]float64, series string) map[int]float64 {
	values := map[int][]float64{}
	for _, of := range bySeed {
		for t, v := range of[series] {
			values[t] = append(values[t], v)
		}
	}
	out := map[int]float64{}
	for t, v := range values {
		slices.Sort(v)
		out[t] = (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	return out
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
