package mmd

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"

	"gonum.org/v1/gonum/floats"
)

// weighted returns samples of different sizes and unequal weights, the first ones 0.
func weighted(seed int64) (x, y []float32, wx, wy []float64) {
	rng := random.New(seed, "weighted")
	x, y = draw(rng, 20, 3, 0, 1), draw(rng, 33, 3, .4, 1.3)
	wx, wy = make([]float64, 20), make([]float64, 33)
	for _, w := range [][]float64{wx, wy} {
		for i := 1; i < len(w); i++ {
			w[i] = 5 * rng.ExpFloat64()
		}
	}
	return x, y, wx, wy
}

// MMD2 agrees with its definition, for several widths, with and without weights, on both backends.
func TestAgainstDefinition(t *testing.T) {
	x, y, wx, wy := weighted(0)
	for _, backend := range []string{"", "go"} {
		d := must[*Distances](t)(computer(t, backend, 64, 3).Distances(t.Context(), x, y))
		for _, width := range []float64{.3, 1, 4} {
			k := must[*Kernel](t)(d.Kernel(width))
			for _, w := range [][4][]float64{
				{nil, nil, ones(20), ones(33)}, {wx, wy, wx, wy}, {nil, wy, ones(20), wy}, {wx, nil, wx, ones(33)},
			} {
				near(t, backend, must[float64](t)(k.MMD2(w[0], w[1])), naive(x, y, 3, width, w[2], w[3]), 1e-13)
			}
		}
	}
}

// The same with many dimensions, where rounding errors could be visible.
func TestAgainstDefinitionHighDimension(t *testing.T) {
	rng := random.New(0, "high")
	x, y := draw(rng, 50, 500, 3, 1), draw(rng, 150, 500, 3.05, 1)
	width := math.Sqrt(1000)
	want := naive(x, y, 500, width, ones(50), ones(150))
	d := must[*Distances](t)(computer(t, "", 256, 500).Distances(t.Context(), x, y))
	k := must[*Kernel](t)(d.Kernel(width))
	near(t, "MMD2", must[float64](t)(k.MMD2(nil, nil)), want, 1e-12)
}

func TestInvariances(t *testing.T) {
	x, y, wx, wy := weighted(1)
	k := kernel(t, x, y, 3, 1)
	want := must[float64](t)(k.MMD2(wx, wy))
	same := func(what string, x, y []float32, wx, wy []float64) {
		t.Helper()
		k := kernel(t, x, y, 3, 1)
		near(t, what, must[float64](t)(k.MMD2(wx, wy)), want, 1e-13)
	}
	same("x and y exchanged", y, x, wy, wx)
	same("samples of weight 0 added", append(slices.Clone(x), 9, 9, 9), append([]float32{0, 0, 0}, y...),
		append(slices.Clone(wx), 0), append([]float64{0}, wy...))
	huge := slices.Clone(wy)
	floats.Scale(1e307, huge)
	same("weights of another scale", x, y, wx, huge)
	var mixed []float32
	var w []float64
	for _, i := range random.New(0, "order").Perm(20) {
		mixed, w = append(mixed, x[3*i:3*i+3]...), append(w, wx[i])
	}
	same("another order", mixed, y, w, wy)
}

// The mean of the unbiased estimate over many draws is the population's MMD^2, for equal and for
// different distributions.
func TestUnbiased(t *testing.T) {
	const draws, n, m = 60, 60, 90
	for i, c := range []struct {
		dim                int
		shift, s1, s2, wid float64
	}{
		{1, 0, 1, 1, 1}, {1, .7, 1, 1, 1}, {1, .7, 1, 1, .3}, {2, .5, 1, 1.5, 2}, {20, .2, 1, 1, 5},
		{20, 0, 1, 1, 5}, {3, 0, .5, 1, 1},
	} {
		values := make([]float64, draws)
		computer := computer(t, "", n+m, c.dim)
		for seed := range draws {
			rng := random.New(int64(seed), "unbiased", i)
			x, y := draw(rng, n, c.dim, 0, c.s1), draw(rng, m, c.dim, c.shift, c.s2)
			d := must[*Distances](t)(computer.Distances(t.Context(), x, y))
			values[seed] = must[float64](t)(must[*Kernel](t)(d.Kernel(c.wid)).MMD2(nil, nil))
		}
		mean, se := summary(values)
		want := gaussianMMD2(c.dim, c.shift*c.shift*float64(c.dim), c.s1, c.s2, c.wid)
		near(t, fmt.Sprintf("mean of MMD2 of %+v", c), mean, want, 4*se)
		if se > .01 {
			t.Errorf("%+v: the standard error %g is too large to decide", c, se)
		}
	}
}

// With importance weights omega = p/q the samples of q represent p: the mean of the weighted
// MMD2 is 0, that of the raw one is the closed form.
func TestImportanceWeights(t *testing.T) {
	const draws, n, shift, width = 60, 300, .7, 1
	var raw, corrected []float64
	computer := computer(t, "", 2*n, 1)
	for seed := range draws {
		rng := random.New(int64(seed), "importance")
		x, y := draw(rng, n, 1, shift, 1), draw(rng, n, 1, 0, 1)
		omega := make([]float64, n)
		for i, v := range y {
			omega[i] = math.Exp(shift * (float64(v) - shift/2))
		}
		k := must[*Kernel](t)(must[*Distances](t)(computer.Distances(t.Context(), x, y)).Kernel(width))
		raw = append(raw, must[float64](t)(k.MMD2(nil, nil)))
		corrected = append(corrected, must[float64](t)(k.MMD2(nil, omega)))
	}
	mean, se := summary(raw)
	closed := gaussianMMD2(1, shift*shift, 1, 1, width)
	near(t, "raw MMD2", mean, closed, 4*se)
	mean, se = summary(corrected)
	near(t, "weighted MMD2", mean, 0, 4*se)
	if se > closed/50 {
		t.Errorf("the standard error %g is too large to decide, against MMD^2 %g", se, closed)
	}
}

func TestWeightsRefused(t *testing.T) {
	k := kernel(t, []float32{1, 2, 3}, []float32{4, 5}, 1, 1)
	for name, test := range map[string]struct {
		wx, wy []float64
		words  []string
	}{
		"too few":  {[]float64{1, 1}, nil, []string{"x has 3 samples but 2 weights"}},
		"none":     {nil, []float64{}, []string{"y has 2 samples but 0 weights"}},
		"negative": {nil, []float64{1, -1}, []string{"sample 1 of y", "-1", "not negative"}},
		"NaN":      {[]float64{math.NaN(), 1, 1}, nil, []string{"sample 0 of x", "NaN"}},
		"infinite": {[]float64{1, math.Inf(1), 1}, nil, []string{"sample 1 of x", "Inf", "finite"}},
		"zero":     {nil, []float64{0, 0}, []string{"all weights of y are 0"}},
	} {
		_, err := k.MMD2(test.wx, test.wy)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, test.words...) })
	}
	_, err := k.MMD2([]float64{0, 1, 0}, nil)
	demand.Error(t, err, "two samples of positive weight")
}
