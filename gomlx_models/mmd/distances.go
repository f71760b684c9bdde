// Package mmd measures the difference of two samples by the maximum mean discrepancy (MMD) of
// Gretton, Borgwardt, Rasch, Schölkopf and Smola, "A Kernel Two-Sample Test" (JMLR 2012), and
// tests whether they come from one distribution.
//
// The paper on time-varying propensity scores needs both. Its figure of MMD compares p_t with
// the past, raw and weighted by omega. And it says that its assumption that p_{T+dt} is close
// to p_T can be checked "using a two-sample test to estimate the total variation".
//
// For distributions p and q and the Gaussian kernel k(x, y) = exp(-|x-y|^2 / (2 width^2)),
//
//	MMD^2 = E k(X, X') - 2 E k(X, Y) + E k(Y, Y'),  X, X' ~ p,  Y, Y' ~ q, independent.
//
// It is 0 if and only if p = q. A Computer computes the pairwise Distances of two samples in one
// compiled program for all sample sizes. Kernels of any width follow from the Distances, and a
// Kernel gives every statistic: Kernel.PermutationTest answers "has my data drifted?".
package mmd

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Computer computes pairwise distances on a backend. It pads samples to its capacity, so that
// one compiled program serves all sample sizes. Several goroutines may use it.
type Computer struct {
	capacity, dim int
	exec          *Exec
}

// maxCapacity is the largest capacity of a Computer. A matrix of 20,000 x 20,000 values takes
// 3.2 GB; distances, kernel and backend each have one.
const maxCapacity = 20000

// New prepares a Computer for pools of at most capacity samples (those of x and of y) of dim
// values. The program is compiled at the first call of Distances. The time of a call is
// proportional to capacity^2 dim, even for few samples. capacity must be 2 to 20,000, and dim at least 1.
// Close the Computer when it is no longer needed.
func New(backend compute.Backend, capacity, dim int) (*Computer, error) {
	if capacity < 2 || dim < 1 {
		return nil, fmt.Errorf("mmd: %d samples in all, of %d values; there must be at least 2, of 1", capacity, dim)
	}
	if capacity > maxCapacity {
		return nil, fmt.Errorf("mmd: %d samples in all; at most %d are allowed, since memory grows with their square; "+
			"use random subsets", capacity, maxCapacity)
	}
	return &Computer{capacity, dim, MustNewExec(backend, squaredDistances).WithName("mmd").SetMaxCache(1)}, nil
}

// Close frees the compiled program.
func (c *Computer) Close() { c.exec.Finalize() }

// Distances holds the distances between all samples of a pool: x in rows 0 to N-1, y in rows
// N to N+M-1.
type Distances struct {
	N, M    int
	squared []float64 // [N+M, N+M], symmetric
}

// Distances computes the distances within and between the samples x [n, dim] and y [m, dim]. It
// fails if n or m is 0, a length is not a multiple of dim, a value is NaN or infinite, there are
// more samples than the capacity, ctx is cancelled (checked before the computation), or the
// backend fails.
func (c *Computer) Distances(ctx context.Context, x, y []float32) (*Distances, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, err := checkSample("x", x, c.dim)
	if err != nil {
		return nil, err
	}
	m, err := checkSample("y", y, c.dim)
	if err != nil {
		return nil, err
	}
	if n+m > c.capacity {
		return nil, fmt.Errorf("mmd: %d and %d samples are more than the capacity of %d; "+
			"make a larger Computer or use fewer samples", n, m, c.capacity)
	}
	pool := make([]float32, c.capacity*c.dim)
	copy(pool[copy(pool, x):], y)
	in := tensors.FromFlatDataAndDimensions(pool, c.capacity, c.dim)
	defer net.Free(in)
	out, err := net.Run(c.exec, in, float64(n+m))
	if err != nil {
		return nil, fmt.Errorf("mmd: %w", err)
	}
	defer net.Free(out...)
	d := &Distances{N: n, M: m, squared: make([]float64, (n+m)*(n+m))}
	if err := tensors.ConstFlatData(out[0], func(flat []float64) { d.fill(flat, c.capacity) }); err != nil {
		return nil, fmt.Errorf("mmd: %w", err)
	}
	return d, nil
}

// checkSample returns the number of samples in x, which messages call name. No samples, an
// incomplete one, and values that are NaN or infinite are errors.
func checkSample(name string, x []float32, dim int) (int, error) {
	if len(x) == 0 || len(x)%dim != 0 {
		return 0, fmt.Errorf("mmd: %s has %d values; it must have one or more complete samples of %d values",
			name, len(x), dim)
	}
	for i, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, fmt.Errorf("mmd: sample %d of %s, coordinate %d is %v; remove or replace the sample",
				i/dim, name, i%dim, v)
		}
	}
	return len(x) / dim, nil
}

// fill copies the upper triangle of flat [capacity, capacity] to both triangles, so that the
// result is exactly symmetric.
func (d *Distances) fill(flat []float64, capacity int) {
	size := d.N + d.M
	for i := range size {
		for j := i + 1; j < size; j++ {
			d.squared[i*size+j] = flat[i*capacity+j]
			d.squared[j*size+i] = flat[i*capacity+j]
		}
	}
}

// squaredDistances returns the squared distances of all rows of x [capacity, dim] float32, as
// [capacity, capacity] float64. The first n rows (a float64 scalar) are samples. The others are
// zero, and their distances are not used.
//
// |a-b|^2 = |a|^2 + |b|^2 - 2ab loses digits if a and b are large and close. So the mean of the
// samples is subtracted first, and the arithmetic is float64. That is five times as slow as
// float32 on the CPU, but GPUs do not replace it by TF32, and the rounding error has a known
// bound: the error of a dot product is at most dim 2^-53 |a||b|. Distances below the sum of
// these bounds are set to 0, so equal samples have distance 0.
func squaredDistances(x, n *Node) *Node {
	rounding := float64(x.Shape().Dimensions[1]+4) * math.Pow(2, -52)
	x = ConvertDType(x, dtypes.Float64)
	x = Sub(x, Div(ReduceAndKeep(x, ReduceSum, 0), n))
	norm := ReduceSum(Square(x), 1)
	norms := Add(ExpandDims(norm, 0), ExpandDims(norm, 1))
	d := Sub(norms, MulScalar(DotGeneral(x, []int{1}, nil, x, []int{1}, nil), 2))
	return Where(LessOrEqual(d, MulScalar(norms, rounding)), ZerosLike(d), d)
}

// MedianWidth is the median heuristic for the kernel's width: the median distance between the
// samples of the pool (Gretton et al., Section 8), in the unit of the data. Each pair of
// different rows counts once, also if the samples are equal. For an even number of pairs the
// median is the mean of the two middle distances. A median of 0 is an error, since a width must
// be positive: more than half of the pairs are then equal.
func (d *Distances) MedianWidth() (float64, error) {
	size := d.N + d.M
	pairs := make([]float64, 0, size*(size-1)/2)
	for i := range size {
		pairs = append(pairs, d.squared[i*size+i+1:(i+1)*size]...)
	}
	slices.Sort(pairs)
	width := (math.Sqrt(pairs[(len(pairs)-1)/2]) + math.Sqrt(pairs[len(pairs)/2])) / 2
	if width == 0 {
		return 0, fmt.Errorf("mmd: more than half of the pairs of samples are equal, so their median distance is 0; " +
			"choose a width")
	}
	return width, nil
}
