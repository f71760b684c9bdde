package mmd

import (
	"fmt"
	"testing"

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
				if _, err := must[*Distances](b)(c.Distances(b.Context(), x, y)).Kernel(10); err != nil {
					b.Fatal(err)
				}
			}
			step() // compiles
			for b.Loop() {
				step()
			}
		})
	}
}

// BenchmarkStatistics times the computations that start from the distances or the kernel of 200
// and 2,000 samples.
func BenchmarkStatistics(b *testing.B) {
	rng := random.New(0, "benchmark")
	x, y := draw(rng, 200, 8, 0, 1), draw(rng, 2000, 8, 0, 1)
	d := must[*Distances](b)(computer(b, "", 2200, 8).Distances(b.Context(), x, y))
	k := must[*Kernel](b)(d.Kernel(1))
	for name, f := range map[string]func() (float64, error){
		"MedianWidth":      d.MedianWidth,
		"MMD2":             func() (float64, error) { return k.MMD2(nil, nil) },
		"999 permutations": func() (float64, error) { return k.PermutationTest(b.Context(), 999, 0) },
		"another width":    func() (float64, error) { _, err := d.Kernel(2); return 0, err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must[float64](b)(f())
			}
		})
	}
}
