package mmd

import (
	"fmt"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
)

// BenchmarkKernel times distances and kernel of 200 samples of p_t and 2,000 of p_old, on
// features (128 values) and on the pixels of CIFAR-10 (3,072).
func BenchmarkKernel(b *testing.B) {
	for _, dim := range []int{128, 3072} {
		b.Run(fmt.Sprintf("2200x%d", dim), func(b *testing.B) {
			rng := random.New(0, "benchmark")
			x, y := draw(rng, 200, dim, 0, 1), draw(rng, 2000, dim, 0, 1)
			c := computer(b, "", 2200, dim)
			step := func() {
				_, err := must[*Distances](b)(c.Distances(b.Context(), x, y)).Kernel(10)
				demand.NoError(b, err)
			}
			step() // compiles
			for b.Loop() {
				step()
			}
		})
	}
}
