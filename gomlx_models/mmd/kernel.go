package mmd

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Kernel holds k(a, b) = exp(-|a-b|^2 / (2 width^2)) for all samples of a pool: x in rows 0 to
// N-1, y in rows N to N+M-1.
type Kernel struct {
	N, M   int
	values []float64 // [N+M, N+M], symmetric, 1 on the diagonal
}

// Kernel returns the kernel of this width, in the unit of the data. If the width is far below
// MedianWidth, k is near 0 for all pairs of samples; if it is far above, k is near 1. In both
// cases MMD2 is near 0 for all samples. A width that is not positive and finite, or whose square
// is too small or too large for float64, is an error.
func (d *Distances) Kernel(width float64) (*Kernel, error) {
	scale := -1 / (2 * width * width)
	if !(width > 0) || scale == 0 || math.IsInf(scale, 0) {
		return nil, fmt.Errorf("mmd: the kernel's width %g is out of range; "+
			"choose a positive, finite width on the scale of the distances between samples", width)
	}
	size := d.N + d.M
	k := &Kernel{N: d.N, M: d.M, values: make([]float64, size*size)}
	for i := range size {
		k.values[i*size+i] = 1
		for j := i + 1; j < size; j++ {
			v := math.Exp(scale * d.squared[i*size+j])
			k.values[i*size+j], k.values[j*size+i] = v, v
		}
	}
	return k, nil
}

// MMD2 is the unbiased estimate of MMD^2. With weights u_i of the samples x_i and v_j of the
// samples y_j, where u is wx divided by its sum and v is wy divided by its sum,
//
//	MMD2 = sum_{i != i'} u_i u_i' k(x_i, x_i') / (1 - sum_i u_i^2)
//	     + sum_{j != j'} v_j v_j' k(y_j, y_j') / (1 - sum_j v_j^2)
//	     - 2 sum_{i, j} u_i v_j k(x_i, y_j).
//
// nil means equal weights. With both nil this is the U-statistic of Gretton et al., Lemma 6. It
// is unbiased for weights that do not depend on the samples, and often negative if p = q. With
// importance weights v_j = omega(y_j) it estimates the MMD^2 between p and omega q, normalised.
// Since the weights are divided by their own sum, it then has a bias of order 1/m, and its
// variance is that of a smaller sample (propensity.EffectiveSampleSize).
//
// It fails if a length differs from the number of samples, if weights are negative, NaN,
// infinite or all 0, and if x or y has fewer than two samples of positive weight.
func (k *Kernel) MMD2(wx, wy []float64) (float64, error) {
	x, err := normalise("x", wx, k.N)
	if err != nil {
		return 0, err
	}
	y, err := normalise("y", wy, k.M)
	if err != nil {
		return 0, err
	}
	if x.pairs == 0 || y.pairs == 0 {
		return 0, fmt.Errorf("mmd: the unbiased estimate needs two samples of positive weight in x and in y (of %d and %d)",
			k.N, k.M)
	}
	size := k.N + k.M
	xx, yy, xy := 0.0, 0.0, 0.0
	for i, w := range x.w {
		row := k.values[i*size : (i+1)*size]
		xx += 2 * w * floats.Dot(x.w[i+1:], row[i+1:k.N])
		xy += w * floats.Dot(y.w, row[k.N:])
	}
	for j, w := range y.w {
		row := k.values[(k.N+j)*size : (k.N+j+1)*size]
		yy += 2 * w * floats.Dot(y.w[j+1:], row[k.N+j+1:])
	}
	return xx/x.pairs + yy/y.pairs - 2*xy, nil
}

// weights holds normalised weights of one set of samples.
type weights struct {
	w     []float64 // sum to 1
	pairs float64   // sum of w_i w_j over i != j; 1 - sum_i w_i^2 would lose digits if one w_i is near 1
}

// normalise divides the weights w of n samples by their sum; nil means equal weights.
func normalise(name string, w []float64, n int) (weights, error) {
	out := weights{w: make([]float64, n)}
	switch {
	case w == nil:
		floats.AddConst(1, out.w)
	case len(w) != n:
		return weights{}, fmt.Errorf("mmd: %s has %d samples but %d weights", name, n, len(w))
	default:
		copy(out.w, w)
	}
	for i, v := range out.w {
		if !(v >= 0) || math.IsInf(v, 0) {
			return weights{}, fmt.Errorf("mmd: the weight of sample %d of %s is %v; weights must be finite and not negative",
				i, name, v)
		}
	}
	top := floats.Max(out.w)
	if top == 0 {
		return weights{}, fmt.Errorf("mmd: all weights of %s are 0", name)
	}
	for i := range out.w {
		out.w[i] /= top // so that the sum does not overflow
	}
	floats.Scale(1/floats.Sum(out.w), out.w)
	rest := 0.0
	for _, v := range out.w {
		out.pairs += 2 * v * rest
		rest += v
	}
	return out, nil
}
