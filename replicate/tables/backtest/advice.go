package backtest

import (
	"fmt"
	"slices"
	"strings"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
)

// simple lists the rules of which one is advised where omega is not and equal weights are not.
var simple = []string{Forgetting, Window, Last}

// slight is the gain, relative to the loss of equal weights, below which a rule is not advised unless its interval
// excludes 0.
const slight = .01

// judge says what to do. Omega is advised only if its best rule is better than tuned forgetting by its interval, has a
// lower loss than all simple rules, and is better than equal weights by its interval or by more than a slight gain.
// Otherwise it is the simple rule with the lowest loss of those that are better than equal weights by their intervals.
// If there is none, the one with the lowest loss is advised as what may be chance, but equal weights if its gain is
// slight.
func (r *Result) judge() Advice {
	score := func(x RuleResult) float64 { return x.Scores[r.Metric] }
	uniform := r.rule(Uniform)
	gains := func(x RuleResult) bool { return score(uniform)-score(x) >= slight*score(uniform) }
	lowest, certain := uniform, uniform // of the simple rules
	var best RuleResult                 // with omega
	none := ". No omega was tested."
	for _, x := range r.Rules {
		if slices.Contains(simple, x.Rule) && score(x) < score(lowest) {
			lowest = x
		}
		if slices.Contains(simple, x.Rule) && x.AgainstUniform.High < 0 && score(x) < score(certain) {
			certain = x
		}
		if x.Kind != "" && (best.Rule == "" || score(x) < score(best)) {
			best = x
		}
		if x.last.Kind != "" {
			none = "."
		}
	}
	better := best.Rule != "" && score(best) < score(lowest) && best.AgainstForgetting.Mean < 0
	if better && best.AgainstForgetting.High < 0 && (best.AgainstUniform.High < 0 || gains(best)) {
		use := "--kind " + string(best.Kind)
		if best.HalfLife > 0 {
			use += fmt.Sprintf(" --half-life %g", best.HalfLife)
		}
		return Advice{Rule: best.Rule, Kind: best.Kind, HalfLife: best.HalfLife, Helps: true,
			Sentence: fmt.Sprintf("Use weights by %s%s (%s): %s %s instead of %s with the best tuned forgetting.",
				drifts[best.Kind], r.life(" with", best.HalfLife), use, r.Words(), r.loss(best), r.loss(r.rule(Forgetting)))}
	}
	base, maybe := certain, ""
	if base.Rule == Uniform && gains(lowest) {
		base, maybe = lowest, ", which may be chance"
	}
	v := Advice{Rule: base.Rule, HalfLife: base.HalfLife, Window: base.Window}
	v.Sentence = fmt.Sprintf("Use %s: %s %s", r.take(base), r.Words(), r.loss(base))
	switch {
	case base.Rule != Uniform:
		v.Sentence += fmt.Sprintf(" instead of %s%s", r.loss(uniform), maybe)
	case lowest.Rule != Uniform:
		v.Sentence += fmt.Sprintf(". Nothing beats equal weights here: %s differs by %s", lowest.Rule, lowest.AgainstUniform)
	default:
		v.Sentence += ". Nothing beats equal weights here"
	}
	switch {
	case best.Rule == "":
		v.Sentence += none
	case better:
		v.Sentence += fmt.Sprintf(". Weights by %s reach %s, which may be chance.", drifts[best.Kind], r.loss(best))
	default:
		v.Sentence += ". Weights by omega do not help here."
	}
	return v
}

// nameCommittee adds to the advice of a single weighting that a committee is better, where it is.
func (r *Result) nameCommittee(v Advice) Advice {
	c := r.rule(Committee) // without intervals if it took no part
	v.Committee = c.AgainstUniform.High < 0 && c.AgainstForgetting.High < 0 && r.byLoss(c, r.rule(v.Rule)) < 0
	if v.Committee {
		v.Sentence += fmt.Sprintf(" A committee of models on several time scales is better: %s %s.", r.Words(), r.loss(c))
	}
	return v
}

// take is what the weights of a simple rule take of the past, in words.
func (r *Result) take(rule RuleResult) string {
	switch {
	case rule.HalfLife > 0:
		return "forgetting" + r.life(" with", rule.HalfLife)
	case rule.Window > 0:
		block := "block"
		if r.Bin+"s" == r.unit {
			block = r.Bin
		}
		return "the last " + strings.TrimPrefix(runs.Plural(rule.Window, block), "1 ") + " only"
	}
	return "all of the past alike"
}

// drifts says what a kind of omega weights by.
var drifts = map[crossfit.Kind]string{
	crossfit.Joint:       "the drift of x and y",
	crossfit.Covariate:   "the drift of x",
	crossfit.Conditional: "the drift of y given x",
}

// life is a half-life for people, empty for none.
func (r *Result) life(before string, halfLife float64) string {
	if halfLife == 0 {
		return ""
	}
	return fmt.Sprintf("%s a half-life of %s", before, tables.Duration(halfLife, r.unit))
}

// idle is a note if a prediction without a model is better than what is advised; none otherwise.
func (r *Result) idle() []string {
	best := slices.MinFunc([]RuleResult{r.rule(NoChange), r.rule(Majority)}, r.byLoss)
	advised := r.rule(r.Verdict.Rule)
	if r.Verdict.Committee {
		advised = r.rule(Committee)
	}
	if r.byLoss(best, advised) >= 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s, a prediction without a model, has a lower %s than what is advised: "+
		"the features do not lower it here", best.Rule, r.Words())}
}
