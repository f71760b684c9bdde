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
// It is 0 if and only if p = q. Test answers "has my data drifted?" in one call. Its parts are
// a Computer, which computes the pairwise Distances of two samples in one compiled program for
// all sample sizes; Distances, from which Kernels of any width follow; and a Kernel, which
// gives every statistic.
package mmd

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/compute"
)

// Options adjusts Test. The zero value uses the median heuristic and 999 permutations.
type Options struct {
	Width        float64 // of the kernel, in the unit of the data; 0 for Distances.MedianWidth
	Permutations int     // number of permutations, 0 for 999; the smallest p-value is 1 / (1 + Permutations)
	Seed         int64   // of the permutations
}

// Result is the outcome of Test.
type Result struct {
	MMD2   float64 // unbiased estimate of MMD^2, can be negative; see Kernel.MMD2
	Width  float64 // of the kernel
	PValue float64 // of the hypothesis that both samples come from one distribution
	N, M   int     // number of samples in x and in y
}

// Test compares the samples x [n, dim] and y [m, dim], stored sample after sample. It computes
// the unbiased MMD^2 and the p-value of the permutation test (see Kernel.PermutationTest, which
// says when it is valid). Distances add the squares of all coordinates, so scale the data first
// if their units differ.
//
// It fails if x or y has fewer than two samples or both have more than MaxCapacity, a length is
// not a multiple of dim, a value is NaN or infinite, the width is negative or not finite, the
// median distance is 0 and no width is given, Permutations is negative, ctx is cancelled, or the
// backend fails.
func Test(ctx context.Context, backend compute.Backend, x, y []float32, dim int, opts Options) (Result, error) {
	c, err := New(backend, max(2, (len(x)+len(y))/max(1, dim)), dim)
	if err != nil {
		return Result{}, err
	}
	defer c.Close()
	d, err := c.Distances(ctx, x, y)
	if err != nil {
		return Result{}, err
	}
	if opts.Width == 0 {
		if opts.Width, err = d.MedianWidth(); err != nil {
			return Result{}, err
		}
	}
	if opts.Permutations == 0 {
		opts.Permutations = 999
	}
	k, err := d.Kernel(opts.Width)
	if err != nil {
		return Result{}, err
	}
	mmd2, err := k.MMD2(nil, nil)
	if err != nil {
		return Result{}, err
	}
	p, err := k.PermutationTest(ctx, opts.Permutations, opts.Seed)
	if err != nil {
		return Result{}, err
	}
	return Result{MMD2: mmd2, Width: opts.Width, PValue: p, N: d.N, M: d.M}, nil
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
