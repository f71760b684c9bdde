package backtest

import (
	"slices"

	"tvps/gomlx_models/propensity/crossfit"

	"github.com/gomlx/gomlx/support/xslices"
)

// leastBlocks is the least number of blocks of a table.
const leastBlocks = 8

// both averages over time scales, as a committee, and over bootstrap samples.
const both = "bagged-committee"

// builtIn are the rules for a number of blocks that lie unit apart in time. Half-lives are 1, 2, 4, ... blocks, and
// windows 2, 4, 8, ..., up to half of the blocks; 64 and 32 at most. Forgetting includes none, which is uniform. The
// members of a committee are the models that windows, forgetting and equal weights train anyway. Seasons are equal
// weights and forgetting of the blocks of one phase; where the calendar has cycles in the table they take part unnamed.
func builtIn(blocks int, unit float64) []Rule {
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
	seasons := xslices.Map(forgetting, func(w Weighting) Weighting {
		w.Season = true
		return w
	})
	rules := []Rule{
		{Name: Uniform, Weightings: equal},
		{Name: Last, Weightings: []Weighting{{Window: 1}}},
		{Name: Window, Weightings: windows},
		{Name: Forgetting, Weightings: forgetting},
		{Name: Committee, Weightings: members, mixes: true},
		{Name: Season, Weightings: seasons[len(lives):], Extra: true},
		{Name: Season + "-forgetting", Weightings: seasons, Extra: true},
		{Name: "bagged", Weightings: forgetting, Extra: true, Train: bagged("bagged", oneScale(forgetting, len(members)))},
		{Name: both, Weightings: members, Extra: true, mixes: true, Train: bagged(both, byShare(both, members))},
		{Name: "power-law", Weightings: slices.Concat(powers, equal), Extra: true},
	}
	for _, kind := range crossfit.Kinds() {
		tuned := xslices.Map(forgetting, func(w Weighting) Weighting {
			w.Kind = kind
			return w
		})
		rules = append(rules, Rule{Name: string(kind), Kind: kind, Weightings: []Weighting{{Kind: kind}}},
			Rule{Name: string(kind) + "-forgetting", Kind: kind, Weightings: tuned})
	}
	return rules
}
