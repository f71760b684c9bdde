package supervised

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"tvps/data/cifar10"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/experiment"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
)

// trunk computes the features of images: it is the frozen part of a pre-trained network.
type trunk struct {
	host *experiment.Host
	data *cifar10.Data
	checkpoint
	width  int
	gPools *experiment.Memo
}

// images reads or computes the features below the last block.
func (t trunk) images(ctx context.Context) (*images, error) {
	features, err := t.features(ctx, resnet.LastBlock)
	if err != nil {
		return nil, err
	}
	im := &images{data: t.data, hash: t.hash, gPools: t.gPools, channels: resnet.LastBlock.Channels(t.width)}
	for _, label := range slices.Concat(t.data.Train.Labels, t.data.Test.Labels) {
		im.labels = append(im.labels, int32(label))
	}
	im.pool = tensors.FromFlatDataAndDimensions(features, len(im.labels), resnet.LastBlock.Size(t.width))
	im.pooled = averaged(features, im.channels)
	if im.head, err = t.head(resnet.LastBlock); err != nil {
		return nil, err
	}
	return im, nil
}

// stage returns a copy of images with the features below the last stage for the classifier. g sees the same inputs
// whichever part of the network is trained.
func (t trunk) stage(ctx context.Context, im *images) (*images, error) {
	features, err := t.features(ctx, resnet.LastStage)
	if err != nil {
		return nil, err
	}
	other := *im
	other.pool = tensors.FromFlatDataAndDimensions(features, len(im.labels), resnet.LastStage.Size(t.width))
	if other.head, err = t.head(resnet.LastStage); err != nil {
		return nil, err
	}
	return &other, nil
}

// head returns the parameters of the pre-trained network above a cut.
func (t trunk) head(cut resnet.Cut) (net.Values, error) {
	params, err := cut.HeadParams(t.host.Backend.Backend, t.width)
	if err != nil {
		return nil, err
	}
	return t.Select(params, "")
}

// fileMark distinguishes the cached features of the cuts.
var fileMark = map[resnet.Cut]string{resnet.LastBlock: "", resnet.LastStage: "-stage"}

// features reads or computes those of all images below a cut.
func (t trunk) features(ctx context.Context, cut resnet.Cut) ([]float16.Float16, error) {
	all := resnet.Images{
		Pixels: slices.Concat(t.data.Train.Pixels, t.data.Test.Pixels),
		Labels: slices.Concat(t.data.Train.Labels, t.data.Test.Labels),
	}
	sum := sha256.Sum256(all.Pixels)
	name := fmt.Sprintf("resnet18-w%d%s-%s-%s.f16.zst", t.width, fileMark[cut], t.hash, hex.EncodeToString(sum[:8]))
	path := filepath.Join(t.host.CacheDir, "features", name)
	return cachedFeatures(ctx, path, all.Len()*cut.Size(t.width), t.host.Log, func() ([]float32, error) {
		return cut.Features(ctx, t.host.Backend.Backend, t.Checkpoint, t.width, all, func(done, of int) {
			if t.host.Log != nil && (done%5000 < 250 || done == of) {
				fmt.Fprintf(t.host.Log, "ResNet-18 features: %d of %d images\n", done, of)
			}
		})
	})
}

// averaged returns features of the last block, [rows, places, channels], averaged over the places.
func averaged(features []float16.Float16, channels int) []float32 {
	places := resnet.LastBlock.Side() * resnet.LastBlock.Side()
	out := make([]float32, len(features)/places)
	for i, f := range features {
		row, channel := i/(places*channels), i%channels
		out[row*channels+channel] += f.Float32() / float32(places)
	}
	return out
}
