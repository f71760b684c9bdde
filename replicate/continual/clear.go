package continual

import (
	"context"
	"fmt"

	"tvps/data/clear"
	"tvps/data/labelshift"
	"tvps/replicate/experiment"

	"github.com/gomlx/gomlx/core/tensors"
)

// openClear returns CLEAR's published features, or their stand-in if those are not found or setting features says so.
func openClear(h *experiment.Host, c Scenario, s Settings) Source {
	path, err := clear.Find()
	if s.Features == "stand-in" || err == nil && path == "" {
		return standInSource{libraryOf(h), s, c.shift(s)}
	}
	return clearSource{libraryOf(h), s, c.shift(s)}
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
	shift    labelshift.Shift
}

// About names the files of the features.
func (src clearSource) About() experiment.Source {
	set, err := src.library.clear(context.Background())
	if err != nil {
		return experiment.Source{}
	}
	return experiment.Source{Note: set.Source.Note, Name: nameOfClear(set)}
}

// Identity is the hash of the features.
func (src clearSource) Identity(int64) (map[string]string, error) {
	set, err := src.library.clear(context.Background())
	if err != nil {
		return nil, err
	}
	return map[string]string{"data": nameOfClear(set)}, nil
}

// nameOfClear names features in the identity of runs.
func nameOfClear(set *clear.Set) string { return clearPrefix + set.Source.SHA256[:16] }

// clearPrefix begins the names of CLEAR's features in the identity of runs; their hash follows.
const clearPrefix = "clear:"

// Stream splits the features by seed as the paper does.
func (src clearSource) Stream(ctx context.Context, e *Engine, seed int64) (*Stream, error) {
	set, err := src.library.clear(ctx)
	if err != nil {
		return nil, err
	}
	v := vectors{x: set.X, dim: set.Dim, labels: set.Label, split: set.Split}
	return v.stream(e, src.settings, src.shift, seed)
}

// standInSource takes the place of CLEAR: features of CIFAR-10's test images.
type standInSource struct {
	library  *library
	settings Settings
	shift    labelshift.Shift
}

// About says that it is a stand-in, and of which images.
func (src standInSource) About() experiment.Source {
	about := experiment.Source{StandIn: StandIn}
	if data, err := src.library.testImages(src.settings); err == nil {
		about.Note, about.Name = data.Source.Note, nameOf(data)
	}
	return about
}

// Identity names the images and the checkpoint.
func (src standInSource) Identity(seed int64) (map[string]string, error) {
	data, err := src.library.testImages(src.settings)
	if err != nil {
		return nil, err
	}
	return src.library.imageIdentity(src.settings, data, seed)
}

// Stream reads or computes the features.
func (src standInSource) Stream(ctx context.Context, e *Engine, seed int64) (*Stream, error) {
	im, err := src.features(ctx, seed)
	if err != nil {
		return nil, err
	}
	split := func(seed int64) (train, validation, test []int32) { return im.splitClasses(seed, src.shift.Classes) }
	v := vectors{x: im.pooled, dim: im.channels, labels: im.labels, split: split}
	return v.stream(e, src.settings, src.shift, seed)
}

func (src standInSource) features(ctx context.Context, seed int64) (*images, error) {
	data, err := src.library.testImages(src.settings)
	if err != nil {
		return nil, err
	}
	return src.library.images(ctx, src.settings, seed, data)
}

// vectors are fixed features of labelled images, as CLEAR publishes them.
type vectors struct {
	x      []float32 // [rows, dim]
	dim    int
	labels []int32 // [rows]
	split  func(seed int64) (train, validation, test []int32)
}

// stream returns the label shift of a seed. All seeds of an engine share one pool.
func (v vectors) stream(e *Engine, s Settings, shift labelshift.Shift, seed int64) (*Stream, error) {
	key := fmt.Sprint(s.of("shift", "clear"))
	pool, err := keep(&e.kept, key, func() (*tensors.Tensor, error) {
		return tensors.FromFlatDataAndDimensions(v.x, len(v.labels), v.dim), nil
	})
	if err != nil {
		return nil, err
	}
	return e.Stream(fmt.Sprint(seed, key, s.of("stream")), func() (*Stream, error) {
		return v.shifted(s, shift, seed, pool), nil
	})
}

// shifted draws from the rows of a seed's split: 60% of each class to train, 10% to validate, 30% to test.
func (v vectors) shifted(s Settings, shift labelshift.Shift, seed int64, pool *tensors.Tensor) *Stream {
	train, validation, test := v.split(seed)
	classes := func(rows []int32) [][]int32 { return byClass(rows, v.labels, shift.Classes) }
	stream := shifted(s, shift, seed, classes(train), classes(validation),
		firstShuffled(classes(test), s.TestN, seed), classes(test))
	stream.Pool, stream.X = pool, v.x
	stream.GPool, stream.ValidationX = asItIs(pool), pool
	stream.InputOfG = func(row int32) []float32 { return v.x[int(row)*v.dim : int(row+1)*v.dim] }
	return stream
}
