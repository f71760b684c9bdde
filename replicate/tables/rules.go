package tables

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"gonum.org/v1/gonum/floats"
)

// Weighting is one way to weight the rows of the past for time T: a kind of omega, or none, times a function of age, or
// none.
type Weighting struct {
	Kind     crossfit.Kind // of omega, clipped at 1; "" for none
	Part     Part          // of omega
	Window   int           // the last so many blocks; 0 for all
	HalfLife float64       // of exponential forgetting, in units of time; 0 for none
	Power    float64       // the weight is (1 + age)^-Power, with the age in blocks; 0 for none
}

// Part is a factor of omega.
type Part string

// Omega is the product of two factors: its mean over the rows of each block, and what is left, which compares the rows
// of a block with each other. Without a Part the weight is the whole.
const (
	Age    Part = "age"
	Within Part = "within blocks"
)

// String is the weighting's name, as "conditional, half-life 4".
func (w Weighting) String() string {
	var parts []string
	if w.Kind != "" {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s", w.Kind, w.Part)))
	}
	if parts = append(parts, w.ofAge()...); len(parts) == 0 {
		return "uniform"
	}
	return strings.Join(parts, ", ")
}

// ofAge names its functions of age. A new one has a field, its name here, and a line in task.weights.
func (w Weighting) ofAge() (names []string) {
	for _, f := range []struct {
		name  string
		value float64
	}{{"last", float64(w.Window)}, {"half-life", w.HalfLife}, {"power", w.Power}} {
		if f.value > 0 {
			names = append(names, fmt.Sprintf("%s %g", f.name, f.value))
		}
	}
	return names
}

// Rule says what predicts a test block: the model of one of its weightings, chosen by its losses on the earlier test
// blocks, unless it has mix or train. A rule of one weighting has nothing to choose.
type Rule struct {
	Name       string
	Kind       crossfit.Kind // of omega, of the rules that are advised for it
	Weightings []Weighting   // a model is trained with each
	Extra      bool          // takes part only if it is named
	// choose gives the weighting for the next test block; nil: that with the lowest loss so far.
	choose func(r Rule, p *past) Weighting
	pairs  bool // choose compares weightings two by two, so a block has squares of the differences of their losses
	// mix gives the share of each weighting's model in the prediction; nil: one is chosen.
	mix func(r Rule, p *past) []float64
	// train gives weights of the rows of t.train, [models][rows], for models of the rule's own, whose mean is the
	// prediction; nil: it has none.
	train func(ctx context.Context, c *computation, r Rule, t *task, p *past) ([][]float64, error)
}

// ownPrediction tells whether a rule's predictions are not those of one of its weightings.
func (r Rule) ownPrediction() bool { return r.mix != nil || r.train != nil }

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

// factor begins the names of the rules that weight by a factor of omega.
const factor = "omega-"

// Rules lists the rules that train a model, without those of the kinds of omega: those of which the request takes its
// choice. extra: also those that take part only if they are named.
func Rules(extra bool) (names []string) {
	for _, r := range allRules(leastBlocks, 1) {
		if r.Kind == "" && (extra || !r.Extra) {
			names = append(names, r.Name)
		}
	}
	return names
}

