package supervised

import (
	"context"
	"fmt"

	"tvps/data/clear"
	"tvps/replicate/experiment"

	"github.com/gomlx/gomlx/core/tensors"
)

// openClear returns CLEAR's published features, or their stand-in if those are not found or setting features says so.
func openClear(h *experiment.Host, s Settings) Source {
	path, err := clear.Find()
	if s.Features == "stand-in" || err == nil && path == "" {
		return imageSource{libraryOf(h), s, true}
	}
	return clearSource{libraryOf(h), s}
}

// dataOfClear lists CLEAR's published features, and what can stand in for them.
func dataOfClear(s Settings) []experiment.Data {
	standIns := s.imagesAs(StandIn)
	if s.Features == "stand-in" {
		return standIns
	}
	return append([]experiment.Data{{Experiment: s.folder(""), Name: clearPrefix}}, standIns...)
}

// clearSource is CLEAR's published features.
type clearSource struct {
	library  *library
	settings Settings
}

// About names the files of the features.
func (src clearSource) About() experiment.Source {
	set, err := src.library.clear(context.Background())
	if err != nil {
		return experiment.Source{}
	}
	return experiment.Source{Note: set.Note()}
}

// Identity is the hash of the features.
func (src clearSource) Identity(int64) (map[string]string, error) {
	set, err := src.library.clear(context.Background())
	if err != nil {
		return nil, err
	}
	return map[string]string{"data": clearPrefix + set.SHA256[:16]}, nil
}

// clearPrefix begins the names of CLEAR's features in the identity of runs; their hash follows.
const clearPrefix = "clear:"

// Stream splits the features by seed as the paper does.
func (src clearSource) Stream(ctx context.Context, e *Engine, seed int64) (*Stream, error) {
	set, err := src.library.clear(ctx)
	if err != nil {
		return nil, err
	}
	v := vectors{id: set.SHA256, x: set.X, dim: set.Dim, labels: set.Label, split: set.Split}
	return v.stream(e, src.settings, seed)
}

// vectors are fixed features of labelled images, as CLEAR publishes them.
type vectors struct {
	id     string    // a hash of what x is made of
	x      []float32 // [rows, dim]
	dim    int
	labels []int32 // [rows]
	split  func(seed int64) (train, validation, test []int32)
}

// stream returns the label shift of a seed. All seeds of an engine with the same features share one pool.
func (v vectors) stream(e *Engine, s Settings, seed int64) (*Stream, error) {
	key := fmt.Sprint(v.id, experiment.Identity(s, "shift", "clear"))
	pool, err := experiment.Memoize(&e.memo, key, func() (*tensors.Tensor, error) {
		return tensors.FromFlatDataAndDimensions(v.x, len(v.labels), v.dim), nil
	})
	if err != nil {
		return nil, err
	}
	return experiment.Memoize(&e.memo, fmt.Sprint(seed, key, experiment.Identity(s, "stream")), func() (*Stream, error) {
		return v.shifted(s, seed, pool), nil
	})
}

// shifted draws from the rows of a seed's split: 60% of each class to train, 10% to validate, 30% to test.
func (v vectors) shifted(s Settings, seed int64, pool *tensors.Tensor) *Stream {
	shift := s.shift()
	train, validation, test := v.split(seed)
	classes := func(rows []int32) [][]int32 { return byClass(rows, v.labels, shift.Classes) }
	stream := shifted(s, shift, seed, classes(train), classes(validation),
		firstShuffled(classes(test), s.TestN, seed), classes(test))
	stream.Pool, stream.X = pool, v.x
	stream.GPool, stream.ValidationX = asItIs(pool), pool
	stream.InputOfG = func(row int32) []float32 { return v.x[int(row)*v.dim : int(row+1)*v.dim] }
	return stream
}
