package tables

import (
	"context"
	"math"

	"tvps/gomlx_models/mmd"
	"tvps/gomlx_models/propensity/crossfit"

	"github.com/gomlx/compute"
)

// kernels computes the kernels of x, and of y and both if there is y.
type kernels struct {
	ctx   context.Context
	sides []kernelSide
}

type kernelSide struct {
	samples []float32
	dim     int
	*mmd.Computer
}

// subjects are what is tested over time, in the order of kernels.gram.
var subjects = []string{InX, InY, InBoth}

func newKernels(ctx context.Context, backend compute.Backend, d crossfit.Table) (*kernels, error) {
	k := &kernels{ctx: ctx, sides: []kernelSide{{samples: d.X, dim: d.Dim}}}
	switch {
	case d.Target != nil:
		y := collect(d.Target, func(v float64) float32 { return float32(v) })
		k.sides = append(k.sides, kernelSide{samples: y, dim: 1})
	case d.Label != nil:
		one := make([]float32, len(d.Label)*d.Classes)
		for i, y := range d.Label {
			one[i*d.Classes+int(y)] = 1
		}
		k.sides = append(k.sides, kernelSide{samples: one, dim: d.Classes})
	}
	for i := range k.sides {
		s := &k.sides[i]
		s.samples = scaled(s.samples, s.dim)
		var err error
		if s.Computer, err = mmd.New(backend, 2*testRows, s.dim); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *kernels) close() {
	for _, s := range k.sides {
		s.Close()
	}
}

// scaled divides samples by the root mean squared distance of two of them, and subtracts their mean.
func scaled(samples []float32, dim int) []float32 {
	mean, square := make([]float64, dim), 0.
	n := float64(len(samples) / dim)
	for i, v := range samples {
		mean[i%dim] += float64(v) / n
	}
	for i, v := range samples {
		e := float64(v) - mean[i%dim]
		square += e * e / n
	}
	out := make([]float32, len(samples))
	if square > 0 {
		for i, v := range samples {
			out[i] = float32((float64(v) - mean[i%dim]) / math.Sqrt(2*square))
		}
	}
	return out
}

// gram returns the kernel of all rows of a pool, by subject.
func (k *kernels) gram(rows []int) (of []func(a, b int) float64, err error) {
	for _, s := range k.sides {
		x := make([]float32, 0, len(rows)*s.dim)
		for _, r := range rows {
			x = append(x, s.samples[r*s.dim:(r+1)*s.dim]...)
		}
		half := len(rows) / 2 * s.dim
		d, err := s.Distances(k.ctx, x[:half], x[half:])
		if err != nil {
			return nil, err
		}
		kernel, err := d.Kernel(1)
		if err != nil {
			return nil, err
		}
		of = append(of, kernel.At)
	}
	if len(of) > 1 {
		of = append(of, func(a, b int) float64 { return of[0](a, b) * of[1](a, b) })
	}
	return of, nil
}
