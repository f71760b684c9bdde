package continual

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

const (
	updatesPerCall = 250
	evalRows       = 500 // samples in one evaluation
)

// Classifier trains and applies the model of a scenario: a linear layer, a small MLP
// or the head of ResNet-18. It is compiled once for a pool's shape and serves every
// step, learner and seed; several goroutines may use it.
type Classifier struct {
	settings Settings
	params   []net.Param
	trainer  *loop.Trainer
	fitter   loop.Fitter // the trainer, or a place at it (see In)
	eval     *Exec
}

// network builds the logits. x: [batch, dims...], result: [batch, classes]; in a scope of
// copies both have its axis in front, but the head of ResNet-18 knows none.
func network(s *net.Scope, cfg Settings, x *Node, classes int) *Node {
	switch cfg.Network {
	case "head":
		bn := map[string]net.BatchNormMode{"batch": net.BatchStatistics, "frozen": net.FrozenAverages}[cfg.BatchNorm]
		cut := map[string]resnet.Cut{"basic": resnet.LastBlock, "stage": resnet.LastStage}[cfg.Block]
		x = Reshape(x, x.Shape().Dim(0), cut.Side(), cut.Side(), -1)
		return cut.Head(s, x, net.NativeConv, bn)
	case "mlp":
		x = standardised(s, x)
		x = net.Relu(net.Dense(s.In("layer1"), x, cfg.Hidden, net.He))
		x = net.Relu(net.Dense(s.In("layer2"), x, cfg.Hidden, net.He))
	default:
		x = standardised(s, x)
	}
	return net.Dense(s.In("output"), x, classes, net.Lecun)
}

// The standardisation of the inputs is part of the model: two arrays that are not
// trained but set by the first data that the model learns from (see Standardise).
const inputMean, inputScale = "input/mean", "input/scale"

func standardised(s *net.Scope, x *Node) *Node {
	dim := x.Shape().Dim(-1)
	mean, scale := s.State(inputMean, net.Constant(0), dim), s.State(inputScale, net.Constant(1), dim)
	return Div(Sub(x, s.Spread(mean, x.Rank())), s.Spread(scale, x.Rank()))
}

// Standardise sets the mean and scale of a vector model's inputs from the data that
// it is about to learn from, as one would for a model trained from scratch. x holds
// the pool's rows, [rows * dim]. The head of ResNet-18 has none: it is returned as is.
func (c *Classifier) Standardise(start net.Values, x []float32, data Samples) net.Values {
	out := start.Clone()
	input := map[string][]float32{}
	for i, p := range c.params {
		input[p.Name] = out[i]
	}
	if mean := input[inputMean]; mean != nil {
		moments(x, data.Row, mean, input[inputScale])
	}
	return out
}

// moments writes the mean and the standard deviation of rows of x, [rows * dim], into
// mean and scale, [dim]; the scale of a constant is 1.
func moments(x []float32, rows []int32, mean, scale []float32) {
	dim, n := len(mean), float64(len(rows))
	sum, squares := make([]float64, dim), make([]float64, dim)
	for _, row := range rows {
		for j, v := range x[int(row)*dim : int(row+1)*dim] {
			sum[j] += float64(v)
		}
	}
	for j := range sum {
		sum[j] /= n
	}
	for _, row := range rows {
		for j, v := range x[int(row)*dim : int(row+1)*dim] {
			d := float64(v) - sum[j]
			squares[j] += d * d
		}
	}
	for j := range mean {
		mean[j], scale[j] = float32(sum[j]), 1
		if sd := math.Sqrt(squares[j] / max(1, n-1)); sd > 1e-6 {
			scale[j] = float32(sd)
		}
	}
}

// NewClassifier prepares the model for pools of the given shape [rows, dims...].
func NewClassifier(backend compute.Backend, cfg Settings, pool shapes.Shape, classes int) (*Classifier, error) {
	c := &Classifier{settings: cfg}
	logits := func(s *net.Scope, pool, row *Node) *Node {
		return network(s, cfg, ConvertDType(net.Rows(s, pool, row), dtypes.Float32), classes)
	}
	var err error
	c.params, err = net.Declare(backend, []shapes.Shape{pool, shapes.Make(dtypes.Int32, cfg.Batch)},
		func(s *net.Scope, in []*Node) { logits(s, in[0], in[1]) })
	if err != nil {
		return nil, fmt.Errorf("classifier: %w", err)
	}
	// The weighted loss: weights have mean 1 over the training set (see Fit), and a
	// minibatch averages over its samples, so that all weights equal to 1 is exactly
	// the unweighted loss.
	loss := func(s *net.Scope, data, feeds []*Node) *Node {
		row, label, weight := feeds[0], feeds[1], feeds[2]
		return ReduceMean(Mul(weight, net.CrossEntropy(logits(s, data[0], row), label)), -1)
	}
	c.trainer, err = loop.New(backend, loop.Problem{Name: "classifier " + cfg.Network, Params: c.params, Loss: loss, Data: 1, Feeds: 3, Dispatch: cfg.Network == "head"}, updatesPerCall)
	if err != nil {
		return nil, err
	}
	c.fitter = c.trainer
	c.eval, err = NewExec(backend, func(in []*Node) []*Node {
		s := net.Bind(in[0].Graph(), c.params, in[2:], false)
		return []*Node{ArgMax(logits(s, in[0], in[1]), -1, dtypes.Int32)}
	})
	return c, err
}

