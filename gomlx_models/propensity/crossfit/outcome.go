package crossfit

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/data/statistics"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// The model of the outcome: its network, which does not see the time, and its training.
const (
	outcomeFolds, outcomeBins, outcomePatience = 3, 32, 4
)

var outcomeCandidate = Candidate{Hidden: 64, Updates: 600, LearningRate: 1e-2, Decay: .3}

// outcome predicts the outcome from x [lanes, rows, dim]: the target, if the network has one output, with the squared
// error as loss, otherwise the label (a bin), with the cross-entropy. The prediction is [lanes, rows, outputs].
func (w *network) outcome(s *net.Scope, x, label, target *Node) (out []*Node, loss *Node) {
	h := net.Relu(net.Dense(s.In("layer1"), x, w.g.Hidden, net.He))
	h = net.Relu(net.Dense(s.In("layer2"), h, w.g.Hidden, net.He))
	p := net.Dense(s.In("layer3"), h, w.outputs, func(int) net.Initial { return net.Constant(0) })
	if w.outputs > 1 {
		return []*Node{p}, net.CrossEntropy(p, label)
	}
	e := Sub(Squeeze(p, -1), target)
	return []*Node{p}, Mul(e, e)
}

// conditionalNull tests whether p_t(y|x) depends on t, by a conditional randomisation test (Candes, Fan, Janson and
// Lv 2018). A model of p(y|x) that does not see t gives each row its quantile v = F(y|x), uniform and independent of
// x and t if the model is right and p(y|x) does not drift. Each redraw moves v in whole chunks and has the outcomes
// F^-1(v|x): x and t stay, so a drift of x is the same in all. A target is first reduced to its residual from a model
// of its mean. The models are cross-fitted. All g have the same initial values and minibatches, so their losses
// differ by y alone.
func (o *Fitted) conditionalNull(ctx context.Context, table []*tensors.Tensor, samples []sample, chunk []int32,
	seed int64) (*Null, error) {
	data, err := o.redraws(ctx, table, samples, chunk, seed)
	if err != nil {
		return nil, err
	}
	return o.compare(ctx, table, data, chunk, seed, func(int) int { return 0 })
}

// redraws returns the samples, then the samples with each redraw of their outcomes.
func (o *Fitted) redraws(ctx context.Context, table []*tensors.Tensor, samples []sample, chunk []int32,
	seed int64) ([][]sample, error) {
	value, centre := make([]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		value[i] = float64(s.label)
	}
	if o.Shape.Target != nil {
		mean, err := o.predict(ctx, table, samples, chunk, 1, random.Seed(seed, "mean"))
		if err != nil {
			return nil, err
		}
		for i, s := range samples {
			centre[i] = float64(mean[i])
			value[i] = float64(s.target) - centre[i]
		}
	}
	bins := cutBins(value, random.New(seed, "bins"))
	binned := slices.Clone(samples)
	for i := range binned {
		binned[i].label = bins.of[i]
	}
	outputs := max(2, min(cmp.Or(o.Shape.Classes, outcomeBins), outcomeBins))
	logits, err := o.predict(ctx, table, binned, chunk, outputs, random.Seed(seed, "bins"))
	if err != nil {
		return nil, err
	}
	quantile := make([]float64, len(samples))
	for i := range samples {
		quantile[i] = bins.quantile(i, logits[i*outputs:(i+1)*outputs])
	}
	data := make([][]sample, o.Config.Permutations+1)
	data[0] = samples
	for p := range data[1:] {
		moved := slices.Clone(samples)
		for i, from := range shuffleChunks(chunk, random.New(seed, "null", p+1)) {
			v := bins.value(quantile[from], logits[i*outputs:(i+1)*outputs])
			if o.Shape.Target != nil {
				moved[i].target = float32(centre[i] + v)
			} else {
				moved[i].label = int32(v)
			}
		}
		data[p+1] = moved
	}
	return data, nil
}

