package table

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// EncoderOptions say how an Encoder encodes.
type EncoderOptions struct {
	Levels int // most features of a category; rarer levels share the last one; 0: 32
}

// mostFeatures bounds the features of an encoder, and outlier the standardised values.
const (
	mostFeatures = 1 << 20
	outlier      = 1e6
)

// Encoder turns rows into features. It was fitted on some rows, and its numbers come from these alone. It can be
// stored as JSON, and encodes the rows of any table with the same columns.
type Encoder struct {
	Columns []Encoded `json:"columns"`
}

// Encoded is how an Encoder encodes a column. Its features are: the standardised number, or 0 or 1 of a boolean, or one
// for each level of a category; then, if Indicator, 1 where the value is missing.
type Encoded struct {
	Name      string   `json:"name"`
	Kind      Kind     `json:"kind"`
	Mean      float64  `json:"mean"`             // numbers, times in days, booleans; it replaces a missing value
	Scale     float64  `json:"scale"`            // the standard deviation; 0 if it was constant, and its feature is 0
	Levels    []string `json:"levels,omitempty"` // categories: those that have a feature, sorted
	Joined    []string `json:"joined,omitempty"` // categories: rarer levels, which share one more feature
	Indicator bool     `json:"indicator"`        // values were missing
}

// width is the number of features of a column.
func (e *Encoded) width() int {
	n := 1
	if e.Kind == Category {
		n = len(e.Levels)
		if len(e.Joined) > 0 {
			n++
		}
	}
	if e.Indicator {
		n++
	}
	return n
}

// Dim is the number of features.
func (e *Encoder) Dim() int {
	n := 0
	for i := range e.Columns {
		n += e.Columns[i].width()
	}
	return n
}

// Names are the names of the features: "temperature", "city=Rome", "city (other)", "temperature (missing)".
func (e *Encoder) Names() []string {
	names := make([]string, 0, e.Dim())
	for _, c := range e.Columns {
		if c.Kind == Category {
			for _, level := range c.Levels {
				names = append(names, c.Name+"="+level)
			}
			if len(c.Joined) > 0 {
				names = append(names, c.Name+" (other)")
			}
		} else {
			names = append(names, c.Name)
		}
		if c.Indicator {
			names = append(names, c.Name+" (missing)")
		}
	}
	return names
}

// Of lists, for every feature, its column's place in Columns.
func (e *Encoder) Of() []int {
	var of []int
	for i := range e.Columns {
		for range e.Columns[i].width() {
			of = append(of, i)
		}
	}
	return of
}

// Features lists the columns that can be features: all but text, times and those left out. The label and the time
// belong to the latter.
func (t *Table) Features(leaveOut ...string) ([]string, error) {
	for _, name := range leaveOut {
		if name == "" {
			continue
		}
		if _, err := t.column(name); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, c := range t.columns {
		if c.kind != Text && c.kind != Time && !slices.Contains(leaveOut, c.name) {
			names = append(names, c.name)
		}
	}
	if len(names) == 0 {
		return nil, t.errorf(-1, "", "a model needs a number, a category or a boolean", "no column is left as a feature")
	}
	return names, nil
}

// Fit fits an encoder of the given columns on the given rows; nil are all rows. Errors: no such column, one that is
// text, no rows, and more than 2^20 features.
func (t *Table) Fit(columns []string, rows []int, o EncoderOptions) (*Encoder, error) {
	if o.Levels == 0 {
		o.Levels = 32
	}
	if o.Levels < 2 {
		return nil, &Error{File: t.file, Problem: fmt.Sprintf("%d levels of a category; at least 2 are needed", o.Levels)}
	}
	if len(columns) == 0 {
		return nil, &Error{File: t.file, Problem: "no columns to encode"}
	}
	rows, err := t.indices(rows)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, &Error{File: t.file, Problem: "no rows to fit the encoding on"}
	}
	list := make([]*column, len(columns))
	for i, name := range columns {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if c.kind == Text {
			return nil, t.errorf(-1, name, "leave it out, or set its kind", "the column is text and cannot be a feature")
		}
		if slices.Contains(columns[:i], name) {
			return nil, t.errorf(-1, name, "name it once", "the column is named twice")
		}
		list[i] = c
	}
	e := &Encoder{Columns: make([]Encoded, len(columns))}
	parallel(len(columns), func(i int) { e.Columns[i] = list[i].fit(rows, o) })
	if e.Dim() > mostFeatures {
		return nil, &Error{File: t.file, Problem: fmt.Sprintf("the columns make %d features; at most %d are encoded",
			e.Dim(), mostFeatures), Fix: "leave columns out"}
	}
	return e, nil
}

