package continual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tvps/data/cifar10"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/resnet"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/google/renameio/v2"
	"github.com/klauspost/compress/zstd"
)

// images is CIFAR-10 as the label-shift scenarios see it: the trunk's features of
// every image, training images first, then test images. Row i of the pool is image i
// of that list. The features are functions of the image and the checkpoint alone, so
// they are computed once and kept on disk.
type images struct {
	data    *cifar10.Data
	pool    *tensors.Tensor // [rows, features] float16 at the cut: 4*4*8*width or 8*8*4*width
	pooled  []float32       // [rows, 8*width]: those of the last block averaged over the 4x4 places
	labels  []int32         // [rows]
	head    net.Values      // the pre-trained head
	gPools  map[string]*propensity.Pool
	channel int
}

// trunk is what features of images are made from.
type trunk struct {
	backend  compute.Backend
	cacheDir string
	data     *cifar10.Data
	checkpoint
	width int
	log   io.Writer // may be nil
}

// images reads or computes the features below the last block.
func (t trunk) images(ctx context.Context) (*images, error) {
	features, err := t.features(ctx, resnet.LastBlock)
	if err != nil {
		return nil, err
	}
	im := &images{data: t.data, gPools: map[string]*propensity.Pool{}, channel: resnet.LastBlock.Channels(t.width)}
	for _, label := range slices.Concat(t.data.Train.Labels, t.data.Test.Labels) {
		im.labels = append(im.labels, int32(label))
	}
	im.pool = tensors.FromFlatDataAndDimensions(features, len(im.labels), resnet.LastBlock.Size(t.width))
	im.pooled = pool(features, im.channel)
	im.head, err = t.head(resnet.LastBlock)
	return im, err
}

// stage is images with the features below the last stage for the classifier. All else is
// theirs: g sees the same inputs whichever part of the network is trained.
func (t trunk) stage(ctx context.Context, im *images) (*images, error) {
	features, err := t.features(ctx, resnet.LastStage)
	if err != nil {
		return nil, err
	}
	other := *im
	other.pool = tensors.FromFlatDataAndDimensions(features, len(im.labels), resnet.LastStage.Size(t.width))
	other.head, err = t.head(resnet.LastStage)
	return &other, err
}

// head is the pre-trained network above a cut.
func (t trunk) head(cut resnet.Cut) (net.Values, error) {
	params, err := cut.HeadParams(t.backend, t.width, net.NativeConv, net.BatchStatistics)
	if err != nil {
		return nil, err
	}
	return t.Select(params, "")
}

// fileMark tells the cached features of the cuts apart.
var fileMark = map[resnet.Cut]string{resnet.LastBlock: "", resnet.LastStage: "-stage"}

// features reads or computes those of all images below a cut.
func (t trunk) features(ctx context.Context, cut resnet.Cut) ([]float16.Float16, error) {
	all := resnet.Images{
		Pixels: slices.Concat(t.data.Train.Pixels, t.data.Test.Pixels),
		Labels: slices.Concat(t.data.Train.Labels, t.data.Test.Labels),
	}
	sum := sha256.Sum256(all.Pixels)
	name := fmt.Sprintf("resnet18-w%d%s-%s-%s.f16.zst", t.width, fileMark[cut], t.hash, hex.EncodeToString(sum[:8]))
	return cachedFeatures(ctx, filepath.Join(t.cacheDir, "features", name), all.Len()*cut.Size(t.width), t.log,
		func() ([]float32, error) {
			return cut.Features(ctx, t.backend, t.Checkpoint, t.width, all, func(done, of int) {
				if t.log != nil && (done%5000 < 250 || done == of) {
					fmt.Fprintf(t.log, "ResNet-18 features: %d of %d images\n", done, of)
				}
			})
		})
}

