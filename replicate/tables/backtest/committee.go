package backtest

import (
	"context"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// adaHedge gives the model of each weighting of a rule its share in the prediction of the next test block: exponential
// weights
//
//	share_i ~ exp(-eta G_i),  G_i the sum over the earlier blocks of the slope g_i, d loss / d share_i,
//
// where the loss is that of the mixed prediction, summed over the rows of a block. A model that adds to the others has
// a low slope, even if its own loss is not the lowest. The learning rate is that of AdaHedge (de Rooij, van Erven,
// Grunwald and Koolen, JMLR 2014), which needs neither the number of blocks nor the range of the slopes: eta = ln(K) /
// gap, where the gap is the sum, over the earlier blocks, of sum_i share_i g_i less the mix loss -ln(sum_i share_i
// exp(-eta g_i)) / eta. The log loss and the squared error are convex in the shares, so the loss is at most that of the
// best fixed mixture in hindsight, and hence of the best model, plus
//
//	2 sqrt(V ln K) + S (4/3 ln K + 2),
//
// with V the sum over the blocks of the variance of the slopes under the shares, and S the largest range of the K
// slopes on a block.
func adaHedge(rule string, list []Weighting, p *Past) []float64 {
	h := hedge{total: make([]float64, len(list))}
	slopes := xslices.Map(list, func(w Weighting) []float64 { return p.Sums(slopeOf(rule, w)) })
	for block := range p.Blocks {
		h.learn(xslices.Map(slopes, func(of []float64) float64 { return of[block] }))
	}
	return h.shares()
}

// slopeOf names the row of a slope, per row of the test block.
func slopeOf(rule string, w Weighting) string { return metric("slope of "+rule, w.String()) }

// slopes are these rows. members: the predictions of the weightings' models.
func (t *Task) slopes(rule string, list []Weighting, members [][]float64, mixture []float64) (rows []runs.Row) {
	for i, w := range list {
		rows = append(rows, runs.Row{T: t.Step, Metric: slopeOf(rule, w), Value: t.slope(mixture, members[i])})
	}
	return rows
}

// hedge is the state of AdaHedge.
type hedge struct {
	total []float64 // of each model's slopes
	gap   float64
}

// rate is eta, as good as infinite before models differ.
func (h *hedge) rate() float64 { return min(math.Log(float64(len(h.total)))/h.gap, 1e300) }

// shares sum to 1. With an infinite rate the best models share alike.
func (h *hedge) shares() []float64 {
	least := floats.Min(h.total)
	out := xslices.Map(h.total, func(v float64) float64 { return math.Exp(-h.rate() * (v - least)) })
	floats.Scale(1/floats.Sum(out), out)
	return out
}

// learn takes the slopes of a block.
func (h *hedge) learn(slopes []float64) {
	shares, least, sum := h.shares(), math.Inf(1), 0.
	for i, v := range slopes {
		if shares[i] > 0 {
			least = min(least, v)
		}
	}
	for i, v := range slopes {
		if shares[i] > 0 {
			sum += shares[i] * math.Exp(-h.rate()*(v-least))
		}
	}
	h.gap += max(0, floats.Dot(shares, slopes)-(least-math.Log(sum)/h.rate()))
	floats.Add(h.total, slopes)
}

// bagged trains a model with each weighting that pick lists, on a bootstrap sample of the rows, drawn by name: of those
// with weight if a sample of all, with a short window, has none of them.
func bagged(name string, pick func(*Past) []Weighting) func(context.Context, *Task) ([][]float64, error) {
	return func(_ context.Context, t *Task) ([][]float64, error) {
		picked := pick(t.Past)
		out := make([][]float64, len(picked))
		for k, w := range picked {
			weights := t.weights(w, nil)
			rng := random.New(t.Seed, name, t.Step, k)
			out[k] = make([]float64, len(weights))
			for rows := xslices.Iota(0, len(weights)); floats.Sum(out[k]) == 0; {
				for range rows {
					i := rows[rng.IntN(len(rows))]
					out[k][i] += weights[i]
				}
				rows = slices.DeleteFunc(rows, func(i int) bool { return weights[i] == 0 })
			}
		}
		return out, nil
	}
}

// oneScale picks for all models the weighting of a list that was best before: with those of forgetting, the control of
// a committee of as many.
func oneScale(list []Weighting, models int) func(*Past) []Weighting {
	return func(p *Past) []Weighting { return slices.Repeat([]Weighting{lowest(list, p)}, models) }
}

// byShare picks as many models as there are members, each weighting about as often as its share says: that of model k
// of n is where the shares, added up in order, reach (k + 1/2) / n.
func byShare(rule string, members []Weighting) func(*Past) []Weighting {
	return func(p *Past) (out []Weighting) {
		sum, n := 0., float64(len(members))
		for i, share := range adaHedge(rule, members, p) {
			for sum += share; len(out) < len(members) && (float64(len(out))+.5)/n <= sum+1e-9; {
				out = append(out, members[i])
			}
		}
		return out
	}
}

// mixed is the mean of predictions with shares that sum to 1; nil: alike.
func mixed(predictions [][]float64, shares []float64) []float64 {
	out := make([]float64, len(predictions[0]))
	for i, p := range predictions {
		share := 1 / float64(len(predictions))
		if shares != nil {
			share = shares[i]
		}
		floats.AddScaled(out, share, p)
	}
	return out
}
