package mmd

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend/backendtest"
)

// pValue is the p-value of two samples with the median width.
func pValue(t *testing.T, c *Computer, x, y []float32, permutations int, seed int64) float64 {
	t.Helper()
	d := must[*Distances](t)(c.Distances(t.Context(), x, y))
	k := must[*Kernel](t)(d.Kernel(must[float64](t)(d.MedianWidth())))
	return must[float64](t)(k.PermutationTest(t.Context(), permutations, seed))
}

// If both samples come from one distribution, the p-value is uniform: it is at most .05 in 5% of
// the draws, within 4 standard deviations of the binomial distribution, and Kolmogorov's
// statistic is below its quantile of .999.
func TestLevel(t *testing.T) {
	const draws, n, m, dim = 400, 12, 20, 2
	c := computer(t, "", n+m, dim)
	var p []float64
	rejected := 0
	for seed := range draws {
		rng := random.New(int64(seed), "level")
		x, y := draw(rng, n, dim, 1, 1), draw(rng, m, dim, 1, 1)
		if seed%2 == 1 {
			x, y = y, x // y is the smaller sample
		}
		p = append(p, pValue(t, c, x, y, 99, int64(seed)))
		if p[seed] <= .05 {
			rejected++
		}
	}
	near(t, "rejections at 5%", float64(rejected), .05*draws, 4*math.Sqrt(.05*.95*draws))
	slices.Sort(p)
	distance := 0.0
	for i, v := range p {
		// p takes the values .01, .02, ..., 1, each as likely as the others.
		distance = max(distance, v-.01-float64(i)/draws, float64(i+1)/draws-v)
	}
	if limit := 1.95 / math.Sqrt(draws); distance > limit {
		t.Errorf("the p-values are %.3f from uniform, the limit is %.3f", distance, limit)
	}
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

// Test gives the same results as its parts, with the documented defaults.
func TestTest(t *testing.T) {
	rng := random.New(0, "test")
	x, y := draw(rng, 40, 2, 0, 1), draw(rng, 30, 2, 1, 1)
	xla, inGo := backendtest.Open(t, "").Backend, backendtest.Open(t, "go").Backend
	got := must[Result](t)(Test(t.Context(), xla, x, y, 2, Options{}))
	d := must[*Distances](t)(computer(t, "", 70, 2).Distances(t.Context(), x, y))
	want := Result{Width: must[float64](t)(d.MedianWidth()), PValue: .001, N: 40, M: 30}
	want.MMD2 = must[float64](t)(must[*Kernel](t)(d.Kernel(want.Width)).MMD2(nil, nil))
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	other := must[Result](t)(Test(t.Context(), inGo, x, y, 2, Options{}))
	near(t, "MMD2 on the Go backend", other.MMD2, got.MMD2, 1e-12)
	near(t, "width on the Go backend", other.Width, got.Width, 1e-12)
	near(t, "p on the Go backend", other.PValue, got.PValue, 0)
	opts := Options{Width: .5, Permutations: 300, Seed: 3}
	chosen := must[Result](t)(Test(t.Context(), xla, x[:40], x[40:], 2, opts)) // no drift
	unbiased := naive(x[:40], x[40:], 2, .5, ones(20), ones(20))
	near(t, "MMD2 of a chosen width", chosen.MMD2, unbiased, 1e-12)
	k := kernel(t, x[:40], x[40:], 2, .5)
	near(t, "p of a chosen seed", chosen.PValue, must[float64](t)(k.PermutationTest(t.Context(), 300, 3)), 0)
	opts.Seed = 4
	if again := must[Result](t)(Test(t.Context(), xla, x[:40], x[40:], 2, opts)); again.PValue == chosen.PValue {
		t.Error("another seed gives the same p-value")
	}
}

func TestTestRefuses(t *testing.T) {
	b := backendtest.Open(t, "go").Backend
	two := []float32{1, 2}
	for name, test := range map[string]struct {
		x, y  []float32
		dim   int
		opts  Options
		words []string
	}{
		"no dimension": {two, two, 0, Options{}, []string{"of 0 values"}},
		"one sample":   {two, []float32{7}, 1, Options{}, []string{"two samples", "2 and 1"}},
		"width":        {two, two, 1, Options{Width: -1}, []string{"width -1", "positive"}},
		"all equal":    {[]float32{1, 1}, []float32{1, 1}, 1, Options{}, []string{"choose a width"}},
		"too many":     {make([]float32, 2*MaxCapacity), two, 2, Options{}, []string{"20001 samples", "subsets"}},
		"permutations": {two, []float32{3, 4}, 1, Options{Permutations: -1}, []string{"-1 permutations"}},
	} {
		_, err := Test(t.Context(), b, test.x, test.y, test.dim, test.opts)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, test.words...) })
	}
	k := kernel(t, two, []float32{7}, 1, 1)
	_, err := k.PermutationTest(t.Context(), 9, 0)
	demand.Error(t, err, "2 against 1 samples")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kernel(t, two, two, 1, 1).PermutationTest(ctx, 9, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
	if _, err := Test(ctx, b, two, two, 1, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Test after a cancellation: %v", err)
	}
}
