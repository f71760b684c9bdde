package rules

import (
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables/backtest"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// Omega is the product of two factors: its mean over the rows of each block, and what is left, which compares the rows
// of a block with each other.
const (
	age    = "age"
	within = "within blocks"
)

// factors are the rules that weight by one factor of omega: its mean by block, and, times forgetting, what is left of
// that of x and of y given x.
func factors(forgetting []backtest.Weighting) []backtest.Rule {
	tuned := func(kind crossfit.Kind) []backtest.Weighting {
		return xslices.Map(forgetting, func(w backtest.Weighting) backtest.Weighting {
			w.Kind, w.Part = kind, within
			return w
		})
	}
	return []backtest.Rule{
		{Name: "omega-age", Weightings: []backtest.Weighting{{Kind: crossfit.Joint, Part: age}}, Extra: true, Factor: ofBlock},
		{Name: "omega-x", Weightings: tuned(crossfit.Covariate), Extra: true, Factor: inBlock},
		{Name: "omega-y-given-x", Weightings: tuned(crossfit.Conditional), Extra: true, Factor: inBlock},
	}
}

// ofBlock has the mean of omega over the rows of each row's block.
func ofBlock(t *backtest.Task, omega []float64) []float64 {
	sum, rows := make([]float64, t.Step), make([]float64, t.Step)
	for i, scale := range t.Equal() {
		sum[t.Block[i]] += scale * omega[i]
		rows[t.Block[i]] += scale
	}
	floats.Div(sum, rows)
	return loop.Pick(sum, t.Block)
}

// inBlock has omega, divided by its mean over the rows of each row's block.
func inBlock(t *backtest.Task, omega []float64) []float64 {
	out := make([]float64, len(omega))
	return floats.DivTo(out, omega, ofBlock(t, omega))
}
