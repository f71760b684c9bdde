package supervised

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

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

// Classifier trains and applies the model of a scenario: a linear layer, a small MLP or the head of ResNet-18. It is
// compiled once for a pool's shape and serves every step, learner and seed. Several goroutines may use it.
type Classifier struct {
	settings Settings
	classes  int
	params   []net.Param
	trainer  *loop.Trainer
	eval     *Exec
}

// NewClassifier prepares the model for pools of the given shape [rows, dims...].
func NewClassifier(backend compute.Backend, s Settings, pool shapes.Shape, classes int) (*Classifier, error) {
	c := &Classifier{settings: s, classes: classes}
	var err error
	c.params, err = net.Declare(backend, []shapes.Shape{pool, shapes.Make(dtypes.Int32, s.Batch)},
		func(s *net.Scope, in []*Node) { c.logits(s, in[0], in[1]) })
	if err != nil {
		return nil, fmt.Errorf("classifier: %w", err)
	}
	c.trainer = loop.New(backend, loop.Problem{Name: "classifier " + s.Network, Params: c.params, Loss: c.loss,
		Data: 1, Feeds: 3, Dispatch: s.model() == pretrainedHead}, updatesPerCall)
	c.eval = MustNewExec(backend, func(in []*Node) []*Node {
		s := net.Bind(in[0].Graph(), c.params, in[2:], false)
		return []*Node{ArgMax(c.logits(s, in[0], in[1]), -1, dtypes.Int32)}
	})
	return c, nil
}

// logits applies the model to some rows of the pool.
func (c *Classifier) logits(s *net.Scope, pool, row *Node) *Node {
	return network(s, c.settings, ConvertDType(net.Rows(s, pool, row), dtypes.Float32), c.classes)
}

// loss is the weighted loss of a minibatch. Weights have mean 1 over the training set (see Fit) and a minibatch
// averages over its samples, so that weights equal to 1 give exactly the unweighted loss.
func (c *Classifier) loss(s *net.Scope, data, feeds []*Node) *Node {
	row, label, weight := feeds[0], feeds[1], feeds[2]
	return ReduceMean(Mul(weight, net.CrossEntropy(c.logits(s, data[0], row), label)), -1)
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

// Fit minimises Eq. 15 from the start values:
//
//	1/N sum_i w_i loss(x_i, y_i),  w_i = weight_i / mean(weight)
//
// by Adam over shuffled epochs. Weighted losses are normalised here and nowhere else, by the mean: the step size does
// not depend on the scale of omega, and weights that are all 1 give the unweighted loss bit for bit. order is the
// stream of random numbers of the minibatches.
func (c *Classifier) Fit(ctx context.Context, pool *tensors.Tensor, start net.Values, data Samples, epochs int,
	order *rand.Rand) (net.Values, error) {
	weight, err := normalise(data)
	if err != nil {
		return nil, err
	}
	updates := updatesOf(data.Len(), epochs, c.settings.Batch, c.settings.MaxUpdates)
	next := minibatches(data, weight, c.settings.Batch, order)
	feed := func(_, count int) []*tensors.Tensor { return next(c.trainer.Chunk(), count) }
	values, _, err := c.trainer.Fit(ctx, start, []*tensors.Tensor{pool}, c.settings.Rate, updates, feed, nil)
	return values, err
}

// normalise divides the weights by their mean.
func normalise(data Samples) ([]float32, error) {
	if data.Weight == nil {
		return slices.Repeat([]float32{1}, data.Len()), nil
	}
	sum := 0.0
	for _, w := range data.Weight {
		sum += w
	}
	if !(sum > 0) {
		return nil, fmt.Errorf("the weights of %d samples sum to %v: no past sample resembles the present under this clip",
			data.Len(), sum)
	}
	out := make([]float32, data.Len())
	for i := range out {
		out[i] = float32(data.Weight[i] / (sum / float64(data.Len())))
	}
	return out, nil
}

// minibatches returns a function that fills the first count of chunk minibatches of a size, from one random permutation
// of the samples after the other: row, label and weight of the samples, each [chunk, size]. weight is that of each
// sample; nil: minibatches have no weights.
func minibatches(samples Samples, weight []float32, size int, rng *rand.Rand) func(chunk, count int) []*tensors.Tensor {
	sample := random.Epochs(rng, samples.Len())
	return func(chunk, count int) []*tensors.Tensor {
		row, label, weights := make([]int32, chunk*size), make([]int32, chunk*size), make([]float32, chunk*size)
		for i := range count * size {
			j := sample()
			row[i], label[i] = samples.Row[j], samples.Label[j]
			if weight != nil {
				weights[i] = weight[j]
			}
		}
		out := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(row, chunk, size),
			tensors.FromFlatDataAndDimensions(label, chunk, size)}
		if weight != nil {
			out = append(out, tensors.FromFlatDataAndDimensions(weights, chunk, size))
		}
		return out
	}
}

// Predict returns the class of the highest logit for each row of the pool.
func (c *Classifier) Predict(ctx context.Context, pool *tensors.Tensor, values net.Values,
	rows []int32) ([]int32, error) {
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

// batchOrder is the stream of random numbers of one training's minibatches: the same for Everything and Ours, so that
// omega is their only difference.
func batchOrder(seed int64, t, phase int) *rand.Rand { return random.New(seed, "batches", t, phase) }
