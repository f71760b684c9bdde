package supervised

import (
	"context"
	"fmt"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/replicate/experiment"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// metaWeightNet trains on all steps up to t with weights that are learned on the samples of step t (interpretation
// 18).
func metaWeightNet(run *RunContext) (TrainFunc, error) {
	c := run.Classifier
	trainer, err := experiment.Memoize(&run.Engine.memo, run.modelKey(), func() (*metaTrainer, error) {
		return newMetaTrainer(run.Engine.Backend, metaOfAuthors(), metaModel{Params: c.params,
			Losses: func(s *net.Scope, pool, row, label *Node) *Node {
				return net.CrossEntropy(c.logits(s, pool, row), label)
			}})
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t int) (net.Values, error) {
		data, latest := run.Stream.Upto(0, t), run.Stream.Train(t)
		start := c.Standardise(run.Start(t), run.Stream.X, data)
		s := run.Settings
		updates := updatesOf(data.Len(), s.Epochs, metaOfAuthors().Batch, s.MaxUpdates)
		values, _, err := trainer.Fit(ctx, run.Stream.Pool, start, data, latest, updates,
			random.Seed(run.Seed, "metaweight", t))
		return values, err
	}, nil
}

// metaConfig holds the settings of Meta-Weight-Net.
type metaConfig struct {
	Hidden    int     // width of V's hidden layer
	Batch     int     // training samples of an update
	MetaBatch int     // meta samples of an update
	Rate      float64 // learning rate of the classifier, in its trial step and in its SGD step
	Momentum  float64 // of the classifier's SGD
	Decay     float64 // weight decay of the classifier, on all trainable arrays
	MetaRate  float64 // learning rate of V's Adam
	MetaDecay float64 // weight decay of V, added to the gradient
}

// metaOfAuthors returns the settings of the authors' code. It is no variable: Go would then declare this learner after
// those that need none, and tables list learners as they are declared.
func metaOfAuthors() metaConfig {
	return metaConfig{Hidden: 100, Batch: 100, MetaBatch: 100, Rate: .1, Momentum: .9, Decay: 5e-4,
		MetaRate: 1e-3, MetaDecay: 1e-4}
}

// metaModel is the classifier.
type metaModel struct {
	Params []net.Param
	// Losses builds the loss of each sample, [batch] float32. pool: [rows, dims...]; row, label:
	// [batch] int32. It must work for every batch size.
	Losses func(s *net.Scope, pool, row, label *Node) *Node
}

// metaTrainer trains classifiers by Meta-Weight-Net (Shu et al. 2019), the baseline of Figure 4. A small network V maps
// the loss of a training sample to a weight between 0 and 1. V is trained together with the classifier, so that the
// weights reduce the classifier's loss on a few trusted samples, the meta set. With L_i(theta) the loss of sample i in
// a minibatch of n, an update consists of
//
//  1. a trial step of the classifier, theta_hat = theta - rate grad 1/n sum_i V(L_i) L_i(theta);
//  2. a step of V by Adam on the mean loss of a meta minibatch at theta_hat;
//  3. a step of the classifier by SGD with momentum on 1/n sum_i V(L_i) L_i(theta), with weights from the new V as
//     constants.
//
// The weights are not normalised. The propensity score depends on a sample and its time, V on the sample's loss alone.
// Several goroutines may use a metaTrainer. Its programs are compiled at the first Fit, and again for a pool of
// another shape.
type metaTrainer struct {
	cfg     metaConfig
	model   metaModel
	trained []int       // positions of the classifier's trainable parameters
	v       []net.Param // parameters of V
	loop    *loop.Trainer
}

func newMetaTrainer(backend compute.Backend, cfg metaConfig, model metaModel) (*metaTrainer, error) {
	t := &metaTrainer{cfg: cfg, model: model, trained: loop.Trainable(model.Params)}
	var err error
	if t.v, err = declareV(backend, cfg.Hidden); err != nil {
		return nil, fmt.Errorf("weights of Meta-Weight-Net: %w", err)
	}
	t.loop = loop.New(backend, t.problem(), updatesPerCall)
	return t, nil
}

// Fit trains the classifier from the start values and V from random ones. It returns the values
// of both networks. pool: [rows, dims...]. Minibatches are consecutive parts of random
// permutations of the training samples and of the meta set; if the meta set is smaller than
// MetaBatch, a minibatch has samples more than once. seed determines the initial values of V and
// both permutations.
//
// Fit fails if shapes do not fit, a loss is not finite, ctx is cancelled, or the backend fails.
func (t *metaTrainer) Fit(ctx context.Context, pool *tensors.Tensor, start net.Values, data, meta Samples, updates int,
	seed int64) (theta, v net.Values, err error) {
	all := slices.Concat(start, net.Init(t.v, seed, "metaweight"))
	training := minibatches(data, nil, t.cfg.Batch, random.New(seed, "metaweight", "training"))
	trusted := minibatches(meta, nil, t.cfg.MetaBatch, random.New(seed, "metaweight", "meta"))
	feed := func(_, count int) []*tensors.Tensor {
		return slices.Concat(training(t.loop.Chunk(), count), trusted(t.loop.Chunk(), count))
	}
	all, _, err = t.loop.Fit(ctx, all, []*tensors.Tensor{pool}, t.cfg.Rate, updates, feed, nil)
	if err != nil {
		return nil, nil, err
	}
	return all[:len(start)], all[len(start):], nil
}
