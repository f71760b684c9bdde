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

// curve is what one seed measured: values of the series and of the base at the steps
// that both have, in order.
type curve struct {
	t                   []float64
	series, base, exact []float64
	middle, baseMiddle  []float64 // of series and base, the medians over seeds
}

// statistics is the table of what can be claimed about.
var statistics = map[paper.Statistic]struct {
	words string
	of    func(c curve) float64
}{
	paper.End: {"mean of SERIES over the last quarter",
		func(c curve) float64 { return stat.Mean(lastQuarter(c.series), nil) }},
	paper.Level: {"mean of SERIES", func(c curve) float64 { return stat.Mean(c.series, nil) }},
	paper.Difference: {"SERIES minus BASE",
		func(c curve) float64 { return stat.Mean(c.series, nil) - stat.Mean(c.base, nil) }},
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

// correlation is 0 where one of the two does not vary: then it says nothing about the
// other.
func correlation(a, b []float64) float64 {
	if r := stat.Correlation(a, b, nil); !math.IsNaN(r) {
		return r
	}
	return 0
}

func correlationGain(c curve) float64 {
	return correlation(c.series, c.exact) - correlation(c.base, c.exact)
}

// phase leaves out the last step itself.
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

// sooner compares when the series and the base first reach, on average over three
// measurements, what the base has on average over its last quarter; what never does comes a
// measurement after the last.
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

// spread is a seed's part in the test of Brown and Forsythe (1974) for equal variances.
func spread(c curve) float64 {
	return distance(c.series, c.middle) - distance(c.base, c.baseMiddle)
}

// distance is the mean absolute difference.
func distance(a, b []float64) float64 { return floats.Distance(a, b, 1) / float64(len(a)) }

// perSeed takes the part's statistic within each seed that has all that the part needs, in the
// order of the seeds. A part without a base compares the series with itself.
func perSeed(rows []figures.Row, p paper.Part, metric string) ([]float64, error) {
	name := cmp.Or(p.Statistic, paper.Difference)
	take, ok := statistics[name]
	if !ok {
		return nil, fmt.Errorf("there is no statistic %q", name)
	}
	base := cmp.Or(p.Base, p.Series)
	bySeed := map[int64]map[string]map[int]float64{}
	for _, r := range rows {
		if r.Panel != p.Panel || r.Metric != metric {
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
			c.middle, c.baseMiddle = append(c.middle, middle[p.Series][int(t)]), append(c.baseMiddle,
				middle[base][int(t)])
		}
		if len(c.t) == 0 {
			continue
		}
		value := take.of(c)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("the %s of %s is no number for seed %d: there are too few steps", name, p.Series,
				seed)
		}
		out = append(out, value)
	}
	return out, nil
}

// medians are those over seeds of a series, by step.
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

// needs lists the series of the panel that the part's statistic is taken of.
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

// paired lines up what was measured at the same steps.
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
