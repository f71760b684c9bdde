package table

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/support/xslices"
	"golang.org/x/sync/errgroup"
)

// mostFeatures is the number of features of a category at most, and outlier bounds the standardised values. hidden is
// the interquartile range, in standard deviations, below which values next to a huge one would be equal as float32.
const (
	mostFeatures = 32
	outlier      = 1e6
	hidden       = 1e-4
)

// Encoder turns rows into features. It was fitted on some rows, and its numbers come from these alone. It can be
// stored as JSON, and encodes the rows of any table with the same columns.
type Encoder struct {
	Columns []Encoded `json:"columns"`
}

// Encoded is how an Encoder encodes a column. Its features are: the standardised number, or 0 or 1 of a boolean, or one
// for each level of a category; then, if Indicator, 1 where the value is missing.
type Encoded struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Mean and Scale, the standard deviation, are of numbers, times in days and booleans. Where a huge value would hide
	// the others, they are the median and the distance of the quartiles. Mean replaces a missing value. Scale is 0 if the
	// column was constant, and its feature is 0.
	Mean      float64  `json:"mean"`
	Scale     float64  `json:"scale"`
	Levels    []string `json:"levels,omitempty"` // categories: those that have a feature, sorted
	Joined    []string `json:"joined,omitempty"` // categories: rarer levels, which share one more feature
	Indicator bool     `json:"indicator"`        // values were missing
}

// names are those of the features of a column.
func (e *Encoded) names() (names []string) {
	if e.Kind != Category {
		names = append(names, e.Name)
	}
	for _, level := range e.Levels {
		names = append(names, e.Name+"="+level)
	}
	if len(e.Joined) > 0 {
		names = append(names, e.Name+" (other)")
	}
	if e.Indicator {
		names = append(names, e.Name+" (missing)")
	}
	return names
}

// Dim is the number of features.
func (e *Encoder) Dim() int { return len(e.Of()) }

// Names are the names of the features: "temperature", "city=Rome", "city (other)", "temperature (missing)".
func (e *Encoder) Names() (names []string) {
	for i := range e.Columns {
		names = append(names, e.Columns[i].names()...)
	}
	return names
}

// Of lists, for every feature, its column's place in Columns.
func (e *Encoder) Of() (of []int) {
	for i := range e.Columns {
		of = append(of, slices.Repeat([]int{i}, len(e.Columns[i].names()))...)
	}
	return of
}

// Features lists the columns that can be features: all but text, times and those left out. The label and the time
// belong to the latter.
func (t *Data) Features(leaveOut ...string) ([]string, error) {
	var names, others []string
	for _, c := range t.columns {
		switch {
		case slices.Contains(leaveOut, c.Name):
		case c.Kind == Text || c.Kind == Time:
			others = append(others, fmt.Sprintf("%s (%s)", printable(c.Name), c.Unused()))
		default:
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil, t.errorf(-1, "", "a model needs a number, a category or a boolean", "%s",
			joined("; not used: ", "no column is left as a feature", strings.Join(shown(others, "more"), ", ")))
	}
	return names, nil
}

// Fit fits an encoder of the given columns on the given rows; nil are all rows. A category has at most 32 features: its
// rarer levels share the last one. Errors: no such column, and one that is text.
func (t *Data) Fit(columns []string, rows []int) (*Encoder, error) {
	rows, list, err := t.part(columns, rows)
	if err != nil {
		return nil, err
	}
	e := &Encoder{Columns: make([]Encoded, len(columns))}
	parallel(len(columns), func(i int) { e.Columns[i] = list[i].fit(rows) })
	return e, nil
}

// parallel calls f for 0..n-1.
func parallel(n int, f func(i int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { f(i); return nil })
	}
	_ = group.Wait() // f returns no error
}

// part finds rows, of which nil are all, and columns, which may not be text; nil are all others.
func (t *Data) part(names []string, rows []int) ([]int, []*column, error) {
	if rows == nil {
		rows = xslices.Iota(0, t.rows)
	}
	var columns []*column
	if names == nil {
		columns = slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return c.Kind == Text })
	}
	for _, name := range names {
		c, err := t.column(name)
		if err != nil {
			return nil, nil, err
		}
		if c.Kind == Text {
			return nil, nil, t.errorf(-1, name, "leave it out, or set its type", "the column is text, which is not kept")
		}
		columns = append(columns, c)
	}
	return rows, columns, nil
}

