package supervised

import (
	"context"
	"math/rand/v2"

	"tvps/data/cifar10"
	"tvps/data/clear"
	"tvps/data/random"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/xslices"
)

// imageSource is images of CIFAR-10, by the features of a frozen trunk: under a label shift, or in the place of CLEAR.
type imageSource struct {
	library  *library
	settings Settings
	standIn  bool
}

func openImages(h *experiment.Host, s Settings) Source { return imageSource{libraryOf(h), s, false} }

// dataOfImages lists the sets of images: all of CIFAR-10, or the embedded sample.
func dataOfImages(s Settings) []experiment.Data { return s.imagesAs("") }

// imagesAs lists the sets of images that the settings allow, for runs in which they are a stand-in or not.
func (s Settings) imagesAs(standIn string) []experiment.Data {
	sample := experiment.Data{Experiment: s.folder(standIn), Name: "sample", StandIn: standIn}
	if s.Data == "sample" {
		return []experiment.Data{sample}
	}
	full := sample
	full.Name = "full"
	return []experiment.Data{full, sample}
}

// About says which images they are.
func (src imageSource) About() (about experiment.Source) {
	if src.standIn {
		about.StandIn = StandIn
	}
	if source, err := src.library.source(src.settings, src.standIn); err == nil {
		about.Note = source.Note
	}
	return about
}

// Identity names the images and the checkpoint that their features are made with.
func (src imageSource) Identity(seed int64) (map[string]string, error) {
	source, err := src.library.source(src.settings, src.standIn)
	if err != nil {
		return nil, err
	}
	c, err := src.library.checkpoint(src.settings, seed)
	if err != nil {
		return nil, err
	}
	name := "sample"
	if source.Full {
		name = "full"
	}
	return map[string]string{"data": name, "checkpoint-hash": c.hash}, nil
}

// Stream reads or computes the features. All runs of a process share them.
func (src imageSource) Stream(ctx context.Context, e *Engine, seed int64) (*Stream, error) {
	data, err := src.library.cifar10(src.settings, src.standIn)
	if err != nil {
		return nil, err
	}
	im, err := src.library.images(ctx, src.settings, seed, data)
	if err != nil {
		return nil, err
	}
	if src.standIn {
		v := vectors{id: im.hash, x: im.pooled, dim: im.channels, labels: im.labels, split: im.splitClasses}
		return v.stream(e, src.settings, seed)
	}
	return im.stream(src.settings, seed)
}

// images is CIFAR-10 as the label-shift scenarios see it: the trunk's features of every image, training images first,
// then test images. Row i of the pool is image i of that list. The features are functions of the image and the
// checkpoint alone, so they are computed once and cached on disk.
type images struct {
	data     *cifar10.Data
	pool     *tensors.Tensor  // [rows, features] float16 at the cut: 4*4*8*width or 8*8*4*width
	pooled   []float32        // [rows, 8*width]: those of the last block averaged over the 4x4 places
	labels   []int32          // [rows]
	head     net.Values       // the pre-trained head
	hash     string           // of the checkpoint
	gPools   *experiment.Memo // of all checkpoints with these data
	channels int              // of the last block, 8*width
}

// stream returns the label shift of a seed: training images of the seed's 90% split and test images of the test split
// only.
func (im *images) stream(s Settings, seed int64) (*Stream, error) {
	gPool, err := im.gPool(s.GInput)
	if err != nil {
		return nil, err
	}
	shift := s.shift()
	train, validation := im.data.Train.Split(seed)
	ofClass := byClass(train, im.labels, shift.Classes)
	held := byClass(validation, im.labels, shift.Classes)
	stream := shifted(s, shift, seed, ofClass, held, im.testRows(s.TestN, seed), im.testRows(0, seed))
	stream.Head, stream.Pool, stream.Input = im.head, im.pool, im.input
	stream.GPool, stream.ValidationX = gPool, gPool.X
	stream.InputOfG = func(row int32) []float32 { return im.input(row, s.GInput) }
	return stream, nil
}

// testRows returns the pool rows of n test images, equally many of each class and drawn by seed, or of all test
// images if n is 0.
func (im *images) testRows(n int, seed int64) [][]int32 {
	out := firstShuffled(im.data.Test.ByClass(), n, seed)
	for _, rows := range out {
		for i := range rows {
			rows[i] += int32(im.data.Train.Len())
		}
	}
	return out
}

// gPool returns the inputs of g: pooled features or pixels, which are the same for every checkpoint. Each step
// standardises them by its past.
func (im *images) gPool(input string) (*propensity.Pool, error) {
	key := input
	if input == "features" {
		key = im.hash
	}
	return experiment.Memoize(im.gPools, key, func() (*propensity.Pool, error) {
		x, dims := im.pooled, []int{im.channels}
		if input == "pixels" {
			x, dims = im.pixels(), []int{32, 32, 3}
		}
		pool := tensors.FromFlatDataAndDimensions(x, append([]int{len(im.labels)}, dims...)...)
		return asItIs(pool), nil
	})
}

// pixels returns the images as [rows, 32, 32, 3] in 0..1.
func (im *images) pixels() []float32 {
	out := make([]float32, 0, len(im.labels)*cifar10.Pixels)
	for row := range im.labels {
		out = im.appendPixels(out, row)
	}
	return out
}

// appendPixels appends an image as [32, 32, 3] in 0..1.
func (im *images) appendPixels(out []float32, row int) []float32 {
	set := im.data.Train
	if row >= set.Len() {
		set, row = im.data.Test, row-set.Len()
	}
	image := set.Image(row)
	for p := range 1024 {
		out = append(out, float32(image[p])/255, float32(image[1024+p])/255, float32(image[2048+p])/255)
	}
	return out
}

// input returns one image's pixels, [32*32*3] in 0..1, or its pooled features, [8*width].
func (im *images) input(row int32, input string) []float32 {
	if input == "features" {
		return im.pooled[int(row)*im.channels : int(row+1)*im.channels]
	}
	return im.appendPixels(make([]float32, 0, cifar10.Pixels), int(row))
}

// splitClasses splits the images of each class by seed: 60% to train, 10% to validate, 30% to test, as the paper
// splits CLEAR.
func (im *images) splitClasses(seed int64) (train, validation, test []int32) {
	all := xslices.Iota(int32(0), len(im.labels))
	return clear.SplitClasses(byClass(all, im.labels, cifar10.Classes), func(class int) *rand.Rand {
		return random.New(seed, "stand-in-split", class)
	})
}
