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

// HeadParams returns the parameters of Head at a width, in a fixed order.
func (c Cut) HeadParams(backend compute.Backend, width int, conv net.ConvMode, bn net.BatchNormMode) ([]net.Param, error) {
	in := shapes.Make(dtypes.Float32, 1, c.Side(), c.Side(), c.Channels(width))
	return net.Declare(backend, []shapes.Shape{in}, func(s *net.Scope, in []*Node) { c.Head(s, in[0], conv, bn) })
}

// TrunkParams returns the parameters of Trunk at a width, in a fixed order.
func (c Cut) TrunkParams(backend compute.Backend, width int) ([]net.Param, error) {
	in := shapes.Make(dtypes.Uint8, 1, 3, 32, 32)
	return net.Declare(backend, []shapes.Shape{in}, func(s *net.Scope, in []*Node) { c.Trunk(s, Normalize(in[0]), width) })
}

// Features computes the trunk's output of every image, [n * Size(width)] float32 in the
// order [side, side, channels], with the batch-norm averages. progress, if not nil,
// hears of images done.
func (c Cut) Features(ctx context.Context, backend compute.Backend, from *Checkpoint, width int, images Images, progress func(done, of int)) ([]float32, error) {
	params, err := c.TrunkParams(backend, width)
	if err != nil {
		return nil, err
	}
	out := make([]float32, 0, images.Len()*c.Size(width))
	err = inference(ctx, backend, from, params, images,
		func(s *net.Scope, x *Node) *Node { return c.Trunk(s, Normalize(x), width) },
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

// Accuracy is the share of images that the whole network classifies correctly.
func Accuracy(ctx context.Context, backend compute.Backend, c *Checkpoint, width int, images Images) (float64, error) {
	params, err := Params(backend, width)
	if err != nil {
		return 0, err
	}
	right, at := 0, 0
	err = inference(ctx, backend, c, params, images,
		func(s *net.Scope, x *Node) *Node {
			return ConvertDType(ArgMax(Full(s, x, width), -1), dtypes.Float32)
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

// inference runs a network over all images, batch by batch; the last one is padded.
func inference(ctx context.Context, backend compute.Backend, c *Checkpoint, params []net.Param, images Images,
	network func(s *net.Scope, x *Node) *Node, take func(part []float32, done int)) error {
	if err := images.check(); err != nil {
		return err
	}
	values, err := c.Select(params, "")
	if err != nil {
		return err
	}
	exec, err := NewExec(backend, func(in []*Node) []*Node {
		return []*Node{network(net.Bind(in[0].Graph(), params, in[1:], false), in[0])}
	})
	if err != nil {
		return fmt.Errorf("resnet: %w", err)
	}
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
		out, err := net.Run(exec, batch, held)
		net.Free(batch)
		if err != nil {
			return fmt.Errorf("resnet: %w", err)
		}
		part, err := tensors.CopyFlatData[float32](out[0])
		if err != nil {
			return fmt.Errorf("resnet: %w", err)
		}
		net.Free(out...)
		take(part[:len(part)/featureBatch*(to-from)], to)
	}
	return nil
}