// predict trains a model of the outcome and returns its outputs for each sample, by networks that did not see the
// sample's chunk.
func (o *Fitted) predict(ctx context.Context, table []*tensors.Tensor, samples []sample, chunk []int32, outputs int,
	seed int64) ([]float32, error) {
	fold := deal(chunk, outcomeFolds)
	lanes, asked := make([]*lane, outcomeFolds), make([][]pair, outcomeFolds)
	for k := range lanes {
		l, err := newLane(samples, fold, k, len(samples)/outcomeFolds, random.New(seed, "held", k))
		if err != nil {
			return nil, err
		}
		l.start, l.draws = random.Seed(seed, "start", k), random.New(seed, "draws", k)
		lanes[k] = l
	}
	for i, s := range samples {
		asked[fold[i]] = append(asked[fold[i]], pair{sample: s})
	}
	key := netKey{g: propensity.Config{Hidden: outcomeCandidate.Hidden}, dim: o.width(), outputs: outputs,
		lanes: outcomeFolds, batch: nullBatch, stride: nullStride}
	w, err := o.fitter.net(key)
	if err != nil {
		return nil, err
	}
	c, err := w.train(ctx, table, lanes, outcomeCandidate, outcomePatience, outcomeCandidate.Updates,
		o.work.training(outcomeCandidate.Updates))
	if err != nil {
		return nil, err
	}
	answer, err := w.evaluate(ctx, table, asked, c.values)
	if err != nil {
		return nil, err
	}
	var next [outcomeFolds]int
	out := make([]float32, 0, len(samples)*outputs)
	for _, k := range fold {
		out = append(out, answer[0][k][next[k]:next[k]+outputs]...)
		next[k] += outputs
	}
	return out, nil
}

// outcomeCut holds outcomes cut into bins of about as many each; equal ones are in one bin.
type outcomeCut struct {
	of     []int32     // the bin of each outcome
	place  []float64   // its place in the bin, in (0, 1), random among equal ones
	sorted [][]float64 // the outcomes of each bin, ascending
}

// cutBins cuts outcomes into at most outcomeBins bins; one for each value if there are few.
func cutBins(value []float64, rng *rand.Rand) *outcomeCut {
	n := len(value)
	order := rng.Perm(n) // random among equal ones
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value[a], value[b]) })
	least := 1 // outcomes in a bin
	if _, distinct := statistics.MeanRanks(value); distinct > outcomeBins {
		least = (n + outcomeBins - 1) / outcomeBins
	}
	c := &outcomeCut{of: make([]int32, n), place: make([]float64, n)}
	for from := 0; from < n; {
		to := min(from+least, n)
		for to < n && value[order[to]] == value[order[to-1]] {
			to++
		}
		var bin []float64
		for j, i := range order[from:to] {
			c.of[i], c.place[i] = int32(len(c.sorted)), (float64(j)+rng.Float64())/float64(to-from)
			bin = append(bin, value[i])
		}
		c.sorted, from = append(c.sorted, bin), to
	}
	return c
}

// quantile is F(y|x) of outcome i, with the logits of the bins given x.
func (c *outcomeCut) quantile(i int, logits []float32) float64 {
	p := c.probabilities(logits)
	below := 0.0
	for _, q := range p[:c.of[i]] {
		below += q
	}
	return below + p[c.of[i]]*c.place[i]
}

// value is the outcome with that quantile.
func (c *outcomeCut) value(quantile float64, logits []float32) float64 {
	p := c.probabilities(logits)
	b, below := 0, 0.0
	for b < len(p)-1 && below+p[b] <= quantile {
		below += p[b]
		b++
	}
	bin := c.sorted[b]
	return bin[max(0, min(int((quantile-below)/p[b]*float64(len(bin))), len(bin)-1))]
}

// probabilities of the bins; logits may have places for more.
func (c *outcomeCut) probabilities(logits []float32) []float64 {
	p := make([]float64, len(c.sorted))
	highest, sum := float64(slices.Max(logits[:len(p)])), 0.0
	for b := range p {
		p[b] = math.Exp(float64(logits[b]) - highest)
		sum += p[b]
	}
	for b := range p {
		p[b] /= sum
	}
	return p
}