// allRules are the rules for a number of blocks that lie unit apart in time. Half-lives are 1, 2, 4, ... blocks, and
// windows 2, 4, 8, ..., up to half of the blocks; 64 and 32 at most. Forgetting includes none, which is uniform. The
// members of a committee are the models that windows, forgetting and equal weights train anyway.
func allRules(blocks int, unit float64) []Rule {
	equal := []Weighting{{}}
	var windows, lives, powers []Weighting
	for k := 2; k <= min(32, blocks/2); k *= 2 {
		windows = append(windows, Weighting{Window: k})
	}
	for k := 1; k <= min(64, blocks/2); k *= 2 {
		lives = append(lives, Weighting{HalfLife: float64(k) * unit})
	}
	for _, a := range []float64{4, 2, 1, .5, .25} {
		powers = append(powers, Weighting{Power: a})
	}
	members, forgetting := slices.Concat(windows, lives, equal), slices.Concat(lives, equal)
	omega := func(kind crossfit.Kind, part Part) []Weighting {
		return collect(forgetting, func(w Weighting) Weighting {
			w.Kind, w.Part = kind, part
			return w
		})
	}
	rules := []Rule{
		{Name: Uniform, Weightings: equal},
		{Name: Last, Weightings: []Weighting{{Window: 1}}},
		{Name: Window, Weightings: windows},
		{Name: Forgetting, Weightings: forgetting},
		{Name: Committee, Weightings: members, mix: adaHedge},
		{Name: "tournament", Weightings: members, Extra: true, choose: tournament, pairs: true},
		{Name: "rider", Weightings: equal, Extra: true, train: rider},
		{Name: "timescales", Weightings: equal, Extra: true, train: timescales},
		{Name: "bagged", Weightings: forgetting, Extra: true, train: bagged(len(members))},
		{Name: "power-law", Weightings: slices.Concat(powers, equal), Extra: true},
		{Name: factor + "age", Weightings: []Weighting{{Kind: crossfit.Joint, Part: Age}}, Extra: true},
		{Name: factor + "x", Weightings: omega(crossfit.Covariate, Within), Extra: true},
		{Name: factor + "y-given-x", Weightings: omega(crossfit.Conditional, Within), Extra: true},
	}
	for _, kind := range crossfit.Kinds() {
		rules = append(rules, Rule{Name: string(kind), Kind: kind, Weightings: []Weighting{{Kind: kind}}},
			Rule{Name: string(kind) + "-forgetting", Kind: kind, Weightings: omega(kind, "")})
	}
	return rules
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

// negligible is the weight, relative to the largest, below which a row is left out of a training.
const negligible = 1e-6

// weights are those of the rows of train with a weighting, mean 1. omega: of its kind, nil for none.
func (t *task) weights(w Weighting, omega []float64) []float64 {
	out := t.equal()
	var mean []float64 // of omega, by block
	if w.Part != "" {
		mean = t.byBlock(omega)
	}
	for i := range out {
		switch {
		case w.Part == Age:
			out[i] *= mean[t.block[i]]
		case w.Part == Within:
			out[i] *= omega[i] / mean[t.block[i]]
		case omega != nil:
			out[i] *= omega[i]
		}
		if w.Window > 0 && t.block[i] < t.step-w.Window {
			out[i] = 0
		}
		if w.HalfLife > 0 {
			out[i] *= math.Exp2(-t.age[i] / w.HalfLife)
		}
		if w.Power > 0 {
			out[i] *= math.Pow(float64(t.step-t.block[i]), -w.Power) // 1 + the age of the newest block, which is 0
		}
	}
	return scaledWeights(out)
}

// byBlock is the mean of values over the rows of the past, by the place of their block.
func (t *task) byBlock(values []float64) []float64 {
	sum, rows := make([]float64, t.step), make([]float64, t.step)
	for i, scale := range t.equal() {
		sum[t.block[i]] += scale * values[i]
		rows[t.block[i]] += scale
	}
	floats.Div(sum, rows)
	return sum
}

// scaledWeights gives weights the mean 1, and negligible ones none, in place.
func scaledWeights(out []float64) []float64 {
	least, sum := negligible*slices.Max(out), 0.
	for i, v := range out {
		if v < least {
			out[i] = 0
		}
		sum += out[i]
	}
	floats.Scale(float64(len(out))/sum, out)
	return out
}

// past is what the test blocks before one have given.
type past struct {
	measure string               // that compares
	blocks  []map[string]float64 // value of each metric, by test block
	rows    []float64            // of each test block
}

// past has the test blocks before a step. known: their rows.
func (p *BacktestJob) past(known map[int][]runs.Row, step int) *past {
	out := &past{measure: measures(p.stream)[0].name}
	for _, t := range p.steps {
		if t < step {
			out.add(known[t], p.stream.Times.Counts[t])
		}
	}
	return out
}

// add appends a test block.
func (p *past) add(of []runs.Row, rows int) {
	values := map[string]float64{}
	for _, r := range of {
		values[r.Metric] = r.Value
	}
	p.blocks, p.rows = append(p.blocks, values), append(p.rows, float64(rows))
}

// first has the first n test blocks.
func (p *past) first(n int) *past { return &past{p.measure, p.blocks[:n], p.rows[:n]} }

// sums has a metric of each test block, summed over its rows.
func (p *past) sums(metric string) []float64 {
	out := make([]float64, len(p.blocks))
	for i, values := range p.blocks {
		out[i] = values[metric] * p.rows[i]
	}
	return out
}

// losses are those of a weighting on each test block, summed over its rows.
func (p *past) losses(w Weighting) []float64 { return p.sums(metric(p.measure, w.String())) }

// chosen lists the weighting that the rule takes before each block, and after the last.
func (r Rule) chosen(p *past) []Weighting {
	pick := r.choose
	if pick == nil {
		pick = lowest
	}
	var out []Weighting
	for n := range len(p.blocks) + 1 {
		out = append(out, pick(r, p.first(n)))
	}
	return out
}

// lowest is the weighting with the lowest loss over all blocks, of several the one that was it before. Before the first
// block it is the last of the list.
func lowest(r Rule, p *past) Weighting {
	losses, sums := collect(r.Weightings, p.losses), make([]float64, len(r.Weightings))
	best := len(sums) - 1
	for block := range p.blocks {
		for i := range sums {
			sums[i] += losses[i][block]
		}
		for i, s := range sums {
			if s < sums[best] {
				best = i
			}
		}
	}
	return r.Weightings[best]
}
