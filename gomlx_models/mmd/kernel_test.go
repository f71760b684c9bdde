package mmd

import (
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

// MMD2 agrees with its definition, for several widths, with and without weights, also on a scale whose
// sum overflows, on both backends.
func TestAgainstDefinition(t *testing.T) {
	x, y, wx, wy := weighted(0)
	huge := slices.Clone(wy)
	floats.Scale(5e306, huge)
	for _, backend := range []string{"", "go"} {
		d := must[*Distances](t)(computer(t, backend, 64, 3).Distances(t.Context(), x, y))
		for _, width := range []float64{.3, 1, 4} {
			k := must[*Kernel](t)(d.Kernel(width))
			for _, w := range [][4][]float64{
				{nil, nil, ones(20), ones(33)}, {wx, wy, wx, wy}, {nil, wy, ones(20), wy}, {wx, nil, wx, ones(33)},
				{wx, huge, wx, wy},
			} {
				near(t, backend, must[float64](t)(k.MMD2(w[0], w[1])), naive(x, y, 3, width, w[2], w[3]), 1e-13)
			}
		}
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
