// Package ci has the golden numbers of the figures, their tolerances and the comparison.
// Figures are compared by their data, not by their pixels. Package kernel/check compares the
// numbers of notebooks, in golden/notebooks, by the same rules.
//
// golden/<figure>-tiny.csv has the rows of a figure at the tiny scale, in the format of the
// figure's CSV files. tolerances.json has the largest allowed differences. `.ci/run` makes
// the tiny figures with an empty cache and compares them. By hand:
//
//	TVPS_CI=1 go test ./ci -run Golden -count=1
//	go test ./ci -run Golden -count=1 -update     # writes the goldens again
//
// The tolerances of the supervised figures lie between what rounding changes and what a learner
// changes that is replaced by Everything (TestGoldensNoticeEverything). Rounding depends on the
// number of threads (convolutions of g) and on vector instructions. Largest differences measured,
// between the machine of the goldens and one with 2 threads, with 8, with AVX2 and (vectors only)
// with SSE4.2: accuracy on images .013 for a value and .0066 for the root mean square of a series,
// on the Gaussian .009 and .0027, on the stand-in for CLEAR .0011 and .0004, weights .042 and .013,
// 0 without training; on an AMD EPYC without AVX-512 a weight of panel b of Figure 5 .0128, and a
// return of plain SAC 154. Everything instead of the learner changes the root mean square by .0046
// (Ours, panel a of Figure 6, where the tolerance is .0045) to .45.
package ci

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"tvps/figures"
	"tvps/kernel/check"
)

// Tolerance has the largest allowed absolute differences from the goldens, for one metric in
// one panel.
type Tolerance struct {
	Figure string  `json:"figure"` // such as "fig01"
	Panel  string  `json:"panel"`
	Metric string  `json:"metric"`
	Series string  `json:"series,omitempty"` // that one alone; empty for those without an entry of their own
	Mean   float64 `json:"mean"`             // of a series' mean over steps and seeds
	RMS    float64 `json:"rms,omitempty"`    // of the root mean square of a series' differences; 0: not compared
	Value  float64 `json:"value"`            // of a single value
	Why    string  `json:"why,omitempty"`
}

// ParseTolerances parses a JSON list of tolerances. It fails if the text is not such a list,
// if a tolerance is not positive (RMS may be 0), or if two are for the same figure, panel, metric and
// series.
func ParseTolerances(text []byte) ([]Tolerance, error) {
	var list []Tolerance
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("ci: the tolerances are not a list of objects: %w", err)
	}
	for i, t := range list {
		if !(t.Mean > 0) || !(t.Value > 0) || !(t.RMS >= 0) {
			return nil, fmt.Errorf("ci: the tolerances of %s panel %s %s are %v, %v and %v; all must be positive",
				t.Figure, t.Panel, t.Metric, t.Mean, t.Value, t.RMS)
		}
		if slices.ContainsFunc(list[:i], func(u Tolerance) bool {
			return u.Figure == t.Figure && u.Panel == t.Panel && u.Metric == t.Metric && u.Series == t.Series
		}) {
			return nil, fmt.Errorf("ci: there are two tolerances for %s panel %s %s", t.Figure, t.Panel, t.Metric)
		}
	}
	return list, nil
}

// Violation is one difference between a figure and its golden.
type Violation struct {
	What      string // of package check: check.Off, check.Missing, check.Extra, Twice or check.NoRule
	Panel     string
	Series    string
	Metric    string
	Seed, T   string // "all" for a mean; T is "rms" for the root mean square of all differences
	Golden    float64
	Value     float64
	Tolerance float64
}

// place identifies a row.
type place struct {
	panel, series, metric string
	seed                  int64
	t                     int
}

func placeOf(r figures.Row) place { return place{r.Panel, r.Series, r.Metric, r.Seed, r.T} }

func (p place) violation(what string) Violation {
	return Violation{
		What: what, Panel: p.panel, Series: p.series, Metric: p.metric, Seed: fmt.Sprint(p.seed), T: fmt.Sprint(p.t),
		Golden: math.NaN(), Value: math.NaN(), Tolerance: math.NaN(),
	}
}

