// Package metaweight trains classifiers by Meta-Weight-Net (Shu et al. 2019), the
// baseline that Figure 4 of the paper (fig:clear_meta) adds.
//
// A small network V maps the loss of a training sample to a weight between 0 and 1. V is
// trained together with the classifier, so that the weights reduce the classifier's loss on a
// few trusted samples, the meta set. With L_i(theta) the loss of sample i in a minibatch of n,
// an update consists of
//
//  1. a trial step of the classifier, theta_hat = theta - rate grad 1/n sum_i V(L_i) L_i(theta);
//  2. a step of V by Adam on the mean loss of a meta minibatch at theta_hat;
//  3. a step of the classifier by SGD with momentum on 1/n sum_i V(L_i) L_i(theta), with weights
//     from the new V as constants.
//
// The weights are not normalised. The propensity score depends on a sample and its time; V
// depends on the sample's loss only.
package metaweight

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

const updatesPerCall = 250

// Config holds the settings of Meta-Weight-Net.
type Config struct {
	Hidden    int     // width of V's hidden layer
	Batch     int     // training samples of an update
	MetaBatch int     // meta samples of an update
	Rate      float64 // learning rate of the classifier, in its trial step and in its SGD step
	Momentum  float64 // of the classifier's SGD
	Decay     float64 // weight decay of the classifier, on all trainable arrays
	MetaRate  float64 // learning rate of V's Adam
	MetaDecay float64 // weight decay of V, added to the gradient
}

// DefaultConfig holds the settings of the authors' code.
func DefaultConfig() Config {
	return Config{Hidden: 100, Batch: 100, MetaBatch: 100, Rate: .1, Momentum: .9, Decay: 5e-4,
		MetaRate: 1e-3, MetaDecay: 1e-4}
}

// Validate returns an error if a setting is out of range.
func (c Config) Validate() error {
	for _, s := range []struct {
		name  string
		value int
	}{{"hidden", c.Hidden}, {"batch", c.Batch}, {"meta batch", c.MetaBatch}} {
		if s.value < 1 {
			return fmt.Errorf("metaweight: %s is %d; it must be at least 1", s.name, s.value)
		}
	}
	for _, s := range []struct {
		name  string
		value float64
	}{{"learning rate", c.Rate}, {"meta learning rate", c.MetaRate}} {
		if !(s.value > 0) || math.IsInf(s.value, 0) {
			return fmt.Errorf("metaweight: the %s is %v; it must be a positive number", s.name, s.value)
		}
	}
	for _, s := range []struct {
		name         string
		value, limit float64
	}{
		{"momentum", c.Momentum, 1}, {"weight decay", c.Decay, math.Inf(1)},
		{"meta weight decay", c.MetaDecay, math.Inf(1)},
	} {
		if !(s.value >= 0 && s.value < s.limit) {
			return fmt.Errorf("metaweight: the %s is %v; it must be at least 0 and below %v", s.name, s.value, s.limit)
		}
	}
	return nil
}

// Model is the classifier.
type Model struct {
	Params  []net.Param
	Classes int // number of classes, at least 2
	// Losses builds the loss of each sample, [batch] float32. pool: [rows, dims...]; row, label:
	// [batch] int32. It must work for every batch size.
	Losses func(s *net.Scope, pool, row, label *Node) *Node
}

// Samples are labelled rows of a pool: row numbers, and labels 0..Classes-1.
type Samples struct{ Row, Label []int32 }

// Trainer holds the compiled training of a Model. It may be used by several goroutines.
type Trainer struct {
	cfg     Config
	model   Model
	trained []int       // positions of the classifier's trainable parameters
	v       []net.Param // parameters of V
	loop    *loop.Trainer
	eval    *Exec // evalGraph
}

// New prepares the training, which is compiled at the first Fit, and again for a pool of
// another shape. It fails if a setting is out of range, and if the model has fewer than two
// classes or no trainable parameters. Close the Trainer when it is no longer needed.
func New(backend compute.Backend, cfg Config, model Model) (*Trainer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if model.Classes < 2 {
		return nil, fmt.Errorf("metaweight: the model has %d classes; it must have at least 2", model.Classes)
	}
	t := &Trainer{cfg: cfg, model: model, trained: loop.Trainable(model.Params)}
	if len(t.trained) == 0 {
		return nil, fmt.Errorf("metaweight: the model has no trainable parameters")
	}
	var err error
	if t.v, err = declareV(backend, cfg.Hidden); err != nil {
		return nil, fmt.Errorf("metaweight: %w", err)
	}
	if t.loop, err = loop.New(backend, t.problem(), updatesPerCall); err != nil {
		return nil, err
	}
	if t.eval, err = NewExec(backend, t.evalGraph); err != nil {
		t.loop.Close()
		return nil, fmt.Errorf("metaweight: %w", err)
	}
	return t, nil
}

// Close frees the compiled programs.
func (t *Trainer) Close() {
	t.loop.Close()
	t.eval.Finalize()
}

// Fit trains the classifier from the start values and V from random ones. It returns the values
// of both networks. pool: [rows, dims...]. Minibatches are consecutive parts of random
// permutations of the training samples and of the meta set; if the meta set is smaller than
// MetaBatch, a minibatch has samples more than once. seed determines the initial values of V and
// both permutations.
//
// Fit fails if updates is less than 1, samples are missing, rows or labels are out of range, start
// values do not fit the model, a loss is not finite, ctx is cancelled, or the backend fails.
func (t *Trainer) Fit(ctx context.Context, pool *tensors.Tensor, start net.Values, data, meta Samples, updates int,
	seed int64) (theta, v net.Values, err error) {
	if updates < 1 {
		return nil, nil, fmt.Errorf("metaweight: %d updates; there must be at least 1", updates)
	}
	if err := cmp.Or(checkValues("classifier", t.model.Params, start), t.checkSamples("training", pool, data),
		t.checkSamples("meta", pool, meta)); err != nil {
		return nil, nil, err
	}
	all := slices.Concat(start, net.Init(t.v, seed, "metaweight"))
	feed := feed(t.loop.Chunk(),
		&batches{samples: data, size: t.cfg.Batch, rng: random.New(seed, "metaweight", "training")},
		&batches{samples: meta, size: t.cfg.MetaBatch, rng: random.New(seed, "metaweight", "meta")})
	all, _, err = t.loop.Fit(ctx, all, []*tensors.Tensor{pool}, t.cfg.Rate, updates, feed)
	if err != nil {
		return nil, nil, err
	}
	return all[:len(start)], all[len(start):], nil
}
