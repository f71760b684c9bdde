// Package own weights the rows of a user's own table for learning at a time T: it puts package table, which reads and
// encodes, and package propensity, which fits g, together.
package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/floats"
)

// NoOmega is the kind of weights without omega: exponential forgetting alone, or equal weights. No g is fitted.
const NoOmega crossfit.Kind = "none"

// Request says what is to be weighted, and how.
type Request struct {
	Source
	At      string                 // T, as the table has its times; empty: the last one
	Weights crossfit.WeightOptions // Kind empty: Conditional with a label, else Covariate
	Window  int                    // weight 0 for all but the last so many times; 0: none
	Fit     crossfit.Config
	Seed    int64
}

// Result has the weight of every row up to T. Rows after T take no part in anything.
type Result struct {
	File   string       `json:"file"`
	Schema table.Schema `json:"schema"`
	At     string       `json:"at"`
	First  string       `json:"first"` // the first time
	Times  int          `json:"times"` // number of times up to T
	Rows   int          `json:"rows"`  // number of rows up to T

	Features    []string               `json:"features"` // what g sees of x
	Kind        crossfit.Kind          `json:"kind"`
	Weights     crossfit.WeightOptions `json:"weights"`
	Settings    crossfit.Config        `json:"settings"`
	Window      int                    `json:"window"` // times with weight; 0: all
	Seed        int64                  `json:"seed"`
	Share       float64                `json:"effective-share"`
	Shrink      float64                `json:"shrink"`
	Joint       *crossfit.Diagnostics  `json:"joint,omitempty"`       // of g that sees (x, y)
	Covar       *crossfit.Diagnostics  `json:"covariate,omitempty"`   // of g that sees x
	Conditional *crossfit.Null         `json:"conditional,omitempty"` // the test of y given x
	Notes       []string               `json:"notes,omitempty"`
	Encoder     *table.Encoder         `json:"encoder"`
	table       string                 // what was read, in words
	from        float64                // first time of the window
	row         []int                  // in the file, from 0
	weights     *crossfit.Weights      // in the order of row
	own         *crossfit.Fitted
	fitter      *crossfit.Fitter
}

// Close frees the compiled programs.
func (r *Result) Close() {
	if r.fitter != nil {
		r.fitter.Close()
	}
}

// Prepared is a request whose table was read and checked.
type Prepared struct {
	Request
	stream  *Stream
	at      int   // place of T in the times
	rows    []int // up to T
	data    crossfit.Table
	encoder *table.Encoder
}

// Prepare reads the table and encodes the rows up to T. It finds all that the user can mend in the table or the
// request, as *table.Error, before anything is fitted.
func Prepare(q Request) (*Prepared, error) {
	q.Source.OnlyFeatures = q.Weights.Kind == crossfit.Covariate
	p := &Prepared{Request: q}
	var err error
	if p.stream, err = Open(q.Source); err != nil {
		return nil, err
	}
	if p.at, err = p.stream.At(q.At); err != nil {
		return nil, err
	}
	p.rows = p.stream.Rows(0, p.at+1)
	if p.data, p.encoder, err = p.stream.Data(p.rows); err != nil {
		return nil, err
	}
	return p, p.check()
}

// check returns an error for rows up to T that g cannot be fitted to.
func (p *Prepared) check() error {
	name := p.stream.Times.Names[p.at]
	if n, least := len(p.rows), p.Fit.LeastRows(); n < least {
		return &table.Error{File: p.File, Fix: p.later(),
			Problem: fmt.Sprintf("%d rows up to %s are too few; g needs at least %d", n, name, least)}
	}
	if value, constant := p.constant(); constant {
		return &table.Error{File: p.File, Column: p.Label, Fix: p.later(),
			Problem: fmt.Sprintf("the label is %q in all rows up to %s", value, name)}
	}
	return nil
}

// constant is the label of all rows up to T, if it is the same.
func (p *Prepared) constant() (value string, ok bool) {
	label, target := slices.Compact(slices.Clone(p.data.Label)), slices.Compact(slices.Clone(p.data.Target))
	switch {
	case len(label) == 1:
		return p.stream.Label.Names[label[0]], true
	case len(target) == 1:
		return fmt.Sprint(target[0]), true
	}
	return "", false
}

// later says how there can be more rows up to T.
func (p *Prepared) later() string {
	if p.at < len(p.stream.Times.Names)-1 {
		return "name a later time with --at"
	}
	return "give more rows"
}

