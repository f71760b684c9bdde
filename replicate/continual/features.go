package continual

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tvps/data/cifar10"
	"tvps/data/clear"
	"tvps/data/random"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
)

// StandIn is what every page, picture, table and file says that was made without CLEAR.
const StandIn = "stand-in, not CLEAR"

// vectors are fixed features of labelled images, as CLEAR publishes them.
type vectors struct {
	x      []float32 // [rows, dim]
	dim    int
	labels []int32 // [rows]
	split  func(seed int64) (train, validation, test []int32)
}

// stream is a label shift over the features under a seed: 60% of each class to train,
// 30% to test. What g sees is standardised by the training rows of the seed.
func (v *vectors) stream(s Settings, seed int64, pool *tensors.Tensor) (*Stream, error) {
	train, _, test := v.split(seed)
	few, all := some(byClass(test, v.labels), s.TestN, seed), byClass(test, v.labels)
	stream := shifted(s, seed, byClass(train, v.labels), few, all)
	stream.Pool, stream.X = pool, v.x
	stream.GPool = &propensity.Pool{X: pool, Mean: make([]float32, v.dim), Scale: make([]float32, v.dim)}
	moments(v.x, train, stream.GPool.Mean, stream.GPool.Scale)
	return stream, nil
}

// onEngine is the stream on an engine, whose pool all seeds share.
func (v *vectors) onEngine(engine *engine, s Settings, seed int64) (*Stream, error) {
	key := fmt.Sprint(s.of("shift", "clear"))
	pool, err := shared(&engine.mu, &engine.pools, key, func() (*tensors.Tensor, error) {
		return tensors.FromFlatDataAndDimensions(v.x, len(v.labels), v.dim), nil
	})
	if err != nil {
		return nil, err
	}
	return shared(&engine.mu, &engine.streams, fmt.Sprint(seed, key, s.of("stream")), func() (*Stream, error) { return v.stream(s, seed, pool) })
}

// vectors returns the features that the settings ask for, once.
func (e *Env) vectors(ctx context.Context, s Settings, seed int64) (*vectors, error) {
	if !e.StandsIn(s) {
		set, err := e.published(ctx)
		if err != nil {
			return nil, err
		}
		return &vectors{x: set.X, dim: set.Dim, labels: set.Label, split: set.Split}, nil
	}
	data, err := e.standIn(s)
	if err != nil {
		return nil, err
	}
	im, err := e.trunk(ctx, s, seed, data)
	if err != nil {
		return nil, err
	}
	return &vectors{x: im.pooled, dim: im.channel, labels: im.labels, split: im.thirds}, nil
}

// published reads CLEAR's features, once.
func (e *Env) published(ctx context.Context) (*clear.Set, error) {
	return shared(&e.mu, &e.clear, "", func() (*clear.Set, error) {
		path, err := clear.Find()
		if err != nil {
			return nil, err
		}
		return clear.Load(ctx, path, clear.Options{})
	})
}

// standIn is CIFAR-10's test split, whose images the trunk has never been trained on.
func (e *Env) standIn(s Settings) (*cifar10.Data, error) {
	return shared(&e.mu, &e.data, fmt.Sprint("stand-in", s.Data, s.Images), func() (*cifar10.Data, error) {
		data, err := cifar10.Load(cifar10.Options{Sample: s.Data == "sample"})
		if err != nil {
			return nil, err
		}
		few := *data
		few.Train = data.Train.Select(nil)
		if s.Images > 0 {
			few.Test = firstOfClass(data.Test, s.Images)
		}
		few.Source.Note = fmt.Sprintf("This is a %s: features of %d CIFAR-10 test images from the frozen trunk, which never saw them", StandIn, few.Test.Len())
		return &few, nil
	})
}

// thirds splits the images of each class by seed: 60% to train, 10% to validate, 30% to
// test, as the paper splits CLEAR.
func (im *images) thirds(seed int64) (train, validation, test []int32) {
	all := make([]int32, len(im.labels))
	for i := range all {
		all[i] = int32(i)
	}
	return clear.SplitClasses(byClass(all, im.labels), func(class int) *rand.Rand { return random.New(seed, "stand-in-split", class) })
}

// StandsIn tells whether something stands in for the data of the scenario.
func (e *Env) StandsIn(s Settings) bool {
	if s.Scenario != "clear" {
		return false
	}
	path, err := clear.Find()
	return s.Features == "stand-in" || err == nil && path == ""
}

// experiment names the folder of the settings' runs: the scenario's, unless something
// stands in for its data.
func (e *Env) experiment(s Settings) string {
	if e.StandsIn(s) {
		return s.Scenario + "-stand-in"
	}
	return s.Scenario
}
