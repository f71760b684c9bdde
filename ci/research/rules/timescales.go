package rules

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Settings of timescales. Those of the MLP are the built-in one's.
const (
	scorerHidden = 32
	scorerRate   = 3e-3 // of Adam, for both networks
	trialRate    = .1   // of the trial step
	leastTrusted = 200  // rows that the scorer predicts
)

// halfLives are the time scales, in blocks; the last one does not decay.
var halfLives = []float64{1, 2, 4, 8, 16, 32, 64, math.Inf(1)}

// timescales weights a row by a mixture of decays, which depends on the row (Jain and Shenoy, AAAI 2024):
//
//	w(x, a) = sum_k s_k(x) 2^(-a / halfLives[k]),
//
// with a the age in blocks and s a network with one hidden layer and a softmax, the scorer. It is trained together with
// the built-in MLP on the nested objective of the paper, so that a step of the MLP on weighted older rows lowers its
// loss on the newest blocks, at least leastTrusted rows of them, or half of the past. An update consists of
//
//  1. a trial step of the MLP by gradient descent on a batch of older rows, weighted, with the mean weight 1;
//  2. a step of the scorer by Adam on the loss of a batch of the newest rows after the trial step;
//  3. a step of the MLP by Adam on the batch of older rows, with the new weights.
//
// All rows of the past are then weighted by their age at the test block, and any model learns with these weights: the
// paper takes the network that was trained on the way. Number and lengths of the time scales and the settings are ours,
// as only its abstract and descriptions by others were at hand.
func timescales(ctx context.Context, t *backtest.Task) ([][]float64, error) {
	older, newest := trusted(t)
	if len(older) == 0 || t.Single(t.Equal()) {
		return [][]float64{t.Equal()}, nil
	}
	s, err := newScorer(t.Backend, t.Data.Dim, t.Data.Classes)
	if err != nil {
		return nil, err
	}
	defer s.close()
	values, err := s.train(ctx, t, older, newest)
	if err != nil {
		return nil, fmt.Errorf("scorer: %w", err)
	}
	out, err := s.weights(t, values)
	if err != nil {
		return nil, fmt.Errorf("scorer: %w", err)
	}
	floats.Mul(out, t.Equal())
	return [][]float64{out}, nil
}

// trusted divides the rows of the past: newest are those of the last blocks. older is empty where there is only one
// block.
func trusted(t *backtest.Task) (older, newest []int) {
	order := crossfit.Positions(len(t.Block))
	slices.SortStableFunc(order, func(a, b int) int { return t.Block[a] - t.Block[b] })
	cut := max(0, len(order)-min(leastTrusted, len(order)/2))
	for cut > 0 && t.Block[order[cut-1]] == t.Block[order[cut]] {
		cut--
	}
	return order[:cut], order[cut:]
}

// scorer holds the compiled programs of timescales for tables of one shape.
type scorer struct {
	backtest.Network
	dim            int
	params, scores []net.Param // of the MLP and of the scorer
	trainer        *loop.Trainer
	eval           *Exec // of the mixture
}

func newScorer(backend compute.Backend, dim, classes int) (*scorer, error) {
	n := &scorer{Network: backtest.Network{Classes: classes}, dim: dim}
	in := []shapes.Shape{shapes.Make(dtypes.Float32, backtest.MLPBatch, dim)}
	var err error
	n.params, err = net.Declare(backend, in, func(s *net.Scope, in []*Node) { n.Logits(s, in[0]) })
	if err == nil {
		n.scores, err = net.Declare(backend, in, func(s *net.Scope, in []*Node) { mixture(s, in[0]) })
	}
	if err != nil {
		return nil, err
	}
	problem := loop.Problem{Name: "timescales", Step: n.step, Data: 4, Feeds: 2,
		Params: slices.Concat(n.params, n.scores), Slots: slices.Concat(n.params, n.params, n.scores, n.scores)}
	n.trainer = loop.New(backend, problem, backtest.MLPChunk)
	n.eval = MustNewExec(backend, func(in []*Node) *Node {
		return mixture(net.Bind(in[0].Graph(), n.scores, in[1:], false), in[0])
	})
	return n, nil
}

func (n *scorer) close() {
	n.trainer.Close()
	n.eval.Finalize()
}

// mixture is s(x): [batch, dim] -> [batch, time scales].
func mixture(s *net.Scope, x *Node) *Node {
	x = net.Relu(net.Dense(s.In("layer1"), x, scorerHidden, net.He))
	return Softmax(net.Dense(s.In("last"), x, len(halfLives), net.Lecun), -1)
}