// parallel calls f for 0..n-1.
func parallel(n int, f func(i int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = group.Wait() // f returns no error
}

// indices are rows that the table has; nil are all.
func (t *Table) indices(rows []int) ([]int, error) {
	if rows == nil {
		rows = make([]int, t.rows)
		for i := range rows {
			rows[i] = i
		}
	}
	for _, i := range rows {
		if i < 0 || i >= t.rows {
			return nil, &Error{File: t.file, Problem: fmt.Sprintf("there is no row %d; the table has %d", i+1, t.rows)}
		}
	}
	return rows, nil
}

// fit fits the encoding of a column.
func (c *column) fit(rows []int, o EncoderOptions) Encoded {
	e := Encoded{Name: c.name, Kind: c.kind}
	if c.kind == Category {
		counts := make([]int, len(c.levels)+1)
		for _, i := range rows {
			counts[c.code[i]]++
		}
		e.Indicator = counts[0] > 0
		var seen []int
		for level, n := range counts[1:] {
			if n > 0 {
				seen = append(seen, level)
				e.Levels = append(e.Levels, c.levels[level])
			}
		}
		if len(seen) > o.Levels {
			slices.SortStableFunc(seen, func(a, b int) int { return cmp.Compare(counts[b+1], counts[a+1]) })
			for i, level := range seen {
				e.Levels[i] = c.levels[level]
			}
			e.Levels, e.Joined = e.Levels[:o.Levels-1], slices.Clone(e.Levels[o.Levels-1:])
			slices.Sort(e.Levels)
			slices.Sort(e.Joined)
		}
		return e
	}
	// In two passes, so that a large mean costs no digits. The first value is subtracted for the same reason.
	origin, sum, n := math.NaN(), 0., 0.
	for _, i := range rows {
		if v := c.number(i); !math.IsNaN(v) {
			if math.IsNaN(origin) {
				origin = v
			}
			sum += v - origin
			n++
		} else {
			e.Indicator = true
		}
	}
	if n == 0 {
		return e
	}
	e.Mean = origin + sum/n
	squares, same := 0., true
	for _, i := range rows {
		if v := c.number(i); !math.IsNaN(v) {
			squares += (v - e.Mean) * (v - e.Mean)
			same = same && v == origin
		}
	}
	if same {
		e.Mean = origin
	} else {
		e.Scale = math.Sqrt(squares / n)
	}
	return e
}

// Encode encodes rows of a table, one after another: row k has features [k*Dim, (k+1)*Dim). nil are all rows. A level
// that was not seen in fitting has zeros in all features of its column; a missing value has its column's mean, and the
// indicator if there is one. Standardised values are bounded by a million. Errors: a table that lacks a column, or has
// it as another kind.
func (e *Encoder) Encode(t *Table, rows []int) ([]float32, error) {
	rows, err := t.indices(rows)
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
		if c.kind != want.Kind && c.missing < t.rows {
			return nil, t.errorf(-1, c.name, fmt.Sprintf("set its kind to %s", want.Kind),
				"the column is a %s; it was a %s when the encoding was fitted", c.kind, want.Kind)
		}
		list[i], features[i], offsets = c, want.features(c), append(offsets, offsets[i]+want.width())
	}
	n, dim := len(rows), e.Dim()
	if dim == 0 {
		return nil, &Error{File: t.file, Problem: "the encoding has no features"}
	}
	if n > math.MaxInt/4/dim || int64(n)*int64(dim) > 1<<35 {
		return nil, &Error{File: t.file, Problem: fmt.Sprintf("%d rows of %d features are too many", n, dim),
			Fix: "encode fewer columns or levels"}
	}
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

// features lists, for every code of a category, its feature in the column; -1 for none.
func (e *Encoded) features(c *column) []int32 {
	features := make([]int32, len(c.levels)+1)
	for i := range features {
		features[i] = -1
	}
	if e.Indicator {
		features[0] = int32(e.width() - 1)
	}
	for i, level := range c.levels {
		if k, found := slices.BinarySearch(e.Levels, level); found {
			features[i+1] = int32(k)
		} else if _, found := slices.BinarySearch(e.Joined, level); found {
			features[i+1] = int32(len(e.Levels))
		}
	}
	return features
}

// encode encodes rows into x, where they are dim apart.
func (e *Encoded) encode(c *column, features []int32, rows []int, x []float32, dim int) {
	scale, mean := e.Scale, e.Mean
	if e.Kind == Boolean {
		scale, mean = 1, 0
	}
	last := e.width() - 1 // the indicator
	for k, i := range rows {
		if e.Kind == Category {
			code := uint32(0)
			if c.code != nil { // otherwise a column without values
				code = c.code[i]
			}
			if f := features[code]; f >= 0 {
				x[k*dim+int(f)] = 1
			}
			continue
		}
		v := c.number(i)
		if math.IsNaN(v) {
			if v = e.Mean; e.Indicator {
				x[k*dim+last] = 1
			}
		}
		if scale > 0 {
			x[k*dim] = float32(max(-outlier, min(outlier, (v-mean)/scale)))
		}
	}
}
