package rules

import (
	"context"
	"math"
	"slices"

	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables/backtest"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// mixtures are rules that weight by how likely a row is today, over how likely it is in the mixture of all times of the
// past instead of at its own time: the balance heuristic (Veach and Guibas 1995), for each kind of omega, clipped at 1.
func mixtures(uniform []backtest.Weighting) (rules []backtest.Rule) {
	for _, kind := range crossfit.Kinds() {
		rules = append(rules, backtest.Rule{Name: string(kind) + "-mixture", Weightings: uniform, Extra: true,
			Train: func(ctx context.Context, t *backtest.Task) ([][]float64, error) {
				fit := crossfit.DefaultConfig()
				fit.Permutations, fit.Kinds, fit.Ensemble = 0, []crossfit.Kind{kind}, 1
				g, now, err := t.FitG(ctx, fit)
				if err != nil {
					return nil, err
				}
				logs, err := logMixture(ctx, g, t.Data, now, mixed(t.Data.Time, t.Equal()), kind)
				if err != nil {
					return nil, err
				}
				weights := propensity.ClipOne.Weights(logs)
				floats.Mul(weights, t.Equal())
				return [][]float64{weights}, nil
			}})
	}
	return rules
}

// mostMixed is the number of times that stand for a mixture.
const mostMixed = 20

// mixed lists mostMixed times, ascending and spread evenly over the rows, which have weights.
func mixed(times, weight []float64) (out []float64) {
	times, weight = slices.Clone(times), slices.Clone(weight) // rows are in the order of their file
	stat.SortWeighted(times, weight)
	for k := range mostMixed {
		out = append(out, stat.Quantile((float64(k)+.5)/mostMixed, stat.Empirical, times, weight))
	}
	return out
}

// logMixture returns the log of p_now(x) / m(x) of each row x, of time t, where m is the mixture of the times s: that
// is, of omega(x, now, t) over the mean of omega(x, s, t). Of the kind Conditional it is the ratio of that of x and y
// and that of x.
func logMixture(ctx context.Context, g *crossfit.Fitted, d crossfit.Table, now float64, times []float64,
	kind crossfit.Kind) ([]float64, error) {
	if kind == crossfit.Conditional {
		both, err := logMixture(ctx, g, d, now, times, crossfit.Joint)
		if err != nil {
			return nil, err
		}
		x, err := logMixture(ctx, g, d, now, times, crossfit.Covariate)
		if err != nil {
			return nil, err
		}
		return floats.SubTo(both, both, x), nil
	}
	options := crossfit.WeightOptions{Kind: kind}
	today, err := g.WeightsOf(ctx, d, now, options)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, len(d.Time))
	for _, s := range times {
		w, err := g.WeightsOf(ctx, d, s, options)
		if err != nil {
			return nil, err
		}
		for i, log := range w.LogOmega {
			mean[i] += math.Exp(log) / float64(len(times))
		}
	}
	for i, m := range mean {
		today.LogOmega[i] -= math.Log(m)
	}
	return today.LogOmega, nil
}
