package resnet

import (
	"context"
	"fmt"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

const featureBatch = 250 // images in one call

// HeadParams returns the parameters of Head at a width, in a fixed order, which are the same in both modes.
func (c Cut) HeadParams(backend compute.Backend, width int) ([]net.Param, error) {
	in := shapes.Make(dtypes.Float32, 1, c.Side(), c.Side(), c.Channels(width))
	return net.Declare(backend, []shapes.Shape{in},
		func(s *net.Scope, in []*Node) { c.Head(s, in[0], net.BatchStatistics) })
}

// trunkParams returns the parameters of trunk at a width, in a fixed order. Those of Params are
// the trunk's, then the head's.
func (c Cut) trunkParams(backend compute.Backend, width int) ([]net.Param, error) {
	in := shapes.Make(dtypes.Uint8, 1, 3, 32, 32)
	return net.Declare(backend, []shapes.Shape{in},
		func(s *net.Scope, in []*Node) { c.trunk(s, normalize(in[0]), width) })
}

// Features returns the trunk's output for every image, [n * Size(width)] float32, each in the
// order [side, side, channels]. Batch normalisation uses the running averages. progress, if not
// nil, is called after each batch with the number of images done and of all images. It fails if
// ctx is cancelled, if the checkpoint has another width, and if the backend fails.
func (c Cut) Features(ctx context.Context, backend compute.Backend, from *net.Checkpoint, width int, images Images,
	progress func(done, of int)) ([]float32, error) {
	params, err := c.trunkParams(backend, width)
	if err != nil {
		return nil, err
	}
	out := make([]float32, 0, images.Len()*c.Size(width))
	err = inference(ctx, backend, from, params, images,
		func(s *net.Scope, x *Node) *Node { return c.trunk(s, normalize(x), width) },
		func(part []float32, done int) {
			out = append(out, part...)
			if progress != nil {
				progress(done, images.Len())
			}
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Accuracy returns the share of images that the whole network classifies correctly, between 0
// and 1; 0 for no images. It fails as Features does.
func Accuracy(ctx context.Context, backend compute.Backend, c *net.Checkpoint, width int, images Images) (float64, error) {
	params, err := Params(backend, width)
	if err != nil {
		return 0, err
	}
	right, at := 0, 0
	err = inference(ctx, backend, c, params, images,
		func(s *net.Scope, x *Node) *Node {
			return ConvertDType(ArgMax(full(s, x, width), -1), dtypes.Float32)
		},
		func(part []float32, _ int) {
			for _, class := range part {
				if uint8(class) == images.Labels[at] {
					right++
				}
				at++
			}
		})
	if err != nil {
		return 0, err
	}
	return float64(right) / float64(max(1, images.Len())), nil
}

// inference runs a network on all images in batches of featureBatch; the last one is padded.
// For each batch it calls take with the results, flat, and the number of images done so far.
func inference(ctx context.Context, backend compute.Backend, c *net.Checkpoint, params []net.Param, images Images,
	network func(s *net.Scope, x *Node) *Node, take func(part []float32, done int)) error {
	values, err := c.Select(params, "")
	if err != nil {
		return fmt.Errorf("resnet: %w", err)
	}
	exec := MustNewExec(backend, func(in []*Node) []*Node {
		return []*Node{network(net.Bind(in[0].Graph(), params, in[1:], false), in[0])}
	})
	defer exec.Finalize()
	held := values.Tensors(params)
	defer net.Free(held...)
	for from := 0; from < images.Len(); from += featureBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(images.Len(), from+featureBatch)
		pixels := make([]uint8, featureBatch*imageBytes)
		copy(pixels, images.Pixels[from*imageBytes:to*imageBytes])
		batch := tensors.FromFlatDataAndDimensions(pixels, featureBatch, 3, 32, 32)
		out, err := net.RunValues(exec, batch, held)
		net.Free(batch)
		if err != nil {
			return fmt.Errorf("resnet: %w", err)
		}
		take(out[0][:len(out[0])/featureBatch*(to-from)], to)
	}
	return nil
}
