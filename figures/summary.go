package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tvps/data/statistics"
	"tvps/figures/looks"
)

// Summary compares the series of one panel with a base series.
type Summary struct {
	Panel, Metric, Base string
	Unit                Unit         // of differences: Points if the metric is a share
	Rows                []SummaryRow // in the order of [looks.Compare]
}

// SummaryRow is one series of a [Summary]. The seed is the unit: values are averaged
// over steps within each seed first, and the interval is over seeds. Only pairs count,
// that is, seeds and steps at which both the series and the base were measured.
type SummaryRow struct {
	Series     string
	Mean       statistics.Estimate // of the metric
	Difference statistics.Estimate // series minus base, paired by seed and step
	ShareAbove float64             // share of steps, 0 to 1, at which the mean difference over seeds is above 0
	Steps      int                 // steps with at least one pair
}

// Means returns, for each step, the mean over seeds of a series: of its own values if base is empty, otherwise minus
// base, each difference taken within one seed and step. Pairs of which only one was measured are left out of the mean,
// as the point's N shows.
//
// It is an error if the panel has no rows of one of the series, if the two have no pair, if a row occurs twice, or if a
// value is not finite.
func Means(rows []Row, panel, metric, series, base string) ([]Point, error) {
	table, err := measuredOf(rows, panel, metric)
	if err != nil {
		return nil, err
	}
	if base == "" {
		values, err := table.series(series)
		return byStep(values), err
	}
	_, differences, err := table.paired(series, base)
	return byStep(differences), err
}

// Table compares every series of the panel with base; base itself is listed with a
// difference of 0. Errors are those of [Means].
func Table(rows []Row, panel, metric, base string) (Summary, error) {
	table, err := measuredOf(rows, panel, metric)
	if err != nil {
		return Summary{}, err
	}
	names := slices.SortedFunc(maps.Keys(table.values), looks.Compare)
	summary := Summary{Panel: panel, Metric: metric, Base: base}
	for _, name := range names {
		values, differences, err := table.paired(name, base)
		if err != nil {
			return Summary{}, err
		}
		points, above := byStep(differences), 0
		for _, p := range points {
			if p.Mean > 0 {
				above++
			}
		}
		summary.Rows = append(summary.Rows, SummaryRow{
			Series: name, Mean: statistics.MeanInterval(bySeed(values)),
			Difference: statistics.MeanInterval(bySeed(differences)),
			ShareAbove: float64(above) / float64(len(points)), Steps: len(points),
		})
	}
	return summary, nil
}

// seedStep is where a run was measured.
type seedStep struct {
	seed int64
	t    int
}

// measured holds the values of one metric of one panel, by series.
type measured struct {
	panel, metric string
	values        map[string]map[seedStep]float64
}

func measuredOf(rows []Row, panel, metric string) (measured, error) {
	m := measured{panel, metric, map[string]map[seedStep]float64{}}
	for _, r := range rows {
		if r.Panel != panel || r.Metric != metric {
			continue
		}
		if !statistics.Finite(r.Value) {
			return m, r.notFinite()
		}
		if m.values[r.Series] == nil {
			m.values[r.Series] = map[seedStep]float64{}
		}
		at := seedStep{r.Seed, r.T}
		if _, twice := m.values[r.Series][at]; twice {
			return m, fmt.Errorf("figures: panel %s, series %s has two values of %s for seed %d, t %d: keep one of them",
				panel, r.Series, metric, r.Seed, r.T)
		}
		m.values[r.Series][at] = r.Value
	}
	if len(m.values) == 0 {
		return m, fmt.Errorf("figures: panel %s has no rows with the metric %s", panel, metric)
	}
	return m, nil
}

func (m measured) series(name string) (map[seedStep]float64, error) {
	if values := m.values[name]; len(values) > 0 {
		return values, nil
	}
	return nil, fmt.Errorf("figures: panel %s has no rows of series %s with the metric %s", m.panel, name, m.metric)
}

// paired returns the values of a series and their differences from base at every seed and step that both have.
func (m measured) paired(series, base string) (values, differences map[seedStep]float64, err error) {
	own, err := m.series(series)
	if err != nil {
		return nil, nil, err
	}
	bases, err := m.series(base)
	if err != nil {
		return nil, nil, err
	}
	values, differences = map[seedStep]float64{}, map[seedStep]float64{}
	for at, v := range own {
		if b, ok := bases[at]; ok {
			values[at], differences[at] = v, v-b
		}
	}
	if len(values) == 0 {
		return nil, nil, fmt.Errorf("figures: panel %s: series %s and %s have no seed and step in common",
			m.panel, series, base)
	}
	return values, differences, nil
}

// byStep averages values over seeds: one point for each step, in order of time.
func byStep(values map[seedStep]float64) []Point {
	steps := map[int][]SeedValue{}
	for at, v := range values {
		steps[at.t] = append(steps[at.t], SeedValue{at.seed, v})
	}
	points := make([]Point, 0, len(steps))
	for _, t := range slices.Sorted(maps.Keys(steps)) {
		seeds := steps[t]
		slices.SortFunc(seeds, func(a, b SeedValue) int { return cmp.Compare(a.Seed, b.Seed) })
		var numbers []float64
		for _, s := range seeds {
			numbers = append(numbers, s.Value)
		}
		e := statistics.MeanInterval(numbers)
		points = append(points, Point{X: float64(t), Mean: e.Mean, Low: e.Low, High: e.High, N: e.N, Seeds: seeds})
	}
	return points
}

// bySeed returns each seed's mean over its steps, by ascending seed. It adds in order of time,
// so that the last bit does not depend on the order of a map.
func bySeed(values map[seedStep]float64) []float64 {
	places := slices.SortedFunc(maps.Keys(values), func(a, b seedStep) int {
		return cmp.Or(cmp.Compare(a.seed, b.seed), cmp.Compare(a.t, b.t))
	})
	var means []float64
	for len(places) > 0 {
		seed, sum, n := places[0].seed, 0.0, 0
		for ; n < len(places) && places[n].seed == seed; n++ {
			sum += values[places[n]]
		}
		means = append(means, sum/float64(n))
		places = places[n:]
	}
	return means
}
