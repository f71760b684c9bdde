package crossfit

import (
	"context"
	"math"
	"math/rand/v2"

	"tvps/data/random"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
)

// Null compares the real data with others that do not drift. On each of them, and on the real ones, small g are
// trained.
//
// For Diagnostics the times are shuffled. A shuffle moves whole contiguous chunks of rows to other places in time, so
// that rows that depend on their neighbours keep them. Were rows shuffled one by one, their dependence would look
// like drift. For Fitted.Conditional the outcomes are redrawn given x, see conditionalNull.
//
// Drift is called if the real held-out loss is below each of the P others, and below their mean by 3 of their
// standard deviations. Without drift, where chunks are exchangeable, the first alone has a probability of at most
// 1/(P+1), 5% for P = 19; both together about .4% (t distribution of 18 degrees of freedom, if the losses are
// normal). On autoregressive rows without drift (3,000 of coefficient .9, whose chunks are not exchangeable) P was
// 1/20 in 4 of 10 data sets, and drift was called in none.
type Null struct {
	Drift bool
	P     float64 // (1 + others whose loss is at most the real one) / (P + 1)
	// Loss is the held-out loss of the real data, and Share the share of the effective sample size of
	// omega(x, last time, t) on held-out rows. It differs from Diagnostics.HeldOut, which is that of a larger g.
	Loss, Share          float64
	NullLoss, NullShare  []float64 // of each of the others
	LossMean, LossSpread float64   // mean and standard deviation of NullLoss
	ShareMean            float64
}

// The null's g and its training: small, since all shuffles train at the same time.
const (
	nullFolds, nullRows, nullPairs = 2, 20000, 1024
	nullStride                     = 30
	nullBatch, nullChunks          = 256, 100
)

var nullCandidate = Candidate{Hidden: 16, Frequencies: 4, Updates: 150, LearningRate: 1e-2, Decay: .1}

// null tests for drift.
func (o *Fitted) null(ctx context.Context, table []*tensors.Tensor, rows *sortedRows, samples []sample,
	seed int64) (*Null, error) {
	samples, chunk := thin(samples, rows.nullChunks(o.data))
	data := make([][]sample, o.Config.Permutations+1)
	data[0] = samples
	for p := range data[1:] {
		from := shuffleChunks(chunk, random.New(seed, "null", p+1))
		moved := pick(samples, from)
		for i := range moved {
			moved[i].u = samples[i].u
		}
		data[p+1] = moved
	}
	return o.compare(ctx, table, data, chunk, seed, func(p int) int { return p })
}

// compare trains g on each of the data, which have the chunks given, and compares the first with the others. Data
// with the same stream of random numbers have the same initial values and minibatches.
func (o *Fitted) compare(ctx context.Context, table []*tensors.Tensor, data [][]sample, chunk []int32, seed int64,
	stream func(p int) int) (*Null, error) {
	fold := make([]uint8, len(chunk))
	for i, c := range chunk {
		fold[i] = uint8(c % nullFolds)
	}
	var lanes []*lane
	for p := range data {
		for k := range nullFolds {
			l, err := newLane(data[p], fold, k, nullPairs, random.New(seed, "null held", stream(p), k))
			if err != nil {
				return nil, err
			}
			l.start = random.Seed(seed, "null start", stream(p), k)
			l.draws = random.New(seed, "null draws", stream(p), k)
			lanes = append(lanes, l)
		}
	}
	w, err := o.fitter.net(o.key(nullCandidate, len(lanes), nullBatch, nullStride))
	if err != nil {
		return nil, err
	}
	updates := nullCandidate.Updates // without an early stop
	c, err := w.train(ctx, table, lanes, nullCandidate, updates, updates)
	if err != nil {
		return nil, err
	}
	// Each of the data has its own best check after training has begun.
	losses := make([]float64, len(data))
	for p := range losses {
		losses[p] = math.Inf(1)
		for _, check := range c.losses[1:] {
			losses[p] = min(losses[p], mean(check[p*nullFolds:(p+1)*nullFolds]))
		}
	}
	shares, err := w.lastShares(ctx, table, lanes, c.final)
	if err != nil {
		return nil, err
	}
	return verdict(losses, shares), nil
}

// verdict compares the first of the losses with the others.
func verdict(losses, shares []float64) *Null {
	n := &Null{Loss: losses[0], Share: shares[0], NullLoss: losses[1:], NullShare: shares[1:]}
	n.LossMean, n.ShareMean = mean(n.NullLoss), mean(n.NullShare)
	below := 0
	for _, l := range n.NullLoss {
		n.LossSpread += (l - n.LossMean) * (l - n.LossMean)
		if l <= n.Loss {
			below++
		}
	}
	n.LossSpread = math.Sqrt(n.LossSpread / float64(max(1, len(n.NullLoss)-1)))
	n.P = float64(1+below) / float64(len(losses))
	n.Drift = below == 0 && n.Loss < n.LossMean-3*n.LossSpread
	return n
}

// lastShares is the share of the effective sample size of omega(x, 1, u) in the held-out rows of
// each shuffle.
func (w *network) lastShares(ctx context.Context, table []*tensors.Tensor, lanes []*lane,
	values net.Values) ([]float64, error) {
	pairs := heldPairs(lanes)
	for k := range pairs {
		list := make([]pair, len(pairs[k]))
		for i, p := range pairs[k] {
			list[i] = pair{p.sample, 1}
		}
		pairs[k] = list
	}
	answer, err := w.evaluate(ctx, table, pairs, values)
	if err != nil {
		return nil, err
	}
	own, last := answer[0], answer[1]
	out := make([]float64, len(lanes)/nullFolds)
	for p := range out {
		var weights []float64
		for k := p * nullFolds; k < (p+1)*nullFolds; k++ {
			for i := range own[k] {
				weights = append(weights, math.Exp(clamp(float64(last[k][i])-float64(own[k][i]))))
			}
		}
		out[p] = propensity.EffectiveSampleSize(weights) / float64(len(weights))
	}
	return out, nil
}

// thin takes every n-th sample, so that at most nullRows are left.
func thin(samples []sample, chunk []int32) ([]sample, []int32) {
	every := (len(samples) + nullRows - 1) / nullRows
	if every <= 1 {
		return samples, chunk
	}
	var s []sample
	var c []int32
	for i := 0; i < len(samples); i += every {
		s, c = append(s, samples[i]), append(c, chunk[i])
	}
	return s, c
}

// shuffleChunks returns the positions with the chunks in random order.
func shuffleChunks(chunk []int32, rng *rand.Rand) []int {
	var from []int
	for i := range chunk {
		if i == 0 || chunk[i] != chunk[i-1] {
			from = append(from, i)
		}
	}
	from = append(from, len(chunk))
	out := make([]int, 0, len(chunk))
	for _, c := range rng.Perm(len(from) - 1) {
		for i := from[c]; i < from[c+1]; i++ {
			out = append(out, i)
		}
	}
	return out
}
