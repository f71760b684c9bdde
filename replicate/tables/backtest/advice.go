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

// judge says what to do. A committee is advised if it has a lower loss than the best weights, and is better than equal
// weights by its interval or by more than a slight gain: on the fourteen tables of natural drift it is ahead of tuned
// forgetting more often than behind (figures/gallery/archive/natural-drift/declared.md).
func (r *Result) judge() Advice {
	v := r.weights()
	c, uniform := r.rule(Committee), r.rule(Uniform)
	lower := c.Rule != "" && r.byLoss(c, r.rule(v.Rule)) < 0
	if v.Committee = lower && (c.AgainstUniform.High < 0 || r.gains(c, uniform)); v.Committee {
		arguments := ""
		if r.Bin != "none" {
			arguments = fmt.Sprintf(", bin=%q", r.Bin)
		}
		if r.Gap != "" {
			arguments += fmt.Sprintf(", gap=%q", r.Gap)
		}
		v.Sentence = fmt.Sprintf("Train several models, each on another stretch of the past, and mix their predictions "+
			"(in Python tvps.Committee(model%s))%s: %s. Weights alone: %s", arguments, c.hedge(), r.gain(c),
			strings.ToLower(v.Sentence[:1])+v.Sentence[1:])
	}
	return v
}

// gains says whether a rule has more than a slight gain.
func (r *Result) gains(x, uniform RuleResult) bool {
	return uniform.Scores[r.Metric]-x.Scores[r.Metric] >= slight*uniform.Scores[r.Metric]
}

// hedge is what advice says of a gain over equal weights that may be chance.
func (x RuleResult) hedge() string {
	if x.AgainstUniform.High < 0 {
		return ""
	}
	return ", though the gain is not certain"
}

// weights says which weights to use. Omega is advised only if its best rule is better than tuned forgetting by its
// interval, has a lower loss than all simple rules, and is better than equal weights by its interval or by more than a
// slight gain. Otherwise it is the simple rule with the lowest loss of those that are better than equal weights by
// intervals. If there is none, it is the one with the lowest loss, but equal weights if its gain is slight.
func (r *Result) weights() Advice {
	score := func(x RuleResult) float64 { return x.Scores[r.Metric] }
	uniform := r.rule(Uniform)
	lowest, certain := uniform, uniform // of the simple rules
	var best RuleResult                 // with omega
	none := " No omega was tested."
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
			none = ""
		}
	}
	better := best.Rule != "" && score(best) < score(lowest) && best.AgainstForgetting.Mean < 0
	if better && best.AgainstForgetting.High < 0 && (best.AgainstUniform.High < 0 || r.gains(best, uniform)) {
		return Advice{Rule: best.Rule, Kind: best.Kind, HalfLife: best.HalfLife, Helps: true,
			Sentence: fmt.Sprintf("Weight the rows by %s%s: %s. With the best half-life alone it is %s.", r.drift(best),
				best.hedge(), r.gain(best), r.loss(r.rule(Forgetting)))}
	}
	base := certain
	if base.Rule == Uniform && r.gains(lowest, uniform) {
		base = lowest
	}
	v := Advice{Rule: base.Rule, HalfLife: base.HalfLife, Window: base.Window}
	shown := base
	if base.Rule == Uniform {
		shown = lowest
	}
	switch {
	case shown.Rule != Uniform && shown.HalfLife == 0 && shown.Window == 0:
		v.Sentence = fmt.Sprintf("Use all of the past alike: tuned forgetting chooses no half-life today. With those that "+
			"it chose on the way: %s.", r.gain(shown))
	case base.Rule != Uniform:
		v.Sentence = fmt.Sprintf("Use %s%s: %s.", r.take(base), base.hedge(), r.gain(base))
	case lowest.Rule != Uniform:
		v.Sentence = fmt.Sprintf("Use all of the past alike: neither forgetting nor a window gains 1%% of the loss. With %s: %s.",
			r.take(lowest), r.gain(lowest))
	default:
		v.Sentence = fmt.Sprintf("Use all of the past alike: neither forgetting nor a window is better here (%s %s).", r.Words(),
			r.loss(uniform))
	}
	switch {
	case best.Rule == "":
		v.Sentence += none
	case better:
		over := ""
		if best.AgainstUniform.High < 0 {
			over = " over tuned forgetting"
		}
		v.Sentence += fmt.Sprintf(" Weights by %s, whose gain%s is not certain: %s; more test blocks would tell.", r.drift(best),
			over, r.gain(best))
	default:
		v.Sentence += " Weights by omega do not help here."
	}
	return v
}

