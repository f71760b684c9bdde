// Package weights says what each row of the past of a table counts for a time T: it tests for drift by package tables,
// then asks package crossfit for omega.
package weights

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// NoOmega is the kind of weights without omega: exponential forgetting alone, or equal weights. No g is fitted.
const NoOmega crossfit.Kind = "none"

// Request says how rows are weighted.
type Request struct {
	tables.Request
	At      string                 // T, as the table has its times; empty: the last one
	Weights crossfit.WeightOptions // Kind empty: Conditional with a label, else Covariate
	Window  int                    // weight 0 for all before the last so many times up to the last learned from; 0: none
}

// Result has the weight of every row up to T. Rows after T take no part in anything.
type Result struct {
	tables.About
	At    string `json:"at"`
	First string `json:"first"` // the first time
	Times int    `json:"times"` // number of times up to T

	Features []string               `json:"features"` // what g sees of x
	Kind     crossfit.Kind          `json:"kind"`
	Options  crossfit.WeightOptions `json:"weights"`
	Settings crossfit.Config        `json:"settings"`
	Window   int                    `json:"window"` // times with weight; 0: all
	Share    float64                `json:"effective-share"`
	Equal    bool                   `json:"equal,omitempty"`     // nothing drifts, so there is no omega
	Joint    *crossfit.Diagnostics  `json:"joint,omitempty"`     // of g that sees (x, y)
	Covar    *crossfit.Diagnostics  `json:"covariate,omitempty"` // of g that sees x
	Encoder  *table.Encoder         `json:"encoder"`
	Without  int                    `json:"-"` // number of rows of the table that have no weight
	unit     string                 // of half-lives, for people
	row      []int                  // in the file, from 0
	weights  *crossfit.Weights      // in the order of row
}

// Job is a request whose table was read and checked.
type Job struct {
	Request
	tables.Opened
	Advised bool // a back test advised the weights: they are not made equal where no drift is found
	data    crossfit.Table
	all     crossfit.Table // data, then the rows that are not learned from
	encoder *table.Encoder
}

// Prepare reads the table and encodes the rows up to T. It finds all that the user can mend in the table or the
// request, as *table.Error, before anything is fitted.
func Prepare(q Request) (*Job, error) {
	q.Source.OnlyFeatures = q.Weights.Kind == crossfit.Covariate
	if q.Weights.Kind == NoOmega {
		q.Fit.Permutations = 0
	}
	p := &Job{Request: q}
	var err error
	if p.Opened, err = q.Open(q.At); err != nil {
		return nil, err
	}
	if p.data, p.encoder, err = p.Stream.Data(p.Rows); err != nil {
		return nil, err
	}
	if p.all = p.data; len(p.Unseen) > 0 {
		if p.all, err = p.Stream.Encoded(p.encoder, slices.Concat(p.Rows, p.Unseen)); err != nil {
			return nil, err
		}
		first, last := slices.Min(p.data.Time), slices.Max(p.data.Time)
		for i, t := range p.all.Time[len(p.Rows):] {
			if (t < first || t > last) && q.Weights.Kind != NoOmega {
				return nil, &table.Error{File: p.File, Row: p.Stream.Table.Row(p.Unseen[i]) + 1, Column: p.Request.Unseen,
					Problem: "nothing is learned from this row, nor from any that is as old or as new, so it has no omega",
					Fix:     "learn from rows of its time, remove it, or give --kind none"}
			}
		}
	}
	if label := p.Stream.Label; label != nil {
		first := label.Value(p.Rows[0])
		if !slices.ContainsFunc(p.Rows, func(row int) bool { return label.Value(row) != first }) {
			value := fmt.Sprint(first)
			if label.Names != nil {
				value = label.Names[int(first)]
			}
			mistake := p.Mistake("the label is %q in all rows%s", value, p.UpTo())
			mistake.Column = p.Label
			return nil, mistake
		}
	}
	return p, nil
}

