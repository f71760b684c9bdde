package backtest

import (
	"cmp"
	"context"
	"slices"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
)

// Names of rules that others are compared with.
const (
	Uniform    = "uniform"
	Last       = "last"
	Window     = "window"
	Forgetting = "forgetting"
	Committee  = "committee"
	BestSoFar  = "best-so-far"
	NoChange   = "no-change"
	Majority   = "majority"
)

// Rule says what predicts a test block: the model of one of its weightings, chosen by its losses on the earlier test
// blocks, unless it mixes or trains models of its own. A rule of one weighting has nothing to choose. The functions are
// for rules that are not built in, see Request.More.
type Rule struct {
	Name       string
	Kind       crossfit.Kind // of omega, of the rules that are advised for it
	Weightings []Weighting   // a model is trained with each
	Extra      bool          // takes part only if it is named
	mixes      bool          // the predictions of the weightings' models, see adaHedge
	// Choose gives the weighting for the next test block; nil: that with the lowest loss so far.
	Choose func(p *Past) Weighting
	// Record gives other rows of a test block, which Choose may read from the Past. of: the prediction of a weighting's
	// model; nil: there are none.
	Record func(t *Task, of func(Weighting) []float64) []runs.Row
	// Factor gives the part of omega of the weightings that have a Part; nil: the whole.
	Factor func(t *Task, omega []float64) []float64
	// Train gives weights of the rows of the past, [models][rows], for models of the rule's own, whose mean is the
	// prediction; nil: it has none.
	Train func(ctx context.Context, t *Task) ([][]float64, error)
}

// ownPrediction tells whether a rule's predictions are not those of one of its weightings.
func (r Rule) ownPrediction() bool { return r.mixes || r.Train != nil }

// chosen lists the weighting that the rule takes before each block, and after the last.
func (r Rule) chosen(p *Past) []Weighting {
	var out []Weighting
	for n := range len(p.Blocks) + 1 {
		if known := p.before(n); r.Choose != nil {
			out = append(out, r.Choose(known))
		} else {
			out = append(out, lowest(r.Weightings, known))
		}
	}
	return out
}

// weightings lists the different weightings of rules.
func weightings(rules []Rule) []Weighting {
	var out []Weighting
	for _, r := range rules {
		for _, w := range r.Weightings {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// Member is a model whose prediction is mixed with those of others.
type Member struct {
	Weighting string  `json:"weighting"`
	HalfLife  float64 `json:"half-life"`
	Window    int     `json:"window"`
	Share     float64 `json:"share"`
}

// members are the weightings of a rule that mixes predictions, with their shares in the next test block.
func (r Rule) members(p *Past) (out []Member) {
	if !r.mixes {
		return nil
	}
	for i, share := range adaHedge(r.Name, r.Weightings, p) {
		w := r.Weightings[i]
		out = append(out, Member{w.String(), w.HalfLife, w.Window, share})
	}
	slices.SortStableFunc(out, func(a, b Member) int { return cmp.Compare(b.Share, a.Share) })
	return out
}
