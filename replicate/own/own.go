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

	"github.com/gomlx/compute"
)

// NoOmega is the kind of weights without omega: exponential forgetting alone, or equal weights. No g is fitted.
const NoOmega propensity.Kind = "none"

// Request says what is to be weighted, and how.
type Request struct {
	Source
	At      string                   // T, as the table has its times; empty: the last one
	Weights propensity.WeightOptions // Kind empty: Conditional with a label, else Covariate
	Fit     propensity.OwnConfig
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
	stream   *Stream
	row      []int                  // in the file, from 0
	weights  *propensity.OwnWeights // in the order of row
	own      *propensity.Own
	fitter   *propensity.OwnFitter
}

// Close frees the compiled programs.
func (r *Result) Close() {
	if r.fitter != nil {
		r.fitter.Close()
	}
}

// Weigh reads the table, fits g on the rows up to T and weights them. Errors are *table.Error where the user can mend the
// file or the request, and those of package propensity. Close the result after its last use.
func Weigh(ctx context.Context, backend compute.Backend, q Request) (*Result, error) {
	s, err := Open(q.Source)
	if err != nil {
		return nil, err
	}
	at, err := s.At(q.At)
	if err != nil {
		return nil, err
	}
	rows := s.Rows(0, at+1)
	data, encoder, err := s.Data(rows)
	if err != nil {
		return nil, err
	}
	r := &Result{File: q.File, Schema: s.Table.Schema(), At: s.Times.Names[at], First: s.Times.Names[0], Times: at + 1,
		Rows: len(rows), Settings: q.Fit, Seed: q.Seed, Encoder: encoder, Features: encoder.Names(), stream: s, row: rows}
	r.choose(&q, data)
	r.Notes = Clocks(r.Features, data)
	if r.Kind == NoOmega {
		r.weights = propensity.Forgetting(data.Time, s.Times.Values[at], r.Weights.HalfLife)
		r.Share, r.Shrink = r.weights.Share, r.weights.Shrink
		return r, nil
	}
	r.fitter = propensity.NewOwnFitter(backend)
	if r.own, err = r.fitter.Fit(ctx, data, r.Settings, q.Seed); err == nil {
		r.weights, err = r.own.Weights(ctx, s.Times.Values[at], r.Weights)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.Joint, r.Covar, r.Share, r.Shrink = r.own.Joint, r.own.Covariate, r.weights.Share, r.weights.Shrink
	r.Notes = slices.Concat(r.Notes, r.own.Notes, r.weights.Notes)
	return r, nil
}

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
func (r *Result) SaveModel(path string) error {
	if r.own == nil {
		return errors.New("there is no fitted score: these weights are without omega")
	}
	return r.own.Save(path)
}

// String is the summary for a terminal.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows of %d times, %s to %s, %s\n", r.Rows, r.Times, r.First, r.At, r.stream)
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
	kind := string(r.Kind)
	if r.Kind == NoOmega {
		kind = "equal"
		if r.Weights.HalfLife > 0 {
			kind = fmt.Sprintf("forgetting (half-life %g)", r.Weights.HalfLife)
		}
	}
	fmt.Fprintf(&b, "%s weights for %s: effective share %.3f of the rows\n", kind, r.At, r.Share)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}
