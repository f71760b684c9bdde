package tables

import (
	"context"
	"math"

	"tvps/gomlx_models/mmd"
	"tvps/gomlx_models/propensity/crossfit"

	"github.com/gomlx/compute"
)

// kernels computes the kernels of x and y.
type kernels struct {
	ctx     context.Context
	in      []string // what is tested
	samples [2][]float32
	dims    [2]int
	compute [2]*mmd.Computer // of x and y
}

func newKernels(ctx context.Context, backend compute.Backend, d crossfit.Table) (*kernels, error) {
	k := &kernels{ctx: ctx, in: []string{InX}}
	k.samples[0], k.dims[0] = d.X, d.Dim
	switch {
	case d.Target != nil:
		k.dims[1] = 1
		for _, v := range d.Target {
			k.samples[1] = append(k.samples[1], float32(v))
		}
	case d.Label != nil:
		k.dims[1] = d.Classes
		k.samples[1] = make([]float32, len(d.Label)*d.Classes)
		for i, y := range d.Label {
			k.samples[1][i*d.Classes+int(y)] = 1
		}
	}
	for i, sample := range k.samples {
		if k.dims[i] == 0 {
			continue
		}
		k.samples[i] = scaled(sample, k.dims[i])
		var err error
		if k.compute[i], err = mmd.New(backend, 2*testRows, k.dims[i]); err != nil {
			return nil, err
		}
	}
	if k.dims[1] > 0 {
		k.in = append(k.in, InY, InBoth)
	}
	return k, nil
}

func (k *kernels) close() {
	for _, c := range k.compute {
		if c != nil {
			c.Close()
		}
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
func (k *kernels) gram(rows []int) ([]func(a, b int) float64, error) {
	var of [2]*mmd.Kernel
	for i, c := range k.compute {
		if c == nil {
			continue
		}
		x := make([]float32, 0, len(rows)*k.dims[i])
		for _, r := range rows {
			x = append(x, k.samples[i][r*k.dims[i]:(r+1)*k.dims[i]]...)
		}
		half := len(rows) / 2 * k.dims[i]
		d, err := c.Distances(k.ctx, x[:half], x[half:])
		if err == nil {
			of[i], err = d.Kernel(1)
		}
		if err != nil {
			return nil, err
		}
	}
	if of[1] == nil {
		return []func(a, b int) float64{of[0].At}, nil
	}
	return []func(a, b int) float64{of[0].At, of[1].At,
		func(a, b int) float64 { return of[0].At(a, b) * of[1].At(a, b) }}, nil
}