// gain is the loss of a rule, and what it gains.
func (r *Result) gain(x RuleResult) string {
	d, how := x.AgainstUniform, "lower"
	if d.Mean > 0 {
		d, how = Difference{-d.Mean, -d.High, -d.Low}, "higher"
	}
	return fmt.Sprintf("%s %s, %s %s than with equal weights (95%% interval %s to %s)", r.Words(), r.loss(x),
		r.number("", -d.Mean, 4), how, r.number("", -d.High, 4), r.number("", -d.Low, 4))
}

// take is what the weights of a simple rule take of the past, in words.
func (r *Result) take(rule RuleResult) string {
	switch {
	case rule.HalfLife > 0:
		return fmt.Sprintf("weights that halve every %s (--kind none --half-life %g)", tables.Duration(rule.HalfLife, r.unit),
			rule.HalfLife)
	case rule.Window > 0:
		block := "block"
		if r.Bin+"s" == r.unit {
			block = r.Bin
		}
		return fmt.Sprintf("the last %s only (--kind none --window %d)",
			strings.TrimPrefix(runs.Plural(rule.Window, block), "1 "), rule.Window)
	}
	return "all of the past alike"
}

// drifts says what a kind of omega weights by.
var drifts = map[crossfit.Kind]string{
	crossfit.Joint:       "the drift of x and y",
	crossfit.Covariate:   "the drift of x",
	crossfit.Conditional: "the drift of y given x",
}

// drift says what the weights of a rule with omega are by, and how to get them.
func (r *Result) drift(x RuleResult) string {
	use := "--kind " + string(x.Kind)
	if x.HalfLife > 0 {
		use += fmt.Sprintf(" --half-life %g", x.HalfLife)
	}
	return fmt.Sprintf("%s%s (%s)", drifts[x.Kind], r.life(" with", x.HalfLife), use)
}

// life is a half-life for people, empty for none.
func (r *Result) life(before string, halfLife float64) string {
	if halfLife == 0 {
		return ""
	}
	return fmt.Sprintf("%s a half-life of %s", before, tables.Duration(halfLife, r.unit))
}

// idle are notes if a prediction without a model, or a rule that is not advised, is better than what is advised.
func (r *Result) idle() (notes []string) {
	best := slices.MinFunc([]RuleResult{r.rule(NoChange), r.rule(Majority)}, r.byLoss)
	advised := r.rule(r.Verdict.Rule)
	if r.Verdict.Committee {
		advised = r.rule(Committee)
	}
	known := slices.Concat(simple, []string{Uniform, Committee, BestSoFar, NoChange, Majority})
	lowest := advised
	for _, x := range r.Rules {
		if x.Kind == "" && !slices.Contains(known, x.Rule) && r.byLoss(x, lowest) < 0 {
			lowest = x
		}
	}
	if lowest.Rule != advised.Rule {
		notes = append(notes, fmt.Sprintf("%s, a rule that the command weights does not have, has a lower %s than what is "+
			"advised: %s", lowest.Rule, r.Words(), r.loss(lowest)))
	}
	if r.byLoss(best, advised) < 0 {
		notes = append(notes, fmt.Sprintf("%s, a prediction without a model, has a lower %s than what is advised: "+
			"the features do not lower it here", best.Rule, r.Words()))
	}
	return notes
}