// step builds one update. state: the MLP, the scorer, and both moments of each. data: x, class and number of each row,
// and its decays [rows, time scales]; feeds: rows of an older and of a newest batch.
func (n *scorer) step(state, data, feeds []*Node, step, rate *Node) (loss *Node, next []*Node) {
	k, p := len(n.params), len(n.scores)
	take := func(count int) (part []*Node) { part, state = state[:count], state[count:]; return part }
	theta, scores := take(k), take(p)
	m, u, sm, su := take(k), take(k), take(p), take(p)
	losses := func(theta []*Node, row *Node) *Node {
		return n.Losses(net.Bind(row.Graph(), n.params, theta, true), data, row)
	}
	weighted := func(scores, theta []*Node) *Node {
		row := ExpandAxes(feeds[0], -1)
		s := mixture(net.Bind(row.Graph(), n.scores, scores, true), Gather(data[0], row))
		w := ReduceSum(Mul(s, Gather(data[3], row)), -1)
		w = Div(w, AddScalar(ReduceAllMean(w), 1e-12))
		return ReduceAllMean(Mul(w, losses(theta, feeds[0])))
	}
	trial := make([]*Node, k)
	for i, grad := range Gradient(weighted(scores, theta), theta...) {
		trial[i] = Sub(theta[i], MulScalar(grad, trialRate))
	}
	grads := Gradient(ReduceAllMean(losses(trial, feeds[1])), scores...)
	scores, sm, su = loop.Adam(scores, grads, sm, su, step, rate)
	fixed := make([]*Node, p)
	for i, v := range scores { // they depend on theta through their update
		fixed[i] = StopGradient(v)
	}
	loss = weighted(fixed, theta)
	theta, m, u = loop.Adam(theta, Gradient(loss, theta...), m, u, step, rate)
	return loss, slices.Concat(theta, scores, m, u, sm, su)
}

// decays are those of a row of an age in blocks.
func decays(age int) []float32 {
	return tables.Collect(halfLives, func(h float64) float32 { return float32(math.Exp2(-float64(age) / h)) })
}

// tensors puts the rows on the device: x, class, standardised number, and decays at block first.
func (n *scorer) tensors(t *backtest.Task, first int) []*tensors.Tensor {
	rows := len(t.Block)
	number, decay := make([]float32, rows), make([]float32, 0, rows*len(halfLives))
	if t.Data.Target != nil {
		mean, spread := stat.PopMeanStdDev(t.Data.Target, t.Equal())
		if !(spread > 0) {
			spread = 1
		}
		number = tables.Collect(t.Data.Target, func(v float64) float32 { return float32((v - mean) / spread) })
	}
	class := t.Data.Label
	if class == nil {
		class = make([]int32, rows)
	}
	for _, block := range t.Block {
		decay = append(decay, decays(max(0, first-block))...)
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(t.Data.X, rows, n.dim),
		tensors.FromFlatDataAndDimensions(class, rows), tensors.FromFlatDataAndDimensions(number, rows),
		tensors.FromFlatDataAndDimensions(decay, rows, len(halfLives))}
}

// train returns the values of the scorer.
func (n *scorer) train(ctx context.Context, t *backtest.Task, older, newest []int) (net.Values, error) {
	data := n.tensors(t, t.Block[newest[0]])
	defer net.Free(data...)
	scale := t.Equal()
	draw := func(rows []int, purpose string) func() int {
		one := backtest.Drawer(loop.Pick(scale, rows), random.New(t.Seed, "timescales", purpose, t.Step))
		return func() int { return rows[one()] }
	}
	draws := []func() int{draw(older, "older"), draw(newest, "newest")}
	feed := func(_, count int) []*tensors.Tensor {
		return tables.Collect(draws, func(draw func() int) *tensors.Tensor {
			rows := make([]int32, n.trainer.Chunk()*backtest.MLPBatch)
			for i := range count * backtest.MLPBatch {
				rows[i] = int32(draw())
			}
			return tensors.FromFlatDataAndDimensions(rows, n.trainer.Chunk(), backtest.MLPBatch)
		})
	}
	start := slices.Concat(net.Init(n.params, random.Seed(t.Seed, "timescales", t.Step), "model"),
		net.Init(n.scores, random.Seed(t.Seed, "timescales", t.Step), "scores"))
	updates := backtest.MLPUpdates(len(t.Block))
	values, _, err := n.trainer.Fit(ctx, start, data, scorerRate, updates, feed)
	if err != nil {
		return nil, err
	}
	return values[len(n.params):], nil
}

// weights are those of all rows of the past at the test block.
func (n *scorer) weights(t *backtest.Task, values net.Values) (out []float64, err error) {
	params := values.Tensors(n.scores)
	defer net.Free(params...)
	for from := 0; from < len(t.Block); from += backtest.MLPRows {
		batch := make([]float32, backtest.MLPRows*n.dim)
		rows := copy(batch, t.Data.X[from*n.dim:]) / n.dim
		input := tensors.FromFlatDataAndDimensions(batch, backtest.MLPRows, n.dim)
		s, err := net.RunValues(n.eval, input, params)
		net.Free(input)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			w := 0.
			for k, d := range decays(t.Step - t.Block[from+i]) {
				w += float64(s[0][i*len(halfLives)+k]) * float64(d)
			}
			out = append(out, w)
		}
	}
	return out, nil
}
