// Package own weights the rows of a user's own table for learning at a time T: it puts package table, which reads and
// encodes, and package propensity, which fits g, together.
package own

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/stat"
)

// Request says what is to be weighted, and how. Only File and Time are needed.
type Request struct {
	File  string // CSV (also .gz, .zst) or Parquet
	Time  string // column of the time; empty: the order of the rows, which Bin then cuts into blocks
	Label string // column of the outcome; empty: none
	// LabelKind says whether the label is a class or a number; empty: found.
	LabelKind table.LabelKind
	Bin       table.Bin
	At        string // T, as the table has its times; empty: the last one
	Read      table.Options
	Weights   propensity.WeightOptions // Kind empty: Conditional with a label, else Covariate
	Fit       propensity.OwnConfig
	Seed      int64
}

// Result has the weight of every row up to T. Rows after T take no part in anything.
type Result struct {
	File   string       `json:"file"`
	Schema table.Schema `json:"schema"`
	At     string       `json:"at"`
	First  string       `json:"first"` // the first time
	Times  int          `json:"times"` // number of times up to T
	Rows   int          `json:"rows"`  // number of rows up to T

	Features []string                 `json:"features"` // what g sees of x
	Kind     propensity.Kind          `json:"kind"`
	Weights  propensity.WeightOptions `json:"weights"`
	Settings propensity.OwnConfig     `json:"settings"`
	Seed     int64                    `json:"seed"`
	Share    float64                  `json:"effective-share"`
	Shrink   float64                  `json:"shrink"`
	Joint    *propensity.Diagnostics  `json:"joint,omitempty"`     // of g that sees (x, y)
	Covar    *propensity.Diagnostics  `json:"covariate,omitempty"` // of g that sees x
	Notes    []string                 `json:"notes,omitempty"`
	Encoder  *table.Encoder           `json:"encoder"`
	row      []int                    // in the file, from 0
	weights  *propensity.OwnWeights   // in the order of row
	own      *propensity.Own
	fitter   *propensity.OwnFitter
}

// Close frees the compiled programs.
func (r *Result) Close() { r.fitter.Close() }