// Weigh fits g on the rows up to T and weights them. Errors: a *table.Error if the rows differ too little, and those of
// package propensity. Close the result after its last use.
func (p *Prepared) Weigh(ctx context.Context, backend compute.Backend) (*Result, error) {
	times := p.stream.Times
	r := &Result{File: p.File, Schema: p.stream.Table.Schema(), At: times.Names[p.at], First: times.Names[0],
		Times: p.at + 1, Rows: len(p.rows), Settings: p.Fit, Window: p.Window, Seed: p.Seed, Encoder: p.encoder,
		Features: p.encoder.Names(), table: p.stream.String()}
	for _, row := range p.rows {
		r.row = append(r.row, p.stream.Table.Row(row))
	}
	T, later := times.Values[p.at], p.later()
	if p.Window > 0 {
		r.from = times.Values[max(0, p.at-p.Window+1)]
	}
	p.stream = nil // the encoded rows are enough: the table may be freed
	r.choose(&p.Request, p.data)
	r.Notes = Clocks(r.Features, p.data)
	if r.Kind == NoOmega {
		r.weights = crossfit.Forgetting(p.data.Time, T, r.Weights.HalfLife)
		r.cut(p.data.Time)
		return r, nil
	}
	r.fitter = crossfit.NewFitter(backend)
	var err error
	if r.own, err = r.fitter.Fit(ctx, p.data, r.Settings, p.Seed); err == nil {
		r.weights, err = r.own.Weights(ctx, T, r.Weights)
	}
	if errors.Is(err, crossfit.ErrFewRows) {
		err = &table.Error{File: p.File, Problem: fmt.Sprintf("the rows up to %s have too few different values", r.At),
			Fix: later, Err: err}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.Joint, r.Covar, r.Conditional = r.own.Joint, r.own.Covariate, r.own.Conditional
	r.cut(p.data.Time)
	r.Notes = slices.Concat(r.Notes, r.own.Notes, r.weights.Notes)
	return r, nil
}

// cut gives rows before the window no weight.
func (r *Result) cut(times []float64) {
	w := r.weights
	if r.Share, r.Shrink = w.Share, w.Shrink; r.Window == 0 {
		return
	}
	for i, t := range times {
		if t < r.from {
			w.Weight[i] = 0
		}
	}
	floats.Scale(float64(len(times))/floats.Sum(w.Weight), w.Weight)
	r.Share = propensity.EffectiveSampleSize(w.Weight) / float64(len(times))
}

// choose fills in the kind of weight, and has only those g fitted that it needs.
func (r *Result) choose(q *Request, d crossfit.Table) {
	kind := crossfit.Covariate
	if d.Label != nil || d.Target != nil {
		kind = crossfit.Conditional
	}
	r.Weights = q.Weights
	r.Weights.Kind = cmp.Or(q.Weights.Kind, kind)
	r.Weights.Clip = cmp.Or(q.Weights.Clip, propensity.ClipOne)
	r.Kind = r.Weights.Kind
	r.Settings.Kinds = []crossfit.Kind{r.Kind}
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

// SaveModel writes the fitted g, for crossfit.Fitter.Load.
func (r *Result) SaveModel(path string) error {
	if r.own == nil {
		return errors.New("there is no fitted score: these weights are without omega")
	}
	return r.own.Save(path)
}

// String is the summary for a terminal.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows of %d times, %s to %s, %s\n", r.Rows, r.Times, r.First, r.At, r.table)
	for _, g := range []struct {
		name string
		d    *crossfit.Diagnostics
	}{{"(x, y)", r.Joint}, {"x", r.Covar}} {
		if g.d == nil {
			continue
		}
		fmt.Fprintf(&b, "g that sees %s: held-out loss %.4f (%.4f without drift), standard error %.4f", g.name, g.d.HeldOut,
			math.Ln2, g.d.HeldOutError)
		if n := g.d.Null; n != nil {
			fmt.Fprintf(&b, "; against %d shuffles of the times p = %.3f: %s", len(n.NullLoss), n.P,
				verdict(n, "the data drift", "no drift is found"))
		}
		b.WriteString("\n")
	}
	if n := r.Conditional; n != nil {
		fmt.Fprintf(&b, "y given x: held-out loss %.4f, %.4f on average if y is redrawn from x alone; against %d redraws "+
			"p = %.3f: %s\n", n.Loss, n.LossMean, len(n.NullLoss), n.P,
			verdict(n, "the rule from x to y drifts", "no drift of the rule from x to y is found"))
	}
	kind := string(r.Kind)
	if r.Kind == NoOmega {
		kind = "equal"
		if r.Weights.HalfLife > 0 {
			kind = fmt.Sprintf("forgetting (half-life %g)", r.Weights.HalfLife)
		}
	}
	if r.Window > 0 {
		kind += fmt.Sprintf(" (window: the last %d times)", r.Window)
	}
	fmt.Fprintf(&b, "%s weights for %s: effective share %.3f of the rows\n", kind, r.At, r.Share)
	for _, note := range slices.Concat(r.Schema.Notes, r.Notes) {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

// verdict is one of two texts.
func verdict(n *crossfit.Null, drift, none string) string {
	if n.Drift {
		return drift
	}
	return none
}