// pool averages features of the last block, [rows, places, channels], over the places.
func pool(features []float16.Float16, channels int) []float32 {
	places := resnet.LastBlock.Side() * resnet.LastBlock.Side()
	out := make([]float32, len(features)/places)
	for i, f := range features {
		row, channel := i/(places*channels), i%channels
		out[row*channels+channel] += f.Float32() / float32(places)
	}
	return out
}

// gPool returns the inputs of g: pooled features or standardised pixels.
func (im *images) gPool(input string) (*propensity.Pool, error) {
	if p, ok := im.gPools[input]; ok {
		return p, nil
	}
	var p *propensity.Pool
	var err error
	if input == "pixels" {
		p, err = propensity.NewPool(im.pixels(), im.data.Train.Len(), 32, 32, 3)
	} else {
		p, err = propensity.NewPool(im.pooled, im.data.Train.Len(), im.channel)
	}
	im.gPools[input] = p
	return p, err
}

// pixels lays the images out as [rows, 32, 32, 3] in 0..1.
func (im *images) pixels() []float32 {
	out := make([]float32, 0, len(im.labels)*cifar10.Pixels)
	for _, set := range []cifar10.Set{im.data.Train, im.data.Test} {
		for i := range set.Len() {
			out = appendPixels(out, set.Image(i))
		}
	}
	return out
}

// appendPixels appends an image as [32, 32, 3] in 0..1.
func appendPixels(out []float32, image []byte) []float32 {
	for p := range 1024 {
		out = append(out, float32(image[p])/255, float32(image[1024+p])/255, float32(image[2048+p])/255)
	}
	return out
}

// input is one image's pixels, [32*32*3] in 0..1, or its pooled features, [8*width].
func (im *images) input(row int32, input string) []float32 {
	if input == "features" {
		return im.pooled[int(row)*im.channel : int(row+1)*im.channel]
	}
	if n := im.data.Train.Len(); int(row) >= n {
		return appendPixels(nil, im.data.Test.Image(int(row)-n))
	}
	return appendPixels(nil, im.data.Train.Image(int(row)))
}

// cachedFeatures returns the features in the file, or computes them and writes it. A
// damaged file is computed anew; a cache that cannot be written costs only time.
func cachedFeatures(ctx context.Context, path string, n int, log io.Writer, compute func() ([]float32, error)) ([]float16.Float16, error) {
	features, err := readFeatures(path, n)
	if err == nil {
		return features, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && log != nil {
		fmt.Fprintf(log, "The cached features %s are damaged (%v); computing them anew.\n", path, err)
	}
	values, err := compute()
	if err != nil {
		return nil, err
	}
	features = make([]float16.Float16, len(values))
	for i, v := range values {
		features[i].SetFloat32(v)
	}
	if err := writeFeatures(path, features); err != nil && log != nil {
		fmt.Fprintf(log, "The features could not be kept for the next time: %v\n", err)
	}
	return features, ctx.Err()
}

// The file is a zstd stream of little-endian float16, then the SHA-256 of those bytes.
func readFeatures(path string, n int) ([]float16.Float16, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	raw, err := decoder.DecodeAll(packed, make([]byte, 0, 2*n+sha256.Size))
	if err != nil {
		return nil, err
	}
	if len(raw) != 2*n+sha256.Size {
		return nil, fmt.Errorf("%d bytes where %d were expected", len(raw), 2*n+sha256.Size)
	}
	if sum := sha256.Sum256(raw[:2*n]); !bytes.Equal(sum[:], raw[2*n:]) {
		return nil, fmt.Errorf("its checksum does not match")
	}
	out := make([]float16.Float16, n)
	for i := range out {
		out[i] = float16.Float16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return out, nil
}

func writeFeatures(path string, features []float16.Float16) error {
	raw := make([]byte, 0, 2*len(features)+sha256.Size)
	for _, f := range features {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(f))
	}
	sum := sha256.Sum256(raw)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	defer encoder.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(path, encoder.EncodeAll(append(raw, sum[:]...), nil), 0o644)
}
