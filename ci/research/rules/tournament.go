package rules

import (
	"math"

	"tvps/replicate/runs"
	"tvps/replicate/tables/backtest"

	"gonum.org/v1/gonum/floats"
)

// tournament is a rule that chooses a weighting of a list by adaptive rolling windows (Han, Huang and Wang, ICML 2024,
// Algorithms 2 and 3): neighbours of the list compete, winners are the next list, and an odd one out is a winner. The
// authors fix the models and draw the opponents; here a weighting's model is trained again for each block.
func tournament(list []backtest.Weighting) backtest.Rule {
	return backtest.Rule{Name: "tournament", Weightings: list, Extra: true,
		Choose: func(p *backtest.Past) backtest.Weighting { return winner(list, p) },
		Record: func(t *backtest.Task, of func(backtest.Weighting) []float64) []runs.Row { return squares(t, list, of) }}
}

// winner is the weighting that wins all its rounds; before the first block the last of the list.
func winner(list []backtest.Weighting, p *backtest.Past) backtest.Weighting {
	if len(p.Blocks) == 0 {
		return list[len(list)-1]
	}
	for len(list) > 1 {
		var winners []backtest.Weighting
		for i := 0; i+1 < len(list); i += 2 {
			best := list[i+1]
			if gap(p, list[i], list[i+1]) < 0 {
				best = list[i]
			}
			winners = append(winners, best)
		}
		if len(list)%2 == 1 {
			winners = append(winners, list[len(list)-1])
		}
		list = winners
	}
	return list[0]
}

// gap estimates by how much the present loss of a exceeds that of b, per row: the mean difference over the last blocks.
func gap(p *backtest.Past, a, b backtest.Weighting) float64 {
	d := p.Losses(a)
	floats.Sub(d, p.Losses(b))
	return rollingMean(d, p.Sums(squareOf(a, b)), p.Rows)
}

// squareOf names the row of the mean squared difference of two weightings' losses.
func squareOf(a, b backtest.Weighting) string {
	return "squared difference: " + a.String() + " | " + b.String()
}

// squares are these rows for all pairs of a list. of: the prediction of a weighting's model.
func squares(t *backtest.Task, list []backtest.Weighting, of func(backtest.Weighting) []float64) (rows []runs.Row) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			d := t.Losses(of(a))
			floats.Sub(d, t.Losses(of(b)))
			rows = append(rows, runs.Row{T: t.Step, Metric: squareOf(a, b), Value: floats.Dot(d, d) / float64(len(d))})
		}
	}
	return rows
}

// miss is the probability with which the sampling error of a mean may be larger than its bound.
const miss = .1

// rollingMean estimates the mean of a drifting variable at present. sum, squares: of its values and their squares in
// each block; rows: their number. It is the mean over the last k blocks, with the k that minimises bias + error:
//
//	error_k = sd_k sqrt(2 ln(2 / miss) / n_k),  bias_k = max over i <= k of (|mean_k - mean_i| - error_k - error_i, 0),
//
// where n_k, mean_k and sd_k are those of the values in the last k blocks. As in the authors' experiments, Bernstein's
// bound has no term for the range of the values.
func rollingMean(sum, squares, rows []float64) float64 {
	var means, errors []float64
	s, q, n := 0., 0., 0.
	best, least := 0., math.Inf(1)
	for i := len(sum) - 1; i >= 0; i-- {
		s, q, n = s+sum[i], q+squares[i], n+rows[i]
		mean, variance := s/n, 0.
		if n > 1 {
			variance = max(0, q/n-s/n*s/n) * n / (n - 1)
		}
		means, errors = append(means, mean), append(errors, math.Sqrt(2*math.Log(2/miss)*variance/n))
		bias, own := 0., errors[len(errors)-1]
		for j, m := range means {
			bias = max(bias, math.Abs(mean-m)-own-errors[j])
		}
		if bias+own < least {
			best, least = mean, bias+own
		}
	}
	return best
}
