package mmd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.12g, want %.12g within %.3g", what, got, want, tolerance)
	}
}

// must fails the test on an error: must[T](t)(f()).
func must[T any](tb testing.TB) func(T, error) T {
	return func(v T, err error) T {
		tb.Helper()
		demand.NoError(tb, err)
		return v
	}
}

// computer returns a Computer on the named backend, "" for the default one.
func computer(tb testing.TB, engine string, capacity, dim int) *Computer {
	c := must[*Computer](tb)(New(backend.ForTest(tb, engine).Backend, capacity, dim))
	tb.Cleanup(c.Close)
	return c
}

// kernel is the kernel of x and y, computed on the Go backend, which needs no compilation.
func kernel(tb testing.TB, x, y []float32, dim int, width float64) *Kernel {
	tb.Helper()
	d := must[*Distances](tb)(computer(tb, "go", (len(x)+len(y))/dim, dim).Distances(tb.Context(), x, y))
	return must[*Kernel](tb)(d.Kernel(width))
}

// draw returns n samples of a normal distribution in dim coordinates, each with mean mu and
// standard deviation s.
func draw(rng *rand.Rand, n, dim int, mu, s float64) []float32 {
	out := make([]float32, n*dim)
	for i := range out {
		out[i] = float32(mu + s*rng.NormFloat64())
	}
	return out
}

// naiveSquared is |a-b|^2 of rows i and j of x, summed in float64.
func naiveSquared(x []float32, dim, i, j int) float64 {
	sum := 0.0
	for k := range dim {
		z := float64(x[i*dim+k]) - float64(x[j*dim+k])
		sum += z * z
	}
	return sum
}

// squared is |a-b|^2 of rows i and j of the pool.
func squared(d *Distances, i, j int) float64 { return d.squared[i*(d.N+d.M)+j] }

// naive computes MMD2 from its definition.
func naive(x, y []float32, dim int, width float64, wx, wy []float64) float64 {
	pool, n := append(append([]float32{}, x...), y...), len(x)/dim
	// index 0: within x, 1: within y, 2: between them
	var pairs, sums [3]float64 // of weights over pairs of different samples, and of the weighted kernel
	weight := func(i int) (w float64, group int) {
		if i < n {
			return wx[i], 0
		}
		return wy[i-n], 1
	}
	for i := range len(pool) / dim {
		for j := range len(pool) / dim {
			wi, group := weight(i)
			wj, other := weight(j)
			if group != other {
				group = 2
			}
			if i != j {
				k := wi * wj * math.Exp(-naiveSquared(pool, dim, i, j)/(2*width*width))
				sums[group], pairs[group] = sums[group]+k, pairs[group]+wi*wj
			}
		}
	}
	return sums[0]/pairs[0] + sums[1]/pairs[1] - 2*sums[2]/pairs[2]
}

// ones is n equal weights.
func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }
