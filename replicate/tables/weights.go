package tables

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/floats"
)

// NoOmega is the kind of weights without omega: exponential forgetting alone, or equal weights. No g is fitted.
const NoOmega crossfit.Kind = "none"

// WeightsRequest says how rows are weighted.
type WeightsRequest struct {
	Request
	At      string                 // T, as the table has its times; empty: the last one
	Weights crossfit.WeightOptions // Kind empty: Conditional with a label, else Covariate
	Window  int                    // weight 0 for all but the last so many times; 0: none
}

// Weights has the weight of every row up to T. Rows after T take no part in anything.
type Weights struct {
	About
	At    string `json:"at"`
	First string `json:"first"` // the first time
	Times int    `json:"times"` // number of times up to T

	Features []string               `json:"features"` // what g sees of x
	Kind     crossfit.Kind          `json:"kind"`
	Options  crossfit.WeightOptions `json:"weights"`
	Settings crossfit.Config        `json:"settings"`
	Window   int                    `json:"window"` // times with weight; 0: all
	Share    float64                `json:"effective-share"`
	Shrink   float64                `json:"shrink"`
	Equal    bool                   `json:"equal,omitempty"`     // nothing drifts, so there is no omega
	Joint    *crossfit.Diagnostics  `json:"joint,omitempty"`     // of g that sees (x, y)
	Covar    *crossfit.Diagnostics  `json:"covariate,omitempty"` // of g that sees x
	Encoder  *table.Encoder         `json:"encoder"`
	Score    *crossfit.Fitted       `json:"-"` // g; nil for weights without omega
	unit     string                 // of half-lives, for people
	row      []int                  // in the file, from 0
	weights  *crossfit.Weights      // in the order of row
	fitter   *crossfit.Fitter
}

// Close frees the compiled programs.
func (r *Weights) Close() { r.fitter.Close() }

// WeightsJob is a request whose table was read and checked.
type WeightsJob struct {
	WeightsRequest
	opened
	Advised bool // a back test advised the weights: they are not made equal where no drift is found
	data    crossfit.Table
	encoder *table.Encoder
}

// PrepareWeights reads the table and encodes the rows up to T. It finds all that the user can mend in the table or the
// request, as *table.Error, before anything is fitted.
func PrepareWeights(q WeightsRequest) (*WeightsJob, error) {
	q.Source.OnlyFeatures = q.Weights.Kind == crossfit.Covariate
	if q.Weights.Kind == NoOmega {
		q.Fit.Permutations = 0
	}
	p := &WeightsJob{WeightsRequest: q}
	var err error
	if p.opened, err = q.open(q.At); err != nil {
		return nil, err
	}
	if late := p.stream.late; late != "" && q.At == "" {
		p.about.note("the weights are for %s, not for %s, the last time of the table: its rows have no label. "+
			"--kind covariate needs none", ShortName(p.stream.Times.Names[p.at]), late)
	}
	if p.data, p.encoder, err = p.stream.Data(p.rows); err != nil {
		return nil, err
	}
	if label := p.stream.Label; label != nil {
		first := outcome(label, p.rows[0])
		if !slices.ContainsFunc(p.rows, func(row int) bool { return outcome(label, row) != first }) {
			value := fmt.Sprint(first)
			if label.Names != nil {
				value = label.Names[int(first)]
			}
			mistake := p.mistake("the label is %q in all rows%s", value, p.upTo())
			mistake.Column = p.Label
			return nil, mistake
		}
	}
	return p, nil
}

// Weigh fits g on the rows up to T and weights them. Errors: a *table.Error if the rows differ too little, and those of
// package propensity. progress, if not nil, is called with the share of the work done and what is done. Close the
// result after its last use.
func (p *WeightsJob) Weigh(ctx context.Context, backend compute.Backend, progress func(share float64, doing string)) (
	*Weights, error) {
	times := p.stream.Times
	r := &Weights{About: p.about, At: times.Names[p.at], First: times.Names[0], Times: p.at + 1,
		Settings: p.Fit, Window: p.Window, Encoder: p.encoder, Features: p.encoder.Names(), Options: p.Weights,
		unit: p.stream.timeUnit(), row: collect(p.rows, p.stream.Table.Row), fitter: crossfit.NewFitter(backend)}
	p.stream = &Stream{Source: p.stream.Source, Times: times} // the encoded rows are enough: the table may be freed
	r.Kind = crossfit.Covariate
	if p.data.HasY() {
		r.Kind = crossfit.Conditional
	}
	r.Kind = cmp.Or(p.Weights.Kind, r.Kind)
	r.Options.Kind, r.Options.Clip = r.Kind, cmp.Or(p.Weights.Clip, propensity.ClipOne)
	r.Settings.Kinds = []crossfit.Kind{r.Kind} // only those g are fitted that it needs
	if err := r.weigh(ctx, p, times.Values[p.at], progress); err != nil {
		r.Close()
		return nil, p.mendable(err)
	}
	w := r.weights
	if r.Share, r.Shrink = w.Share, w.Shrink; p.Window > 0 { // rows before the window have no weight
		from := times.Values[max(0, p.at-p.Window+1)]
		for i, t := range p.data.Time {
			if t < from {
				w.Weight[i] = 0
			}
		}
		floats.Scale(float64(r.Rows)/floats.Sum(w.Weight), w.Weight)
		r.Share = propensity.EffectiveSampleSize(w.Weight) / float64(r.Rows)
	}
	return r, nil
}

// weigh tests for drift, fits g where it is needed, and weights the rows.
func (r *Weights) weigh(ctx context.Context, p *WeightsJob, T float64, show func(share float64, doing string)) (
	err error) {
	begin := 0.
	if p.tested != nil && r.Kind != NoOmega {
		begin = .3
		r.fitter.Progress = phase(show, 0, begin, "tests for drift")
		if err = r.test(ctx, r.fitter, p.Request, p.tested); err != nil {
			return err
		}
		drifting := r.Finding.drifting()
		r.Equal = len(drifting) == 0 && !p.Advised
		if r.Kind == crossfit.Conditional && slices.Contains(drifting, InX) && !slices.Contains(drifting, InRule) {
			r.Notes = append(r.Notes, "conditional weights correct the rule from x to y, not the drift of x alone: for that "+
				"give --kind covariate")
		}
	}
	if r.Kind == NoOmega || r.Equal {
		r.weights = crossfit.Forgetting(p.data.Time, T, r.Options.HalfLife)
		return nil
	}
	r.fitter.Progress = phase(show, begin, 1-begin, "propensity score")
	if r.Score, err = r.fitter.Fit(ctx, p.data, r.Settings, p.Seed); err != nil {
		return err
	}
	r.Joint, r.Covar = r.Score.Joint, r.Score.Covariate
	if r.weights, err = r.Score.Weights(ctx, T, r.Options); err != nil {
		return err
	}
	r.Notes = slices.Concat(r.Notes, r.Score.Notes, r.weights.Notes)
	if r.Finding != nil {
		logs := r.weights.LogOmega
		r.Notes = append(r.Notes, r.Finding.unseen(r.Kind, slices.Min(logs) == 0 && slices.Max(logs) == 0)...)
	}
	if at, worth := p.mostLike(r.weights.LogOmega); worth < unlike {
		r.note("no earlier time is much like %s: the most alike, %s, has a mean of min(omega, 1) of %.2f. Weights cannot stand "+
			"in for rows that the past does not have", ShortName(r.At), ShortName(p.stream.Times.Names[at]), worth)
	}
	return nil
}

// mostLike is the time before T that is most like T by the mean of min(omega, 1) of its rows, and that mean. Times of
// few rows are taken together with those after them.
func (p *WeightsJob) mostLike(logs []float64) (at int, worth float64) {
	const leastRows = 30
	sum, n := kept(logs, collect(p.rows, func(row int) int { return int(p.stream.Times.Index[row]) }), p.at+1)
	for t := p.at - 1; t >= 0; t-- {
		switch {
		case n[t] < leastRows && t > 0:
			sum[t-1], n[t-1] = sum[t-1]+sum[t], n[t-1]+n[t]
		case sum[t]/n[t] > worth:
			at, worth = t, sum[t]/n[t]
		}
	}
	return at, worth
}

// WriteWeights writes row (from 1, without the header), weight (mean 1), log_omega and spread of every row up to T, as
// Parquet, or as CSV if the name ends so.
func (r *Weights) WriteWeights(path string) error {
	row := collect(r.row, func(at int) int64 { return int64(at) + 1 })
	return table.Write(path, table.Column{Name: "row", Values: row}, table.Column{Name: "weight", Values: r.weights.Weight},
		table.Column{Name: "log_omega", Values: r.weights.LogOmega}, table.Column{Name: "spread", Values: r.weights.Spread})
}

// String is the summary for a terminal. It opens with the verdict.
func (r *Weights) String() string {
	var b strings.Builder
	if r.Finding != nil {
		fmt.Fprintf(&b, "%s.\n\n", r.Finding.Sentence)
	}
	fmt.Fprintf(&b, "%d rows, %s to %s in %s; %s\n", r.Rows, ShortName(r.First), ShortName(r.At),
		runs.Plural(r.Times, "time"), r.Contents)
	if r.Finding != nil {
		b.WriteString(r.Finding.lines())
	}
	kind := string(r.Kind)
	if r.Score == nil {
		kind = "equal"
	}
	var also []string
	if r.Options.HalfLife > 0 {
		also = append(also, "half-life: "+duration(r.Options.HalfLife, r.unit))
		if r.Score == nil {
			kind = "forgetting"
		}
	}
	if r.Window > 0 {
		also = append(also, "window: the last "+runs.Plural(r.Window, "time"))
	}
	if also != nil {
		kind += fmt.Sprintf(" (%s)", strings.Join(also, "; "))
	}
	fmt.Fprintf(&b, "%s weights for %s", kind, ShortName(r.At))
	if r.Equal {
		b.WriteString(", as no drift is found")
	}
	fmt.Fprintf(&b, ": effective share %.3f of the rows", r.Share)
	if d := cmp.Or(r.Joint, r.Covar); d != nil {
		fmt.Fprintf(&b, "; g: held-out loss %.4f (chance: %.4f)", d.HeldOut, math.Ln2)
	}
	return b.String() + "\n" + r.noteLines()
}
