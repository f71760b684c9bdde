package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/gomlx_models/propensity/crossfit"
)

// Weighting is one way to weight the rows of the past for time T: a kind of omega, or none, times exponential
// forgetting or a window, or neither.
type Weighting struct {
	Kind     crossfit.Kind // of omega, clipped at 1; "" for none
	Window   int           // the last so many blocks; 0 for all
	HalfLife float64       // of exponential forgetting, in units of time; 0 for none
}

// String is the weighting's name, as "conditional, half-life 4".
func (w Weighting) String() string {
	var parts []string
	if w.Kind != "" {
		parts = append(parts, string(w.Kind))
	}
	if w.Window > 0 {
		parts = append(parts, fmt.Sprintf("last %d", w.Window))
	}
	if w.HalfLife > 0 {
		parts = append(parts, fmt.Sprintf("half-life %g", w.HalfLife))
	}
	if len(parts) == 0 {
		return "uniform"
	}
	return strings.Join(parts, ", ")
}

// Rule is a list of weightings from which one is chosen before each test block: that with the lowest loss on the
// earlier test blocks. A rule of one weighting has nothing to choose.
type Rule struct {
	Name       string
	Kind       crossfit.Kind // of omega, if all weightings have it
	Weightings []Weighting
}

// Names of rules that others are compared with.
const (
	Uniform    = "uniform"
	Last       = "last"
	Window     = "window"
	Forgetting = "forgetting"
	BestSoFar  = "best-so-far"
	NoChange   = "no-change"
	Majority   = "majority"
)

// withForgetting is the name of the rule of a kind of omega times exponential forgetting.
func withForgetting(k crossfit.Kind) string { return string(k) + "-forgetting" }

// Baselines lists the rules without omega that train a model.
func Baselines() []string { return []string{Uniform, Last, Window, Forgetting} }

// allRules are the rules for a number of blocks that lie unit apart in time. Half-lives are 1, 2, 4, ... blocks, and
// windows 2, 4, 8, ..., up to half of the blocks; 64 and 32 at most. Forgetting includes none, which is uniform.
func allRules(blocks int, unit float64) []Rule {
	var windows, lives []Weighting
	for k := 2; k <= min(32, blocks/2); k *= 2 {
		windows = append(windows, Weighting{Window: k})
	}
	for k := 1; k <= min(64, max(1, blocks/2)); k *= 2 {
		lives = append(lives, Weighting{HalfLife: float64(k) * unit})
	}
	rules := []Rule{{Name: Uniform, Weightings: []Weighting{{}}}, {Name: Last, Weightings: []Weighting{{Window: 1}}},
		{Name: Window, Weightings: windows}, {Name: Forgetting, Weightings: append(slices.Clone(lives), Weighting{})}}
	for _, kind := range crossfit.Kinds() {
		alone := Weighting{Kind: kind}
		var both []Weighting
		for _, w := range lives {
			both = append(both, Weighting{Kind: kind, HalfLife: w.HalfLife})
		}
		both = append(both, alone)
		rules = append(rules, Rule{string(kind), kind, []Weighting{alone}}, Rule{withForgetting(kind), kind, both})
	}
	return slices.DeleteFunc(rules, func(r Rule) bool { return len(r.Weightings) == 0 })
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
	for i := range out {
		if omega != nil {
			out[i] *= omega[i]
		}
		if w.Window > 0 && t.block[i] < t.step-w.Window {
			out[i] = 0
		}
		if w.HalfLife > 0 {
			out[i] *= math.Exp2(-t.age[i] / w.HalfLife)
		}
	}
	least, sum := negligible*slices.Max(out), 0.
	for i, v := range out {
		if v < least {
			out[i] = 0
		}
		sum += out[i]
	}
	for i := range out {
		out[i] *= float64(len(out)) / sum
	}
	return out
}

// choose returns the weighting that the rule takes before each of so many steps, and after the last: that with the
// lowest loss over the earlier steps. loss: of a step with a weighting, summed over rows. Before the first step it is
// the last weighting of the list.
func (r Rule) choose(steps int, loss func(step int, w Weighting) float64) []Weighting {
	sums := make([]float64, len(r.Weightings))
	best := len(sums) - 1
	out := []Weighting{r.Weightings[best]}
	for t := range steps {
		for i, w := range r.Weightings {
			sums[i] += loss(t, w)
		}
		for i, s := range sums {
			if s < sums[best] {
				best = i
			}
		}
		out = append(out, r.Weightings[best])
	}
	return out
}
