package continual

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"tvps/data/cifar10"
	"tvps/data/clear"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/experiment"
)

// library loads data, checkpoints and features of the frozen trunk, each once for a process.
type library struct {
	host *experiment.Host
	kept kept
}

// libraryOf returns the library of a host.
func libraryOf(h *experiment.Host) *library {
	return experiment.Local(h, func() *library { return &library{host: h} })
}

// cifar10 loads the images that the settings name. With a limit on the images, features are computed of no more than
// are used.
func (l *library) cifar10(s Settings) (*cifar10.Data, error) {
	return keep(&l.kept, fmt.Sprint(s.Data, s.Images, s.TestN), func() (*cifar10.Data, error) {
		data, err := cifar10.Load(cifar10.Options{Sample: s.Data == "sample"})
		if err != nil || s.Images == 0 {
			return data, err
		}
		few := *data
		few.Train = firstOfClass(data.Train, s.Images)
		if s.TestN > 0 {
			few.Test = firstOfClass(data.Test, s.TestN)
		}
		few.Source.Note += fmt.Sprintf("; of these, %d training and %d test images are used",
			few.Train.Len(), few.Test.Len())
		return &few, nil
	})
}

// testImages loads CIFAR-10's test split without the training images: the trunk was never trained on them.
func (l *library) testImages(s Settings) (*cifar10.Data, error) {
	return keep(&l.kept, fmt.Sprint("stand-in", s.Data, s.Images), func() (*cifar10.Data, error) {
		data, err := cifar10.Load(cifar10.Options{Sample: s.Data == "sample"})
		if err != nil {
			return nil, err
		}
		few := *data
		few.Train = data.Train.Select(nil)
		if s.Images > 0 {
			few.Test = firstOfClass(data.Test, s.Images)
		}
		few.Source.Note = fmt.Sprintf("This is a %s: features of %d CIFAR-10 test images from the frozen trunk, "+
			"which never saw them", StandIn, few.Test.Len())
		return &few, nil
	})
}

// clear loads CLEAR's published features.
func (l *library) clear(ctx context.Context) (*clear.Set, error) {
	return keep(&l.kept, "", func() (*clear.Set, error) {
		path, err := clear.Find()
		if err != nil {
			return nil, err
		}
		return clear.Load(ctx, path, clear.Options{})
	})
}

// firstOfClass selects the first n images of a set, equally many of each class.
func firstOfClass(set cifar10.Set, n int) cifar10.Set {
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
	*resnet.Checkpoint
	hash string
}

// checkpoint loads the committed network, or the one that the command pretrain left in the cache for the seed's
// split.
func (l *library) checkpoint(s Settings, seed int64) (checkpoint, error) {
	folder, split := "", int64(0)
	if s.Checkpoint == "split" {
		folder, split = filepath.Join(l.host.CacheDir, "checkpoints"), seed
	}
	return keep(&l.kept, fmt.Sprint(folder, s.Width, split), func() (checkpoint, error) {
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
	t := trunk{l.host.Backend.Backend, l.host.CacheDir, data, c, s.Width, l.host.Log, l.host.Backend.VerifyPlugin}
	key := fmt.Sprint(c.hash, data.Source, data.Train.Len(), data.Test.Len())
	im, err := keep(&l.kept, key, func() (*images, error) { return t.images(ctx) })
	if err != nil || s.model() != PretrainedHead || s.Block != "stage" {
		return im, err
	}
	return keep(&l.kept, key+" stage", func() (*images, error) { return t.stage(ctx, im) })
}
