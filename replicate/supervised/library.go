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
	memo memo
}

// libraryOf returns the library of a host.
func libraryOf(h *experiment.Host) *library {
	return experiment.Local(h, func() *library { return &library{host: h} })
}

// cifar10 loads the images that the settings name: CIFAR-10, or as the stand-in for CLEAR its test split alone, as the
// trunk was trained on the other images. With a limit on the images, features are computed of no more than are used.
func (l *library) cifar10(s Settings, standIn bool) (*cifar10.Data, error) {
	return memoize(&l.memo, fmt.Sprint(standIn, s.Data, s.Images, s.TestN), func() (*cifar10.Data, error) {
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
			few.Source.Note = fmt.Sprintf("This is a %s: features of %d CIFAR-10 test images from the frozen trunk, "+
				"which never saw them", StandIn, few.Test.Len())
		case s.Images > 0:
			few.Train, few.Test = firstOfClass(data.Train, s.Images), firstOfClass(data.Test, s.TestN)
			few.Source.Note += fmt.Sprintf("; of these, %d training and %d test images are used",
				few.Train.Len(), few.Test.Len())
		}
		return &few, nil
	})
}

// clear loads CLEAR's published features.
func (l *library) clear(ctx context.Context) (*clear.Set, error) {
	return memoize(&l.memo, "", func() (*clear.Set, error) {
		path, err := clear.Find()
		if err != nil {
			return nil, err
		}
		return clear.Load(ctx, path, clear.DefaultType)
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

// checkpoint loads the committed network, or the one that the command pretrain left in the cache for the seed's
// split.
func (l *library) checkpoint(s Settings, seed int64) (checkpoint, error) {
	folder, split := "", int64(0)
	if s.Checkpoint == "split" {
		folder, split = filepath.Join(l.host.CacheDir, "checkpoints"), seed
	}
	return memoize(&l.memo, fmt.Sprint(folder, s.Width, split), func() (checkpoint, error) {
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
	t := trunk{l.host, data, c, s.Width}
	key := fmt.Sprint(c.hash, data.Source, data.Train.Len(), data.Test.Len())
	im, err := memoize(&l.memo, key, func() (*images, error) { return t.images(ctx) })
	if err != nil || s.model() != PretrainedHead || s.Block != "stage" {
		return im, err
	}
	return memoize(&l.memo, key+" stage", func() (*images, error) { return t.stage(ctx, im) })
}
