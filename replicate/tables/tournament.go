package tables

import (
	"math"

	"tvps/replicate/runs"

	"gonum.org/v1/gonum/floats"
)

// tournament chooses a weighting by adaptive rolling windows (Han, Huang and Wang, ICML 2024, Algorithms 2 and 3):
// neighbours of the list compete, winners are the next list, and an odd one out is a winner. The authors fix the models
// and draw the opponents; here a weighting's model is trained again for each block.
func tournament(r Rule, p *past) Weighting {
	list := r.Weightings
	if len(p.blocks) == 0 {
		return list[len(list)-1]
	}
	for len(list) > 1 {
		var winners []Weighting
		for i := 0; i+1 < len(list); i += 2 {
			winner := list[i+1]
			if p.gap(list[i], list[i+1]) < 0 {
				winner = list[i]
			}
			winners = append(winners, winner)
		}
		if len(list)%2 == 1 {
			winners = append(winners, list[len(list)-1])
		}
		list = winners
	}
	return list[0]
}

// gap estimates by how much the present loss of a exceeds that of b, per row: the mean difference over the last blocks.
func (p *past) gap(a, b Weighting) float64 {
	d := p.losses(a)
	floats.Sub(d, p.losses(b))
	return rollingMean(d, p.sums(squareOf(a, b)), p.rows)
}

// squareOf names the row of the mean squared difference of two weightings' losses.
func squareOf(a, b Weighting) string {
	return metric("squared difference", a.String()+" | "+b.String())
}

// squares are these rows for all pairs of a list. of: the prediction of a weighting's model.
func (t *task) squares(list []Weighting, of func(w Weighting) []float64) (rows []runs.Row) {
	loss := measures(t.stream)[0]
	for i, a := range list {
		for _, b := range list[i+1:] {
			d := t.each(loss, of(a))
			floats.Sub(d, t.each(loss, of(b)))
			rows = append(rows, runs.Row{T: t.step, Metric: squareOf(a, b), Value: floats.Dot(d, d) / float64(len(d))})
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
