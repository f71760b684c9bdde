package mmd

import (
	"context"
	"errors"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
)

// pValue is the p-value of two samples with the median width.
func pValue(t *testing.T, c *Computer, x, y []float32, permutations int, seed int64) float64 {
	t.Helper()
	d := must[*Distances](t)(c.Distances(t.Context(), x, y))
	k := must[*Kernel](t)(d.Kernel(must[float64](t)(d.MedianWidth())))
	return must[float64](t)(k.PermutationTest(t.Context(), permutations, seed))
}

// With many permutations p converges to the share of divisions whose statistic is at least the
// observed one. For a small pool this share is counted over all divisions, with either sample as the smaller one.
func TestAgainstAllDivisions(t *testing.T) {
	pool := []float32{.1, .35, .8, 1.3, .4, 2.2, 1.1, .75}
	const n, permutations = 3, 20000
	k, swapped := kernel(t, pool[:n], pool[n:], 1, .7), kernel(t, pool[n:], pool[:n], 1, .7)
	observed := must[float64](t)(k.MMD2(nil, nil))
	asLarge, all := 0, 0
	for a := range pool {
		for b := range a {
			for c := range b {
				var x, y []float32
				for i, v := range pool {
					if i == a || i == b || i == c {
						x = append(x, v)
					} else {
						y = append(y, v)
					}
				}
				d := naive(x, y, 1, .7, ones(n), ones(len(pool)-n))
				if all++; d >= observed-1e-12 {
					asLarge++
				}
			}
		}
	}
	want := float64(asLarge) / float64(all)
	if want < .05 || want > .3 {
		t.Fatalf("the example has p = %g, want between .05 and .3", want)
	}
	for _, k := range []*Kernel{k, swapped} {
		p := must[float64](t)(k.PermutationTest(t.Context(), permutations, 0))
		near(t, "p", p, want, 4*math.Sqrt(want*(1-want)/permutations))
	}
}

// Divisions with the same statistic are ties, in spite of rounding: all divisions of equal
// samples, and a division with x and y exchanged.
func TestTies(t *testing.T) {
	same := kernel(t, []float32{5, 5, 5}, []float32{5, 5, 5, 5}, 1, 1)
	near(t, "p of equal samples", must[float64](t)(same.PermutationTest(t.Context(), 50, 0)), 1, 0)
	// Of four samples in two distant clusters, 2 of 6 divisions separate the clusters: the
	// observed one and the one with x and y exchanged, whose statistic can differ in the last bit.
	const permutations = 2000
	for seed := range int64(10) {
		rng := random.New(seed, "ties")
		clusters := kernel(t, draw(rng, 2, 1, 0, .3), draw(rng, 2, 1, 4, .3), 1, 1)
		p := must[float64](t)(clusters.PermutationTest(t.Context(), permutations, 0))
		near(t, "p of two clusters", p, 1./3, 4*math.Sqrt(2./9/permutations))
	}
}

// The p-value depends on the seed, not on the backend.
func TestPermutationTest(t *testing.T) {
	x := draw(random.New(0, "test"), 40, 2, 0, 1)
	xla, inGo := computer(t, "", 40, 2), computer(t, "go", 40, 2)
	p := pValue(t, xla, x[:40], x[40:], 300, 3)
	near(t, "p on the Go backend", pValue(t, inGo, x[:40], x[40:], 300, 3), p, 0)
	if pValue(t, xla, x[:40], x[40:], 300, 4) == p {
		t.Error("another seed gives the same p-value")
	}
}

func TestPermutationTestRefuses(t *testing.T) {
	k := kernel(t, []float32{1, 2}, []float32{7, 8}, 1, 1)
	_, err := kernel(t, []float32{1, 2}, []float32{7}, 1, 1).PermutationTest(t.Context(), 9, 0)
	demand.Error(t, err, "2 against 1 samples")
	if _, err := k.PermutationTest(demand.Cancelled(), 9, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
}