// Weigh fits g on the rows up to T and weights them. Errors: a *table.Error if the rows differ too little, and those of
// package propensity. progress, if not nil, is called before each part of the work with the share that is done, and the
// name of the part.
func (p *Job) Weigh(ctx context.Context, progress func(share float64, doing string)) (
	*Result, error) {
	times := p.Stream.Times
	r := &Result{About: p.About, At: times.Names[p.Present], First: times.Names[0], Times: p.Present + 1,
		Settings: p.Fit, Window: p.Window, Encoder: p.encoder, Features: p.encoder.Names(), Options: p.Weights,
		unit: p.Stream.TimeUnit(), row: xslices.Map(slices.Concat(p.Rows, p.Unseen), p.Stream.Table.Row)}
	r.Without = p.Stream.Read - len(r.row)
	// The encoded rows are enough: the table may be freed, which its times would keep.
	times = &table.Times{Column: times.Column, Bin: times.Bin, Index: times.Index, Values: times.Values, Names: times.Names}
	p.Stream = &tables.Stream{Source: p.Stream.Source, Times: times}
	r.Kind = crossfit.Covariate
	if p.data.HasY() {
		r.Kind = crossfit.Conditional
	}
	r.Kind = cmp.Or(p.Weights.Kind, r.Kind)
	r.Options.Kind, r.Options.Clip = r.Kind, cmp.Or(p.Weights.Clip, propensity.ClipOne)
	r.Settings.Kinds = []crossfit.Kind{r.Kind} // only those g are fitted that it needs
	if progress == nil {
		progress = func(float64, string) {}
	}
	if err := r.weigh(ctx, p, times.Values[p.Present], progress); err != nil {
		return nil, p.Mendable(err)
	}
	w := r.weights
	if p.Window > 0 { // rows before the window have no weight
		last := slices.Max(xslices.Map(p.Rows, func(row int) int32 { return times.Index[row] })) // that is learned from
		from := times.Values[max(0, int(last)-p.Window+1)]
		for i, t := range p.all.Time {
			if t < from {
				w.Weight[i] = 0
			}
		}
	}
	learned := w.Weight[:r.Rows]
	if math.IsInf(float64(r.Rows)/floats.Sum(learned), 0) {
		return nil, &table.Error{File: p.File, Column: p.Request.Unseen,
			Fix: "give a longer --half-life, or an earlier --at",
			Problem: fmt.Sprintf("with a half-life of %s the rows that are learned from weigh nothing next to the later ones",
				tables.Duration(r.Options.HalfLife, r.unit))}
	}
	tables.DropNegligible(w.Weight, r.Rows)
	// Mean 1 over the rows that count, as a back test's trainer gets them: a penalty counts next to the sum of weights.
	n := floats.Count(func(v float64) bool { return v > 0 }, learned)
	floats.Scale(float64(n)/floats.Sum(learned), w.Weight)
	r.Share = propensity.EffectiveSampleSize(learned) / float64(r.Rows)
	return r, nil
}

// weigh tests for drift, fits g where it is needed, and weights the rows.
func (r *Result) weigh(ctx context.Context, p *Job, T float64, show func(share float64, doing string)) (
	err error) {
	// The shares of the work are those of a table of 1e6 rows: of a small one all is done in a second.
	if p.Tested != nil && r.Kind != NoOmega {
		show(0, "tests for drift")
		if err = r.Test(ctx, p.Request.Request, p.Tested); err != nil {
			return err
		}
		drifting := r.Finding.Drifting()
		r.Equal = len(drifting) == 0 && !p.Advised
		if r.Kind == crossfit.Conditional && slices.Contains(drifting, tables.InX) && !slices.Contains(drifting, tables.InRule) {
			r.Notes = append(r.Notes, "conditional weights correct the rule from x to y, not the drift of x alone: for that "+
				"give --kind covariate")
		}
	}
	if r.Kind == NoOmega || r.Equal {
		r.weights = crossfit.Forgetting(p.all.Time, T, r.Options.HalfLife)
		return nil
	}
	show(.1, "propensity score")
	g, err := crossfit.Fit(ctx, p.data, r.Settings, p.Seed)
	if err != nil {
		return err
	}
	r.Joint, r.Covar = g.Joint, g.Covariate
	show(.7, "weights of all rows")
	if r.weights, err = g.WeightsOf(ctx, p.all, T, r.Options); err != nil { // a row that g saw has the answer of others
		return err
	}
	r.Notes = slices.Concat(r.Notes, g.Notes)
	var cycle *crossfit.Cycle
	for _, d := range []*crossfit.Diagnostics{r.Covar, r.Joint} {
		if d != nil && d.View.Cycle != nil {
			cycle = d.View.Cycle
			r.AddNote("g sees the time by a phase (%s), and the weights are for that of %s: for another phase name by --at the last "+
				"time that has it", cycle.Name, tables.ShortName(r.At))
			break
		}
	}
	if logs := r.weights.LogOmega[:r.Rows]; r.Finding != nil && slices.Min(logs) == 0 && slices.Max(logs) == 0 {
		r.Notes = append(r.Notes, r.Finding.Unseen(r.Kind)...)
	}
	switch at, worth := p.mostLike(r.weights.LogOmega[:r.Rows], cycle); {
	case at < 0:
		r.AddNote("no earlier time has the phase of %s: weights cannot stand in for rows that the past does not have",
			tables.ShortName(r.At))
	case worth < tables.Unlike:
		r.AddNote("no earlier time is much like %s: the most alike, %s, has a mean of min(omega, 1) of %.2f. Weights cannot stand "+
			"in for rows that the past does not have", tables.ShortName(r.At), tables.ShortName(p.Stream.Times.Names[at]), worth)
	}
	return nil
}

