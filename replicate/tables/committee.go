package tables

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tvps/data/random"

	"gonum.org/v1/gonum/floats"
)

// adaHedge gives each model of a rule its share in the prediction of the next test block: exponential weights
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
func adaHedge(r Rule, p *past) []float64 {
	h := hedge{total: make([]float64, len(r.Weightings))}
	slopes := collect(r.Weightings, func(w Weighting) []float64 { return p.sums(slopeOf(r, w)) })
	for block := range p.blocks {
		h.learn(collect(slopes, func(of []float64) float64 { return of[block] }))
	}
	return h.shares()
}

// members are the weightings of a rule that mixes predictions, with their shares in the next test block.
func (r Rule) members(p *past) (out []Member) {
	if r.mix == nil {
		return nil
	}
	for i, share := range r.mix(r, p) {
		w := r.Weightings[i]
		out = append(out, Member{w.String(), w.HalfLife, w.Window, share})
	}
	slices.SortStableFunc(out, func(a, b Member) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// slopeOf names the row of a slope, per row of the test block.
func slopeOf(r Rule, w Weighting) string { return metric("slope of "+r.Name, w.String()) }

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
	out := collect(h.total, func(v float64) float64 { return math.Exp(-h.rate() * (v - least)) })
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

// bagged trains so many models with the weights of tuned forgetting, each on a bootstrap sample of the rows: the
// control of a committee of as many.
func bagged(models int) func(context.Context, *computation, Rule, *task, *past) ([][]float64, error) {
	return func(_ context.Context, c *computation, r Rule, t *task, p *past) ([][]float64, error) {
		weights := t.weights(lowest(r, p), nil)
		out := make([][]float64, models)
		for k := range out {
			rng := random.New(c.Seed, "bagged", t.step, k)
			out[k] = make([]float64, len(weights))
			for range weights {
				i := rng.IntN(len(weights))
				out[k][i] += weights[i]
			}
			scaledWeights(out[k])
		}
		return out, nil
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
