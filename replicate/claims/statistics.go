package claims

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/data/statistics"
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
		of: correlationGain, most: 2},
	paper.Highest: {words: "lowest SERIES 15, 20, 25 and 30 steps before the end minus the highest at other phases",
		of: highest},
	paper.Ratio: {words: "SERIES minus BASE, relative to BASE",
		of: func(c curve) float64 { return stat.Mean(c.series, nil)/stat.Mean(c.base, nil) - 1 }},
	paper.Sooner: {words: "episodes by which SERIES comes sooner to the return at which BASE ends", of: sooner},
	paper.Spread: {words: "log of the variance of SERIES over seeds, divided by that of BASE", over: spread},
	paper.Regret: {words: "worst distance from the best learner of a panel, SERIES minus BASE"}, // see judgeRegret
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

func correlationGain(c curve) float64 {
	return correlation(c.series, c.exact) - correlation(c.base, c.exact)
}

// highest compares the steps that Figure 5's caption names with all steps of another phase than the last one.
func highest(c curve) float64 {
	const period = 5 // of the stream of Figure 5
	last := int(c.t[len(c.t)-1])
	least, most := math.Inf(1), math.Inf(-1)
	for i, t := range c.t {
		switch distance := last - int(t); {
		case distance%period != 0:
			most = max(most, c.series[i])
		case distance >= 15 && distance <= 30:
			least = min(least, c.series[i])
		}
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

// Effect is a statistic over seeds, and over the steps of the stream.
type Effect struct {
	Interval  statistics.Intervals
	overSeeds statistics.Intervals // at the measured steps alone
	steps     int                  // number of measured steps
	stride    int                  // distance between them; 1 if they are no sample of other steps
}

// NewEffect computes the part's statistic. sampled tells whether steps stand for those between them, too. Errors: an
// unknown statistic, a value that is no number, and no seed with all series of the part.
func NewEffect(rows []figures.Row, p paper.Part, metric string, sampled bool) (Effect, error) {
	name := cmp.Or(p.Statistic, paper.Difference)
	s, ok := definitions[name]
	if !ok {
		return Effect{}, fmt.Errorf("there is no statistic %q", name)
	}
	seeds := alike(curves(rows, p, metric))
	if len(seeds) == 0 {
		return Effect{}, fmt.Errorf("there are no values of %s", p.Series)
	}
	m := Effect{steps: len(seeds[0].t), stride: 1}
	if sampled {
		m.stride = stride(seeds[0].t)
	}
	if s.over != nil {
		m.Interval = s.over(seeds)
		m.overSeeds = m.Interval
	} else {
		grid, err := s.grid(seeds, m.stride > 1)
		if err != nil {
			return Effect{}, fmt.Errorf("the %s of %s %w", name, p.Series, err)
		}
		over := statistics.OverSeedsAndSteps
		if s.hit != nil {
			over = statistics.OverShare
		}
		m.Interval, m.overSeeds = over(grid, 1-1/float64(m.stride)), over(grid, 0)
		if s.most > 0 {
			m.Interval, m.overSeeds = m.Interval.Clip(-s.most, s.most), m.overSeeds.Clip(-s.most, s.most)
		}
	}
	if m.Interval(statistics.Level).N == 0 {
		return Effect{}, fmt.Errorf("the %s of %s has no value", name, p.Series)
	}
	return m, nil
}

// grid returns values whose mean over the steps of a seed is the statistic: [seeds][steps], or [seeds][1] if steps are
// not asked for. A value that is no number is an error.
func (s statistic) grid(seeds []curve, steps bool) ([][]float64, error) {
	var out [][]float64
	for _, c := range seeds {
		var row []float64
		switch {
		case s.hit != nil:
			row = s.hit(c)
		case steps:
			row = statistics.Jackknifed(len(c.t), func(kept []int) float64 { return s.of(c.only(kept)) })
			row = shifted(row, s.of(c))
		default:
			row = []float64{s.of(c)}
		}
		if slices.ContainsFunc(row, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			return nil, errors.New("is no number: there are too few steps")
		}
		out = append(out, row)
	}
	return out, nil
}

// shifted adds a number to all values so that their mean is as given.
func shifted(values []float64, mean float64) []float64 {
	by := mean - stat.Mean(values, nil)
	for i := range values {
		values[i] += by
	}
	return values
}

// only returns the curve at some of its steps.
func (c curve) only(kept []int) curve {
	var out curve
	for _, i := range kept {
		out.t = append(out.t, c.t[i])
		out.series, out.base = append(out.series, c.series[i]), append(out.base, c.base[i])
		out.exact = append(out.exact, c.exact[i])
	}
	return out
}

// stride is the smallest distance between two steps; 1 for a single step.
func stride[N int | float64](t []N) int {
	least := 0
	for i := 1; i < len(t); i++ {
		if gap := int(t[i] - t[i-1]); least == 0 || gap < least {
			least = gap
		}
	}
	return max(1, least)
}

// alike returns the curves at the steps that all of them have.
func alike(seeds []curve) []curve {
	count := map[float64]int{}
	for _, c := range seeds {
		for _, t := range c.t {
			count[t]++
		}
	}
	var out []curve
	for _, c := range seeds {
		var kept []int
		for i, t := range c.t {
			if count[t] == len(seeds) {
				kept = append(kept, i)
			}
		}
		if len(kept) > 0 {
			out = append(out, c.only(kept))
		}
	}
	return out
}

// endOf returns each seed's mean of a series of a panel over the last quarter of the steps.
func endOf(rows []figures.Row, panel, series, metric string) []float64 {
	var values []float64
	for _, c := range curves(rows, paper.Part{Panel: panel, Series: series}, metric) {
		values = append(values, definitions[paper.End].of(c))
	}
	return values
}

// hardestTasks is the metric of hardest.
const hardestTasks = "hardest tasks"

// hardest returns, for the series of a part about tasks, the mean at each step over the tasks in which the part's base
// earns less than in the mean over all of them. shown is the metric of that mean.
func hardest(rows []figures.Row, p paper.Part, shown string) []figures.Row {
	type place struct {
		series string
		seed   int64
		t      int
	}
	earned := map[string][]float64{} // by the base, of each task
	var all []float64
	for _, r := range rows {
		if r.Panel == p.Panel && r.Series == p.Base && r.Metric != shown {
			earned[r.Metric], all = append(earned[r.Metric], r.Value), append(all, r.Value)
		}
	}
	hard := map[string]bool{}
	for task, of := range earned {
		hard[task] = stat.Mean(of, nil) < stat.Mean(all, nil)
	}
	values := map[place][]float64{}
	var order []place
	for _, r := range rows {
		if r.Panel == p.Panel && hard[r.Metric] {
			at := place{r.Series, r.Seed, r.T}
			if values[at] == nil {
				order = append(order, at)
			}
			values[at] = append(values[at], r.Value)
		}
	}
	var out []figures.Row
	for _, at := range order {
		out = append(out, figures.Row{Panel: p.Panel, Series: at.series, Seed: at.seed, T: at.t, Metric: hardestTasks,
			Value: stat.Mean(values[at], nil)})
	}
	return out
}

// curves returns the measurements of each seed that has all series of the part, in the order of the seeds. A part
// without a base compares the series with itself.
func curves(rows []figures.Row, p paper.Part, metric string) []curve {
	bySeed := map[int64]map[string]map[int]float64{} // then by series and step
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