// mostLike is the time before T that is most like T by the mean of min(omega, 1) of its rows, and that mean. Times of
// few rows are taken together with those after them. Of a cycle, if there is one, only times of the phase of T count.
// It is -1 if none of these has rows.
func (p *Job) mostLike(logs []float64, cycle *crossfit.Cycle) (int, float64) {
	const leastRows = 30
	times, worth := p.Stream.Times, 0.
	sum, n := tables.Likeness(logs, xslices.Map(p.Rows, func(row int) int { return int(times.Index[row]) }), p.Present+1)
	at, earlier := -1, xslices.Iota(0, p.Present)
	if cycle != nil {
		earlier = slices.DeleteFunc(earlier, func(t int) bool { return !cycle.Alike(times.Values[t], times.Values[p.Present]) })
	}
	for i := len(earlier) - 1; i >= 0; i-- {
		t := earlier[i]
		switch {
		case n[t] < leastRows && i > 0:
			sum[earlier[i-1]], n[earlier[i-1]] = sum[earlier[i-1]]+sum[t], n[earlier[i-1]]+n[t]
		case n[t] > 0 && (at < 0 || sum[t]/n[t] > worth):
			at, worth = t, sum[t]/n[t]
		}
	}
	return at, worth
}

// WriteWeights writes row (from 1, without the header), weight (mean 1 over the rows learned from that have any),
// log_omega and spread of every row up to T in the order of the table, as Parquet, or as CSV if the name ends so.
func (r *Result) WriteWeights(path string) error {
	order := xslices.Iota(0, len(r.row)) // rows that are not learned from are last in r
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.row[a], r.row[b]) })
	row := xslices.Map(order, func(i int) int64 { return int64(r.row[i]) + 1 })
	return table.Write(path, table.Column{Name: "row", Values: row},
		table.Column{Name: "weight", Values: loop.Pick(r.weights.Weight, order)},
		table.Column{Name: "log_omega", Values: loop.Pick(r.weights.LogOmega, order)},
		table.Column{Name: "spread", Values: loop.Pick(r.weights.Spread, order)})
}

// String is the summary for a terminal. It opens with the verdict.
func (r *Result) String() string {
	var b strings.Builder
	if r.Finding != nil {
		fmt.Fprintf(&b, "%s.\n\n", r.Finding.Sentence)
	}
	fmt.Fprintf(&b, "%s; %s\n", r.Span, r.Contents)
	if r.Finding != nil {
		b.WriteString(r.Finding.Lines())
	}
	kind, g := string(r.Kind), cmp.Or(r.Joint, r.Covar)
	if g == nil {
		kind = "equal"
	}
	var also []string
	if r.Options.HalfLife > 0 {
		also = append(also, "half-life: "+tables.Duration(r.Options.HalfLife, r.unit))
		if g == nil {
			kind = "forgetting"
		}
	}
	if r.Window > 0 {
		also = append(also, "window: the last "+runs.Plural(r.Window, "time"))
	}
	if also != nil {
		kind += fmt.Sprintf(" (%s)", strings.Join(also, "; "))
	}
	fmt.Fprintf(&b, "%s weights for %s", kind, tables.ShortName(r.At))
	if r.Equal {
		b.WriteString(", as no drift is found")
	}
	fmt.Fprintf(&b, ": effective share %.3f of the rows", r.Share)
	if g != nil {
		fmt.Fprintf(&b, "; g: held-out loss %.4f (chance: %.4f)", g.HeldOut, math.Ln2)
	}
	return b.String() + "\n" + r.NoteLines()
}