// Compare returns all differences between the rows of a figure and its golden: first rows
// that occur twice, then the series' means over the steps and seeds that both have with the
// root mean squares of the differences, then single values in the order of the golden, then rows that only the figure
// has.
func Compare(figure string, golden, got []figures.Row, tolerances []Tolerance) []Violation {
	c := comparison{figure: figure, tolerances: tolerances, want: map[place]float64{}, have: map[place]float64{}}
	c.index(c.want, golden)
	c.index(c.have, got)
	c.means(golden)
	c.values(golden)
	for _, r := range got {
		if _, ok := c.want[placeOf(r)]; !ok {
			v := placeOf(r).violation(check.Extra)
			v.Value = r.Value
			c.found = append(c.found, v)
		}
	}
	return c.found
}

type comparison struct {
	figure     string
	tolerances []Tolerance
	want, have map[place]float64
	found      []Violation
}

// index fills to with the values of rows, and reports rows that occur twice.
func (c *comparison) index(to map[place]float64, rows []figures.Row) {
	for _, r := range rows {
		if _, ok := to[placeOf(r)]; ok {
			c.found = append(c.found, placeOf(r).violation(check.Twice))
		}
		to[placeOf(r)] = r.Value
	}
}

// tolerance returns the tolerance for a series of a panel and a metric, and whether there is one. The entry of the
// series itself comes before that of all series.
func (c *comparison) tolerance(panel, series, metric string) (out Tolerance, ok bool) {
	for _, t := range c.tolerances {
		if t.Figure != c.figure || t.Panel != panel || t.Metric != metric {
			continue
		}
		if t.Series == series {
			return t, true
		}
		if t.Series == "" {
			out, ok = t, true
		}
	}
	return out, ok
}

// check reports v unless its value is within the tolerance.
func (c *comparison) check(v Violation) {
	if !check.Within(v.Value, v.Golden, v.Tolerance) {
		c.found = append(c.found, v)
	}
}

// means compares the mean of every series and the root mean square of its differences, and reports metrics without a
// tolerance.
func (c *comparison) means(golden []figures.Row) {
	type key struct{ panel, series, metric string }
	type sums struct{ want, have, squares, n float64 }
	total := map[key]sums{}
	var order []key
	for _, r := range golden {
		k := key{r.Panel, r.Series, r.Metric}
		s, known := total[k]
		if !known {
			order = append(order, k)
		}
		if have, ok := c.have[placeOf(r)]; ok {
			s.want, s.have, s.n = s.want+r.Value, s.have+have, s.n+1
			s.squares += (have - r.Value) * (have - r.Value)
		}
		total[k] = s
	}
	for _, k := range order {
		s := total[k]
		v := Violation{
			What: check.Off, Panel: k.panel, Series: k.series, Metric: k.metric, Seed: "all", T: "all",
			Golden: s.want / s.n, Value: s.have / s.n,
		}
		rule, ok := c.tolerance(k.panel, k.series, k.metric)
		switch {
		case !ok:
			v.What, v.Tolerance = check.NoRule, math.NaN()
			c.found = append(c.found, v)
		case s.n > 0: // if it is 0, all rows are missing, which values reports
			v.Tolerance = rule.Mean
			c.check(v)
			if rule.RMS > 0 {
				v.T, v.Golden, v.Value, v.Tolerance = "rms", 0, math.Sqrt(s.squares/s.n), rule.RMS
				c.check(v)
			}
		}
	}
}

// values compares single values, and reports missing rows.
func (c *comparison) values(golden []figures.Row) {
	for _, r := range golden {
		have, ok := c.have[placeOf(r)]
		v := placeOf(r).violation(check.Missing)
		v.Golden, v.Value = r.Value, have
		if !ok {
			v.Value = math.NaN()
			c.found = append(c.found, v)
			continue
		}
		if rule, ok := c.tolerance(r.Panel, r.Series, r.Metric); ok {
			v.What, v.Tolerance = check.Off, rule.Value
			c.check(v)
		}
	}
}

// Sorted returns the rows in the order of a golden file: by panel, series, metric, seed and step.
func Sorted(rows []figures.Row) []figures.Row {
	return slices.SortedFunc(slices.Values(rows), func(a, b figures.Row) int {
		return cmp.Or(cmp.Compare(a.Panel, b.Panel), cmp.Compare(a.Series, b.Series), cmp.Compare(a.Metric, b.Metric),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.T, b.T))
	})
}
