// Package ci has the golden numbers of the figures, their tolerances and the comparison.
// Figures are compared by their data, not by their pixels. Package kernel/check compares the
// numbers of notebooks with those stored in them.
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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
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

// series identifies a curve of a figure, place one of its rows.
type (
	series struct{ panel, series, metric string }
	place  struct {
		series
		seed int64
		t    int
	}
)

func placeOf(r figures.Row) place { return place{series{r.Panel, r.Series, r.Metric}, r.Seed, r.T} }

// Kinds of Violation next to those of package check.
const (
	twice  = "twice"        // the row is there twice
	noRule = "no tolerance" // there is no tolerance for the series
)

// Violation is one difference between a figure and its golden.
type Violation struct {
	What                     string // check.Off, check.Missing, check.Extra, twice or noRule
	Of                       string // value, or of a series: mean, rms (the root mean square of all differences)
	At                       place  // without seed and t for a series
	Golden, Value, Tolerance float64
}

// Compare returns all differences between the rows of a figure and its golden: first rows that occur twice, then the
// series' means over the steps and seeds that both have with the root mean squares of the differences, then single
// values in the order of the golden, then rows that only the figure has.
func Compare(figure string, golden, got []figures.Row, tolerances []Tolerance) (found []Violation) {
	want, have := map[place]float64{}, map[place]float64{}
	for _, side := range []struct {
		to   map[place]float64
		rows []figures.Row
	}{{want, golden}, {have, got}} {
		for _, r := range side.rows {
			if _, ok := side.to[placeOf(r)]; ok {
				found = append(found, Violation{What: twice, Of: "value", At: placeOf(r), Value: r.Value})
			}
			side.to[placeOf(r)] = r.Value
		}
	}
	found = append(found, compareSeries(figure, golden, have, tolerances)...)
	for _, r := range golden {
		v := Violation{What: check.Missing, Of: "value", At: placeOf(r), Golden: r.Value}
		value, ok := have[v.At]
		rule, ruled := toleranceOf(figure, v.At.series, tolerances)
		if ok {
			v.What, v.Value, v.Tolerance = check.Off, value, rule.Value
		}
		if !ok || ruled && v.beyond() {
			found = append(found, v)
		}
	}
	for _, r := range got {
		if _, ok := want[placeOf(r)]; !ok {
			found = append(found, Violation{What: check.Extra, Of: "value", At: placeOf(r), Value: r.Value})
		}
	}
	return found
}

func (v Violation) beyond() bool { return !check.Within(v.Value, v.Golden, v.Tolerance) }

// compareSeries compares the mean of every series and the root mean square of its differences, and reports metrics
// without a tolerance.
func compareSeries(figure string, golden []figures.Row, have map[place]float64, tolerances []Tolerance) (found []Violation) {
	values, order := map[series][2][]float64{}, []series{} // of the golden, of the figure
	for _, r := range golden {
		s := placeOf(r).series
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
		if value, ok := have[placeOf(r)]; ok {
			values[s] = [2][]float64{append(values[s][0], r.Value), append(values[s][1], value)}
		}
	}
	for _, s := range order {
		rule, ok := toleranceOf(figure, s, tolerances)
		v, at := values[s], place{series: s}
		n := float64(len(v[0]))
		switch mean := (Violation{check.Off, "mean", at, stat.Mean(v[0], nil), stat.Mean(v[1], nil), rule.Mean}); {
		case !ok:
			found = append(found, Violation{What: noRule, Of: "mean", At: at})
		case n > 0 && mean.beyond(): // if n is 0, all rows are missing, which Compare reports
			found = append(found, mean)
		}
		rms := Violation{check.Off, "rms", at, 0, floats.Distance(v[0], v[1], 2) / math.Sqrt(n), rule.RMS}
		if n > 0 && rule.RMS > 0 && rms.beyond() {
			found = append(found, rms)
		}
	}
	return found
}

// toleranceOf returns the tolerance for a series, and whether there is one. The entry of the series itself comes before
// that of all series.
func toleranceOf(figure string, s series, tolerances []Tolerance) (out Tolerance, ok bool) {
	for _, t := range tolerances {
		if t.Figure != figure || t.Panel != s.panel || t.Metric != s.metric {
			continue
		}
		if t.Series == s.series {
			return t, true
		}
		if t.Series == "" {
			out, ok = t, true
		}
	}
	return out, ok
}

// Sorted returns the rows in the order of a golden file: by panel, series, metric, seed and step.
func Sorted(rows []figures.Row) []figures.Row {
	return slices.SortedFunc(slices.Values(rows), func(a, b figures.Row) int {
		return cmp.Or(cmp.Compare(a.Panel, b.Panel), cmp.Compare(a.Series, b.Series), cmp.Compare(a.Metric, b.Metric),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.T, b.T))
	})
}
