package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/figures"

	"gonum.org/v1/gonum/stat"
)

// Statistic names a number that is taken within each seed, over its steps.
type Statistic string

const (
	Level           Statistic = "level"            // mean of the series over steps
	Difference      Statistic = "difference"       // mean of series minus base over steps
	Share           Statistic = "share"            // share of steps at which the series is above the base; a tie counts half
	Slope           Statistic = "slope"            // of the least-squares line through the series, for 100 steps
	Correlation     Statistic = "correlation"      // Pearson's, of series and base over steps
	CorrelationGain Statistic = "correlation-gain" // correlation of the series with the exact curve minus that of the base
	Phase           Statistic = "phase"            // mean at the steps of the last one's phase (period 5) minus mean at the others
	Ratio           Statistic = "ratio"            // mean of series minus base, divided by the mean of the base
)

// curve is what one seed measured: values of the series and of the base at the steps
// that both have, in order.
type curve struct {
	t                   []float64
	series, base, exact []float64
}

// statistics is the table of what can be claimed about.
var statistics = map[Statistic]struct {
	words string
	of    func(c curve) float64
}{
	Level:           {"mean of SERIES", func(c curve) float64 { return stat.Mean(c.series, nil) }},
	Difference:      {"SERIES minus BASE", func(c curve) float64 { return stat.Mean(c.series, nil) - stat.Mean(c.base, nil) }},
	Share:           {"share of steps at which SERIES is above BASE", share},
	Slope:           {"rise of SERIES in 100 steps", slope},
	Correlation:     {"correlation of SERIES with BASE over steps", func(c curve) float64 { return correlation(c.series, c.base) }},
	CorrelationGain: {"correlation of SERIES with the exact curve minus that of BASE", correlationGain},
	Phase:           {"mean of SERIES at the steps of the same phase minus that at the others", phase},
	Ratio:           {"SERIES minus BASE, relative to BASE", func(c curve) float64 { return stat.Mean(c.series, nil)/stat.Mean(c.base, nil) - 1 }},
}

func (s Statistic) orDifference() Statistic { return cmp.Or(s, Difference) }

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

// perSeed takes the statistic within each seed that has all that the part needs, in the
// order of the seeds. A part without a base compares the series with itself.
func (s Statistic) perSeed(rows []figures.Row, p Part, metric string) ([]float64, error) {
	take, ok := statistics[s.orDifference()]
	if !ok {
		return nil, fmt.Errorf("there is no statistic %q", s)
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
	var out []float64
	for _, seed := range slices.Sorted(maps.Keys(bySeed)) {
		of := bySeed[seed]
		if slices.ContainsFunc(p.needs(), func(name string) bool { return len(of[name]) == 0 }) {
			continue
		}
		c := paired(of[p.Series], of[base], of["exact"])
		if len(c.t) == 0 {
			continue
		}
		value := take.of(c)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("the %s of %s is no number for seed %d: there are too few steps", s.orDifference(), p.Series, seed)
		}
		out = append(out, value)
	}
	return out, nil
}

// needs lists the series of the panel that the part's statistic is taken of.
func (p Part) needs() []string {
	names := []string{p.Series}
	if p.Base != "" {
		names = append(names, p.Base)
	}
	if p.Statistic == CorrelationGain {
		names = append(names, "exact")
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