// Weigh reads the table, fits g on the rows up to T and weights them. Errors are *table.Error where the user can mend the
// file or the request, and those of package propensity. Close the result after its last use.
func Weigh(ctx context.Context, backend compute.Backend, q Request) (*Result, error) {
	t, err := table.Open(q.File, q.Read)
	if err != nil {
		return nil, err
	}
	times, err := t.Times(q.Time, q.Bin)
	if err != nil {
		return nil, err
	}
	at := len(times.Values) - 1
	if q.At != "" {
		if at, err = times.At(q.At); err != nil {
			return nil, err
		}
	}
	if at == 0 {
		return nil, &table.Error{File: q.File, Column: q.Time, Problem: fmt.Sprintf("%s is the first time", times.Names[0]),
			Fix: "there is no past to weight; name a later time with --at"}
	}
	rows := times.Rows(0, at+1)
	slices.Sort(rows)
	r := &Result{File: q.File, Schema: t.Schema(), At: times.Names[at], First: times.Names[0], Times: at + 1, Rows: len(rows),
		Settings: q.Fit, Seed: q.Seed, row: rows}
	data, err := r.data(t, times, q)
	if err != nil {
		return nil, err
	}
	r.choose(&q, data)
	r.fitter = propensity.NewOwnFitter(backend)
	if r.own, err = r.fitter.Fit(ctx, data, r.Settings, q.Seed); err == nil {
		r.weights, err = r.own.Weights(ctx, times.Values[at], r.Weights)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.Joint, r.Covar, r.Share, r.Shrink = r.own.Joint, r.own.Covariate, r.weights.Share, r.weights.Shrink
	r.Notes = slices.Concat(r.clocks(data), r.own.Notes, r.weights.Notes)
	return r, nil
}

// data encodes the rows up to T. The encoder is fitted on them alone.
func (r *Result) data(t *table.Table, times *table.Times, q Request) (propensity.OwnData, error) {
	var d propensity.OwnData
	columns, err := t.Features(slices.DeleteFunc([]string{q.Time, q.Label}, func(c string) bool { return c == "" })...)
	if err != nil {
		return d, err
	}
	if r.Encoder, err = t.Fit(columns, r.row, table.EncoderOptions{}); err != nil {
		return d, err
	}
	r.Features = r.Encoder.Names()
	if d.X, err = r.Encoder.Encode(t, r.row); err != nil {
		return d, err
	}
	d.Dim = r.Encoder.Dim()
	order, err := orderOf(t, times, q)
	if err != nil {
		return d, err
	}
	all := times.Of()
	for _, row := range r.row {
		d.Time, d.Order = append(d.Time, all[row]), append(d.Order, order[row])
	}
	if q.Label == "" {
		return d, nil
	}
	label, err := t.Label(q.Label, q.LabelKind)
	if err != nil {
		return d, err
	}
	d.Classes = label.Classes()
	for _, row := range r.row {
		if label.Target != nil {
			d.Target = append(d.Target, label.Target[row])
		} else {
			d.Label = append(d.Label, label.Class[row])
		}
	}
	return d, nil
}

// orderOf puts the rows of one bin in order, for held-out rows that are contiguous in time: as they are in a file in time
// order, otherwise by their exact time.
func orderOf(t *table.Table, times *table.Times, q Request) ([]float64, error) {
	if !times.Sorted {
		exact, err := t.Times(q.Time, table.Bin{})
		if err != nil {
			return nil, err
		}
		return exact.Of(), nil
	}
	order := make([]float64, t.Rows())
	for i := range order {
		order[i] = float64(i)
	}
	return order, nil
}

// clocks names the features that tell the time by themselves, such as a row number or the year: with them no row of the
// past resembles the present.
func (r *Result) clocks(d propensity.OwnData) []string {
	var names []string
	column := make([]float64, len(d.Time))
	for j, name := range r.Features {
		for i := range column {
			column[i] = float64(d.X[i*d.Dim+j])
		}
		if c := math.Abs(stat.Correlation(column, d.Time, nil)); c > clock {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s follow the time almost exactly: leave out with --drop what no model may learn from",
		strings.Join(names, ", "))}
}

// clock is the correlation with time above which a feature is taken for a clock.
const clock = .95

// choose fills in the kind of weight, and has only those g fitted that it needs.
func (r *Result) choose(q *Request, d propensity.OwnData) {
	kind := propensity.Covariate
	if d.Label != nil || d.Target != nil {
		kind = propensity.Conditional
	}
	r.Weights = q.Weights
	r.Weights.Kind = cmp.Or(q.Weights.Kind, kind)
	r.Weights.Clip = cmp.Or(q.Weights.Clip, propensity.ClipOne)
	r.Kind = r.Weights.Kind
	r.Settings.Kinds = []propensity.Kind{r.Kind}
}

// WriteWeights writes row (from 1, without the header), weight (mean 1), log_omega and spread of every row up to T, as
// Parquet, or as CSV if the name ends so.
func (r *Result) WriteWeights(path string) error {
	row := make([]int64, len(r.row))
	for i, at := range r.row {
		row[i] = int64(at) + 1
	}
	return table.Write(path, table.Column{Name: "row", Values: row}, table.Column{Name: "weight", Values: r.weights.Weight},
		table.Column{Name: "log_omega", Values: r.weights.LogOmega}, table.Column{Name: "spread", Values: r.weights.Spread})
}

// SaveModel writes the fitted g, for propensity.OwnFitter.Load.
func (r *Result) SaveModel(path string) error { return r.own.Save(path) }

// String is the summary for a terminal.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows of %d times, %s to %s, %d features\n", r.Rows, r.Times, r.First, r.At, len(r.Features))
	for _, g := range []struct {
		name string
		d    *propensity.Diagnostics
	}{{"(x, y)", r.Joint}, {"x", r.Covar}} {
		if g.d == nil {
			continue
		}
		fmt.Fprintf(&b, "g that sees %s: held-out loss %.4f (%.4f without drift), standard error %.4f", g.name, g.d.HeldOut,
			math.Ln2, g.d.HeldOutError)
		if n := g.d.Null; n != nil {
			verdict := "no drift is found"
			if n.Drift {
				verdict = "the data drift"
			}
			fmt.Fprintf(&b, "; against %d shuffles of the times p = %.3f: %s", len(n.NullLoss), n.P, verdict)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s weights for %s: effective share %.3f of the rows\n", r.Kind, r.At, r.Share)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}