// In returns the classifier of a member of a group, whose trainings run together with those
// of the other members. It shares the compiled programs. The head of ResNet-18 trains alone.
func (c *Classifier) In(group *loop.Group, member int) *Classifier {
	other := *c
	other.fitter = group.Member(member, c.trainer)
	return &other
}

// Close frees the compiled programs.
func (c *Classifier) Close() {
	c.trainer.Close()
	c.eval.Finalize()
}

// Init draws the initial values of a step.
func (c *Classifier) Init(seed int64, t int) net.Values {
	return net.Init(c.params, seed, "classifier", t)
}

// updatesOf is the number of minibatches of a training on n samples; limit is 0 for none.
func updatesOf(n, epochs, batch, limit int) int {
	u := (n*epochs + batch - 1) / batch
	if limit > 0 {
		u = min(u, limit)
	}
	return u
}

// Fit minimises Eq. our_suprvised from the start values:
//
//	1/N sum_i w_i loss(x_i, y_i),  w_i = weight_i / mean(weight)
//
// by Adam over shuffled epochs. Dividing by the mean is the one way in which weighted
// losses are normalised here: the step size does not depend on the scale of omega,
// and weights that are all 1 give the unweighted loss bit for bit. order names the
// stream of random numbers of the batches.
func (c *Classifier) Fit(ctx context.Context, pool *tensors.Tensor, start net.Values, data Samples, epochs int, order *rand.Rand) (net.Values, error) {
	weight, err := normalise(data)
	if err != nil {
		return nil, err
	}
	values, _, err := c.fitter.Fit(ctx, start, []*tensors.Tensor{pool}, c.settings.Rate, updatesOf(data.Len(), epochs, c.settings.Batch, c.settings.MaxUpdates),
		c.batches(data, weight, order))
	return values, err
}

// normalise divides the weights by their mean.
func normalise(data Samples) ([]float32, error) {
	out := make([]float32, data.Len())
	sum := 0.0
	for _, w := range data.Weight {
		sum += w
	}
	if data.Weight != nil && !(sum > 0) {
		return nil, fmt.Errorf("the weights of %d samples sum to %v: no past sample resembles the present under this clip", data.Len(), sum)
	}
	for i := range out {
		out[i] = 1
		if data.Weight != nil {
			out[i] = float32(data.Weight[i] / (sum / float64(data.Len())))
		}
	}
	return out, nil
}

// batches cuts a sequence of random permutations of the data into minibatches.
func (c *Classifier) batches(data Samples, weight []float32, order *rand.Rand) loop.Feed {
	chunk, batch := c.fitter.Chunk(), c.settings.Batch
	var perm []int
	return func(_, count int) []*tensors.Tensor {
		row, label, w := make([]int32, chunk*batch), make([]int32, chunk*batch), make([]float32, chunk*batch)
		for i := range count * batch {
			if len(perm) == 0 {
				perm = order.Perm(data.Len())
			}
			j := perm[0]
			perm = perm[1:]
			row[i], label[i], w[i] = data.Row[j], data.Label[j], weight[j]
		}
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(row, chunk, batch),
			tensors.FromFlatDataAndDimensions(label, chunk, batch), tensors.FromFlatDataAndDimensions(w, chunk, batch)}
	}
}

// Predict returns the class of the highest logit for each row of the pool.
func (c *Classifier) Predict(ctx context.Context, pool *tensors.Tensor, values net.Values, rows []int32) ([]int32, error) {
	held := values.Tensors(c.params)
	defer net.Free(held...)
	out := make([]int32, 0, len(rows))
	for from := 0; from < len(rows); from += evalRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		padded := make([]int32, evalRows)
		n := copy(padded, rows[from:])
		result, err := net.Run(c.eval, pool, tensors.FromFlatDataAndDimensions(padded, evalRows), held)
		if err != nil {
			return nil, fmt.Errorf("classifier: %w", err)
		}
		classes, err := tensors.CopyFlatData[int32](result[0])
		if err != nil {
			return nil, fmt.Errorf("classifier: %w", err)
		}
		net.Free(result...)
		out = append(out, classes[:n]...)
	}
	return out, nil
}

// Accuracy is the weighted share of correct predictions.
func Accuracy(predicted []int32, test Samples) float64 {
	right, total := 0.0, 0.0
	for i, class := range predicted {
		w := 1.0
		if test.Weight != nil {
			w = test.Weight[i]
		}
		total += w
		if class == test.Label[i] {
			right += w
		}
	}
	return right / total
}

// batchOrder is the stream of batch orders of one training: the same for Everything
// and Ours, so that omega is their only difference.
func batchOrder(seed int64, t, phase int) *rand.Rand { return random.New(seed, "batches", t, phase) }
