package backtest

import (
	"math"
	"slices"

	"tvps/data/statistics"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
)

// tuning is the number of the first test blocks on which choices are made, but which do not count: a fifth, at least 2.
func tuning(tests int) int { return max(2, tests/5) }

// newResult summarises the stored rows.
func newResult(p *Job, about tables.About, rows []runs.Row) *Result {
	byStep := map[int][]runs.Row{}
	for _, r := range rows {
		byStep[r.T] = append(byStep[r.T], r)
	}
	list := measures(p.Stream)
	r := &Result{About: about, Model: p.Model, Metric: list[0].name, Tuning: tuning(len(p.steps)), Gap: p.Gap, unit: p.Stream.TimeUnit()}
	history := p.past(byStep, math.MaxInt)
	r.Blocks = xslices.Map(p.steps[r.Tuning:], func(t int) BlockResult {
		return BlockResult{p.Stream.Times.Names[t], p.counts[t], map[string]float64{}, 0}
	})
	for i := range r.Blocks {
		r.Blocks[i].HeldOut = history.Blocks[r.Tuning+i][heldOut(crossfit.Joint)]
	}
	r.Tested = len(r.Blocks)
	all := weightings(p.rules)
	best := Rule{Name: BestSoFar, Weightings: slices.Concat(all[1:], all[:1])} // before any block it takes equal weights
	for _, rule := range slices.Concat(p.rules, []Rule{best, {Name: NoChange}, {Name: Majority}}) {
		found := RuleResult{Rule: rule.Name, Members: rule.members(history), Scores: map[string]float64{}}
		names := slices.Repeat([]string{rule.Name}, len(p.steps)) // of its predictions of the test blocks
		if !rule.ownPrediction() && rule.Weightings != nil {
			chosen := rule.chosen(history)
			last := chosen[len(chosen)-1]
			found.Kind, found.last = rule.Kind, last
			found.HalfLife, found.Window, found.Power = last.HalfLife, last.Window, last.Power
			names = xslices.Map(chosen, Weighting.String)
			if found.Tuned = len(rule.Weightings) > 1; found.Tuned {
				found.Chosen = names[r.Tuning:len(p.steps)]
			}
		}
		for _, m := range list {
			sum, rows := 0., 0.
			for i, b := range r.Blocks {
				v := history.Blocks[r.Tuning+i][metric(m.name, names[r.Tuning+i])]
				if m.name == r.Metric {
					b.Scores[found.Rule] = v
				}
				sum, rows = sum+v*float64(b.Rows), rows+float64(b.Rows)
			}
			found.Scores[m.name] = sum / rows
		}
		r.Rules = append(r.Rules, found)
	}
	r.compare(p.Seed)
	r.Verdict = r.judge()
	r.Notes = append(r.Notes, r.idle()...)
	return r
}

// compare fills in the intervals of the differences to uniform weights and to forgetting.
func (r *Result) compare(seed int64) {
	rows := xslices.Map(r.Blocks, func(b BlockResult) int { return b.Rows })
	against := func(base string, of func(*RuleResult) *Difference, together func(RuleResult) bool) {
		var all, family [][]float64
		for _, rule := range r.Rules {
			d := xslices.Map(r.Blocks, func(b BlockResult) float64 { return b.Scores[rule.Rule] - b.Scores[base] })
			all = append(all, d)
			if together(rule) {
				family = append(family, d)
			}
		}
		alone, _ := statistics.BlockBootstrap(all, rows, seed)
		_, both := statistics.BlockBootstrap(family, rows, seed)
		for i := range r.Rules {
			found := alone[i]
			if together(r.Rules[i]) {
				found, both = both[0], both[1:]
			}
			*of(&r.Rules[i]) = Difference{found.Mean, found.Low, found.High}
		}
	}
	against(Uniform, func(x *RuleResult) *Difference { return &x.AgainstUniform },
		func(x RuleResult) bool { return slices.Contains(simple, x.Rule) })
	against(Forgetting, func(x *RuleResult) *Difference { return &x.AgainstForgetting },
		func(x RuleResult) bool { return x.Kind != "" })
}
