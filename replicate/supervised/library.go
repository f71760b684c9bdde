package supervised

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"tvps/data/cifar10"
	"tvps/data/clear"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/experiment"
)

// library loads data, checkpoints and features of the frozen trunk, each once for a process.
type library struct {
	host *experiment.Host
	memo experiment.Memo
}

// libraryOf returns the library of a host.
func libraryOf(h *experiment.Host) *library {
	l, _ := experiment.Memoize(&h.Memo, "", func() (*library, error) { return &library{host: h}, nil })
	return l
}

// cifar10 loads the images that the settings name: CIFAR-10, or as the stand-in for CLEAR its test split alone, as the
// trunk was trained on the other images. With a limit on the images, features are computed of no more than are used.
func (l *library) cifar10(s Settings, standIn bool) (*cifar10.Data, error) {
	return experiment.Memoize(&l.memo, fmt.Sprint(standIn, s.Data, s.Images, s.TestN), func() (*cifar10.Data, error) {
		load := cifar10.Load
		if s.Data == "sample" {
			load = cifar10.Sample
		}
		data, err := load()
		if err != nil {
			return nil, err
		}
		few := *data
		switch {
		case standIn:
			few.Train, few.Test = data.Train.Select(nil), firstOfClass(data.Test, s.Images)
		case s.Images > 0:
			few.Train, few.Test = firstOfClass(data.Train, s.Images), firstOfClass(data.Test, s.TestN)
		}
		few.Source.Note = s.note(data.Source, standIn, few.Train.Len(), few.Test.Len())
		return &few, nil
	})
}

// source says which images the settings name. It does not decode the sample, which takes a second: a figure whose runs
// are stored needs none.
func (l *library) source(s Settings, standIn bool) (cifar10.Source, error) {
	if dir, err := cifar10.Find(); s.Data != "sample" && (err != nil || dir != "") {
		data, err := l.cifar10(s, standIn)
		if err != nil {
			return cifar10.Source{}, err
		}
		return data.Source, nil
	}
	train, test := sampled(cifar10.SampleTrain, s.Images), sampled(cifar10.SampleTest, s.TestN)
	if standIn {
		test = sampled(cifar10.SampleTest, s.Images)
	}
	source := cifar10.SampleSource
	source.Note = s.note(source, standIn, train, test)
	return source, nil
}

// note says which of the images are used.
func (s Settings) note(of cifar10.Source, standIn bool, train, test int) string {
	switch {
	case standIn:
		return fmt.Sprintf("This is a %s: features of %d CIFAR-10 test images from the frozen trunk, "+
			"which never saw them", StandIn, test)
	case s.Images > 0:
		return of.Note + fmt.Sprintf("; of these, %d training and %d test images are used", train, test)
	}
	return of.Note
}

// sampled is the number of images that firstOfClass selects of a split of the sample.
func sampled(ofClass, n int) int {
	if n > 0 {
		ofClass = min(ofClass, max(1, n/cifar10.Classes))
	}
	return ofClass * cifar10.Classes
}

// clear loads CLEAR's published features.
func (l *library) clear(ctx context.Context) (*clear.Set, error) {
	return experiment.Memoize(&l.memo, "", func() (*clear.Set, error) {
		path, err := clear.Find()
		if err != nil {
			return nil, err
		}
		return clear.Load(ctx, path)
	})
}

// firstOfClass selects the first n images of a set, equally many of each class; all if n is 0.
func firstOfClass(set cifar10.Set, n int) cifar10.Set {
	if n == 0 {
		return set
	}
	var rows []int32
	byClass := set.ByClass()
	for _, class := range byClass {
		rows = append(rows, class[:min(len(class), max(1, n/len(byClass)))]...)
	}
	slices.Sort(rows)
	return set.Select(rows)
}

// checkpoint is a pre-trained network with the hash of its file.
type checkpoint struct {
	*net.Checkpoint
	hash string
}

// committedWidth is the width of the network that the program has.
const committedWidth = 16

// checkpoint loads the network that the command pretrain left in the cache, for the seed's split or for split 0, which
// the program has itself at one width.
func (l *library) checkpoint(s Settings, seed int64) (checkpoint, error) {
	folder, split := filepath.Join(l.host.CacheDir, "checkpoints"), seed
	if s.Checkpoint == "committed" {
		if split = 0; s.Width == committedWidth {
			folder = ""
		}
	}
	return experiment.Memoize(&l.memo, fmt.Sprint(folder, s.Width, split), func() (checkpoint, error) {
		c, hash, err := resnet.Load(folder, s.Width, split)
		return checkpoint{c, hash}, err
	})
}

// images returns images with the features of the frozen trunk, below the block that is trained.
func (l *library) images(ctx context.Context, s Settings, seed int64, data *cifar10.Data) (*images, error) {
	c, err := l.checkpoint(s, seed)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprint(data.Source, data.Train.Len(), data.Test.Len())
	gPools, _ := experiment.Memoize(&l.memo, of, func() (*experiment.Memo, error) { return new(experiment.Memo), nil })
	t, key := trunk{l.host, data, c, s.Width, gPools}, c.hash+of
	im, err := experiment.Memoize(&l.memo, key, func() (*images, error) { return t.images(ctx) })
	if err != nil || s.model() != pretrainedHead || s.Block != "stage" {
		return im, err
	}
	return experiment.Memoize(&l.memo, key+" stage", func() (*images, error) { return t.stage(ctx, im) })
}
