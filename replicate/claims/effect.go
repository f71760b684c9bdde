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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Effect is a statistic over seeds, and over the steps of the stream.
type Effect struct {
	Interval  statistics.Intervals
	overSeeds statistics.Intervals // at the measured steps alone
	steps     int                  // number of measured steps
	stride    int                  // distance between them; 1 if they are no sample of other steps, 0 for several panels
}

// measure computes a part's statistic of a metric, and returns it with the level of its interval.
func measure(p paper.Part, metric string, shown map[string]shownPanel,
	e evidence) (m Effect, level float64, err error) {
	if p.Statistic == paper.Regret {
		return regret(p, shown, e)
	}
	rows, level := e.of(p.Panel, needs(p))
	if p.Statistic == paper.Adapts {
		rows, metric = hardest(rows, p, metric), hardestTasks
	}
	m, err = NewEffect(rows, p, metric, shown[p.Panel].sample)
	return m, level, err
}

// regret computes the statistic Regret. The distances of both learners from their rivals, in all panels, have
// simultaneous intervals (Bonferroni). The largest distance lies between the largest of their lower ends and the
// largest of their upper ends; the interval of the difference has the ends of both.
func regret(p paper.Part, shown map[string]shownPanel, e evidence) (m Effect, level float64, err error) {
	rivals := shown[p.Panel].series
	if len(rivals) == 0 { // as with --panel c
		return m, level, fmt.Errorf("panel %s is not run", p.Panel)
	}
	level = statistics.Level
	behind := map[string][]statistics.Intervals{} // by learner
	for _, key := range p.Panels {
		panel := shown[string(key)]
		rows, own := e.of(string(key), panel.series)
		level = max(level, own)
		for _, learner := range []string{p.Series, p.Base} {
			for _, rival := range without(rivals, []string{learner}) {
				distance := paper.Part{Panel: string(key), Series: rival, Base: learner}
				m, err := NewEffect(rows, distance, panel.metric.Name, panel.sample)
				if err != nil {
					return m, level, err
				}
				behind[learner] = append(behind[learner], m.Interval)
			}
		}
	}
	worst := func(of []statistics.Intervals, level float64) statistics.Estimate {
		out := statistics.Estimate{N: math.MaxInt} // the best learner is 0 behind itself
		for _, interval := range of {
			e := interval(level)
			out = statistics.Estimate{Mean: max(out.Mean, e.Mean), Low: max(out.Low, e.Low),
				High: max(out.High, e.High), N: min(out.N, e.N)}
		}
		return out
	}
	all := float64(2 * len(behind[p.Series]))
	m.Interval = func(level float64) statistics.Estimate {
		level = 1 - (1-level)/all
		a, b := worst(behind[p.Series], level), worst(behind[p.Base], level)
		return statistics.Estimate{Mean: a.Mean - b.Mean, Low: a.Low - b.High, High: a.High - b.Low, N: min(a.N, b.N)}
	}
	return m, level, nil
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
			floats.AddConst(s.of(c)-stat.Mean(row, nil), row) // so that their mean is the statistic
		default:
			row = []float64{s.of(c)}
		}
		if !statistics.Finite(row...) {
			return nil, errors.New("is no number: there are too few steps")
		}
		out = append(out, row)
	}
	return out, nil
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
// earns less than in the mean over all of them, in any order. shown is the metric of that mean.
func hardest(rows []figures.Row, p paper.Part, shown string) []figures.Row {
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
	values := map[figures.Row][]float64{} // by row without a value
	for _, r := range rows {
		if r.Panel == p.Panel && hard[r.Metric] {
			at := figures.Row{Panel: r.Panel, Series: r.Series, Seed: r.Seed, T: r.T, Metric: hardestTasks}
			values[at] = append(values[at], r.Value)
		}
	}
	var out []figures.Row
	for at, of := range values {
		at.Value = stat.Mean(of, nil)
		out = append(out, at)
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
	return slices.DeleteFunc([]string{p.Series, p.Base, p.Truth}, func(name string) bool { return name == "" })
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
