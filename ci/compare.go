// Package ci holds the numbers that figures must keep, their tolerances, and the
// comparison. Figures are compared by their data, never by their pixels. The numbers of
// notebooks, in golden/notebooks, are compared by the same rules in kernel/check.
//
// golden/<figure>-<scale>.csv holds the rows of a figure in the format of its own CSV
// files; tolerances.json says how far a new value may lie from them. `.ci/run` makes
// the tiny figures in a clean cache and compares; by hand:
//
//	TVPS_CI=1 go test ./ci -run Golden -count=1
//	go test ./ci -run Golden -count=1 -update     # writes the goldens anew
package ci

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"tvps/figures"
)

// Tolerance says how far values of one metric in one panel may lie from the goldens,
// as absolute differences.
type Tolerance struct {
	Figure string  `json:"figure"` // as "fig01"
	Panel  string  `json:"panel"`
	Metric string  `json:"metric"`
	Mean   float64 `json:"mean"`  // of a series' mean over steps and seeds
	Value  float64 `json:"value"` // of a single value
}

// ParseTolerances reads a JSON list of tolerances. Errors: no such list, a tolerance
// that is no positive number, two for the same figure, panel and metric.
func ParseTolerances(text []byte) ([]Tolerance, error) {
	var list []Tolerance
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("ci: the tolerances are not a list of objects: %w", err)
	}
	for i, t := range list {
		if !(t.Mean > 0) || !(t.Value > 0) {
			return nil, fmt.Errorf("ci: the tolerances of %s panel %s %s are %v and %v; both must be positive", t.Figure, t.Panel, t.Metric, t.Mean, t.Value)
		}
		if slices.ContainsFunc(list[:i], func(u Tolerance) bool {
			return u.Figure == t.Figure && u.Panel == t.Panel && u.Metric == t.Metric
		}) {
			return nil, fmt.Errorf("ci: there are two tolerances for %s panel %s %s", t.Figure, t.Panel, t.Metric)
		}
	}
	return list, nil
}

// Violation is one place where a figure differs from its golden.
type Violation struct {
	What      string // what is wrong
	Panel     string
	Series    string
	Metric    string
	Seed, T   string // "all" for a mean
	Golden    float64
	Value     float64
	Tolerance float64
}

// What can be wrong.
const (
	Off     = "off"          // further from the golden than the tolerance, or not a number
	Missing = "missing"      // the golden has the row, the figure has not
	Extra   = "extra"        // the figure has a row that the golden has not
	Twice   = "twice"        // the figure or the golden has two rows for one place
	NoRule  = "no tolerance" // tolerances.json says nothing about the panel and metric
)

// place identifies a row.
type place struct {
	panel, series, metric string
	seed                  int64
	t                     int
}

func placeOf(r figures.Row) place { return place{r.Panel, r.Series, r.Metric, r.Seed, r.T} }

func (p place) violation(what string) Violation {
	return Violation{What: what, Panel: p.panel, Series: p.series, Metric: p.metric, Seed: fmt.Sprint(p.seed), T: fmt.Sprint(p.t),
		Golden: math.NaN(), Value: math.NaN(), Tolerance: math.NaN()}
}

// Compare lists every difference between the rows of a figure and its golden: first
// the series' means over the steps and seeds that both have, then single values, in
// the order of the golden; then rows that only the figure has.
func Compare(figure string, golden, got []figures.Row, tolerances []Tolerance) []Violation {
	c := comparison{figure: figure, tolerances: tolerances, want: map[place]float64{}, have: map[place]float64{}}
	c.index(c.want, golden)
	c.index(c.have, got)
	c.means(golden)
	c.values(golden)
	for _, r := range got {
		if _, ok := c.want[placeOf(r)]; !ok {
			v := placeOf(r).violation(Extra)
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

func (c *comparison) index(to map[place]float64, rows []figures.Row) {
	for _, r := range rows {
		if _, ok := to[placeOf(r)]; ok {
			c.found = append(c.found, placeOf(r).violation(Twice))
		}
		to[placeOf(r)] = r.Value
	}
}

func (c *comparison) tolerance(panel, metric string) (Tolerance, bool) {
	for _, t := range c.tolerances {
		if t.Figure == c.figure && t.Panel == panel && t.Metric == metric {
			return t, true
		}
	}
	return Tolerance{}, false
}

// check adds v unless its value is within the tolerance.
func (c *comparison) check(v Violation) {
	if !Within(v.Value, v.Golden, v.Tolerance) {
		c.found = append(c.found, v)
	}
}

// means compares the mean of every series, and names the panels without tolerances.
func (c *comparison) means(golden []figures.Row) {
	type key struct{ panel, series, metric string }
	type sums struct{ want, have, n float64 }
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
		}
		total[k] = s
	}
	for _, k := range order {
		s := total[k]
		v := Violation{What: Off, Panel: k.panel, Series: k.series, Metric: k.metric, Seed: "all", T: "all", Golden: s.want / s.n, Value: s.have / s.n}
		rule, ok := c.tolerance(k.panel, k.metric)
		switch {
		case !ok:
			v.What, v.Tolerance = NoRule, math.NaN()
			c.found = append(c.found, v)
		case s.n > 0: // otherwise each of its rows is reported as missing
			v.Tolerance = rule.Mean
			c.check(v)
		}
	}
}

func (c *comparison) values(golden []figures.Row) {
	for _, r := range golden {
		have, ok := c.have[placeOf(r)]
		v := placeOf(r).violation(Missing)
		v.Golden, v.Value = r.Value, have
		if !ok {
			v.Value = math.NaN()
			c.found = append(c.found, v)
			continue
		}
		if rule, ok := c.tolerance(r.Panel, r.Metric); ok {
			v.What, v.Tolerance = Off, rule.Value
			c.check(v)
		}
	}
}

// Report writes one line for each violation.
func Report(w io.Writer, violations []Violation) error {
	if len(violations) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "what\tpanel\tseries\tmetric\tseed\tt\tgolden\tvalue\ttolerance")
	for _, v := range violations {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.What, v.Panel, v.Series, v.Metric, v.Seed, v.T,
			number(v.Golden), number(v.Value), number(v.Tolerance))
	}
	return table.Flush()
}

func number(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.4f", v)
}

// Sorted returns the rows by panel, series, metric, seed and step: the order of a golden file.
func Sorted(rows []figures.Row) []figures.Row {
	return slices.SortedFunc(slices.Values(rows), func(a, b figures.Row) int {
		return cmp.Or(cmp.Compare(a.Panel, b.Panel), cmp.Compare(a.Series, b.Series), cmp.Compare(a.Metric, b.Metric),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.T, b.T))
	})
}