// fit fits the encoding of a column.
func (c *column) fit(rows []int) Encoded {
	e := Encoded{Name: c.Name, Kind: c.Kind}
	if c.Kind == Category {
		counts := make([]int, len(c.Levels)+1)
		for _, i := range rows {
			counts[c.code[i]]++
		}
		e.Indicator = counts[0] > 0
		seen := slices.DeleteFunc(xslices.Iota(0, len(c.Levels)), func(level int) bool { return counts[level+1] == 0 })
		if len(seen) > mostFeatures {
			slices.SortStableFunc(seen, func(a, b int) int { return cmp.Compare(counts[b+1], counts[a+1]) })
			e.Joined = c.sorted(seen[mostFeatures-1:])
			seen = seen[:mostFeatures-1]
		}
		e.Levels = c.sorted(seen)
		return e
	}
	var values []float64
	for _, i := range rows {
		if v := c.number(i); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if e.Indicator = len(values) < len(rows); len(values) == 0 {
		return e
	}
	// In two passes, so that a large mean costs no digits. The first value is subtracted for the same reason.
	sum, squares, n := 0., 0., float64(len(values))
	for _, v := range values {
		sum += v - values[0]
	}
	e.Mean = values[0] + sum/n
	for _, v := range values {
		squares += (v - e.Mean) * (v - e.Mean)
	}
	if e.Scale = math.Sqrt(squares / n); slices.Min(values) == slices.Max(values) {
		e.Mean, e.Scale = values[0], 0
	}
	if middle, spread := quartiles(values); spread > 0 && spread < hidden*e.Scale {
		e.Mean, e.Scale = middle, spread
	}
	return e
}

// quartiles are the median of about a thousand of the values, and the distance of their quartiles.
func quartiles(values []float64) (median, spread float64) {
	var some []float64
	for i := 0; i < len(values); i += 1 + len(values)/1000 {
		some = append(some, values[i])
	}
	slices.Sort(some)
	n := len(some)
	return some[n/2], some[3*n/4] - some[n/4]
}

// sorted are some levels.
func (c *column) sorted(levels []int) []string {
	names := xslices.Map(levels, func(i int) string { return c.Levels[i] })
	slices.Sort(names)
	return names
}

// Encode encodes rows of a table, one after another: row k has features [k*Dim, (k+1)*Dim). nil are all rows. A level
// that was not seen in fitting has zeros in all features of its column; a missing value has its column's mean, and the
// indicator if there is one. Standardised values are bounded by a million. Errors: a table that lacks a column, or has
// it as another kind.
func (e *Encoder) Encode(t *Data, rows []int) ([]float32, error) {
	rows, _, err := t.part(nil, rows)
	if err != nil {
		return nil, err
	}
	list, features, offsets := make([]*column, len(e.Columns)), make([][]int32, len(e.Columns)), []int{0}
	for i := range e.Columns {
		want := &e.Columns[i]
		c, err := t.column(want.Name)
		if err != nil {
			return nil, err
		}
		if c.Kind != want.Kind {
			return nil, t.errorf(-1, c.Name, fmt.Sprintf("set its type to %s", want.Kind),
				"the column is a %s; it was a %s when the encoding was fitted", c.Kind, want.Kind)
		}
		list[i], features[i], offsets = c, want.features(c), append(offsets, offsets[i]+len(want.names()))
	}
	n, dim := len(rows), offsets[len(e.Columns)]
	x := make([]float32, n*dim)
	// Blocks of rows, so that a block's features stay in the cache.
	const block = 4096
	parallel((n+block-1)/block, func(b int) {
		from, to := b*block, min((b+1)*block, n)
		for i, c := range list {
			e.Columns[i].encode(c, features[i], rows[from:to], x[from*dim+offsets[i]:], dim)
		}
	})
	return x, nil
}

// features lists, for every code of a category, its feature in the column; -1 for none. The first is the indicator's.
func (e *Encoded) features(c *column) []int32 {
	names := e.names()
	at := func(name string) int32 { return int32(slices.Index(names, e.Name+name)) }
	features := []int32{at(" (missing)")}
	for _, level := range c.Levels {
		name := "=" + level
		if _, joined := slices.BinarySearch(e.Joined, level); joined {
			name = " (other)"
		}
		features = append(features, at(name))
	}
	return features
}

// encode encodes rows into x, where they are dim apart.
func (e *Encoded) encode(c *column, features []int32, rows []int, x []float32, dim int) {
	scale, mean := e.Scale, e.Mean
	if e.Kind == Boolean {
		scale, mean = 1, 0
	}
	for k, i := range rows {
		if e.Kind == Category {
			if f := features[c.code[i]]; f >= 0 {
				x[k*dim+int(f)] = 1
			}
			continue
		}
		v := c.number(i)
		if math.IsNaN(v) {
			if v = e.Mean; e.Indicator {
				x[k*dim+1] = 1
			}
		}
		if scale > 0 {
			x[k*dim] = float32(max(-outlier, min(outlier, (v-mean)/scale)))
		}
	}
}
