package mmd

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
)

// One compiled program (a Computer allows no second one) gives the distances of samples of
// several sizes, asked for at the same time, equal to the naive sum, on both backends.
func TestDistances(t *testing.T) {
	const dim = 7
	for _, backend := range []string{"", "go"} {
		c := computer(t, backend, 40, dim)
		var wait sync.WaitGroup
		for _, size := range [][2]int{{25, 15}, {1, 1}, {3, 30}} {
			wait.Go(func() {
				pool := draw(random.New(0, "distances", size[0]), size[0]+size[1], dim, 1, 2)
				d, err := c.Distances(t.Context(), pool[:size[0]*dim], pool[size[0]*dim:])
				if err != nil || d.N != size[0] || d.M != size[1] {
					t.Errorf("%+v, want %v samples, %v", d, size, err)
					return
				}
				for i := range d.N + d.M {
					for j := range d.N + d.M {
						want := naiveSquared(pool, dim, i, j)
						near(t, backend+" squared distance", squared(d, i, j), want, 1e-12*(1+want))
					}
				}
			})
		}
		wait.Wait()
	}
}

// With a large offset float32 keeps only about two digits of the differences. The distances of
// these float32 values must be exact to ten digits.
func TestLargeOffset(t *testing.T) {
	const n, dim = 20, 30
	x := draw(random.New(0, "offset"), n, dim, 1e3, .01)
	d := must[*Distances](t)(computer(t, "", n, dim).Distances(t.Context(), x[:5*dim], x[5*dim:]))
	for i := range n {
		for j := range n {
			want := naiveSquared(x, dim, i, j)
			near(t, "squared distance", squared(d, i, j), want, 1e-10*want)
		}
	}
}

// Equal samples have distance exactly 0, wherever they are in the pool and whatever their norm.
func TestDuplicates(t *testing.T) {
	const n, dim = 60, 300
	x := draw(random.New(0, "duplicates"), n, dim, 50, 20)
	pool := append(slices.Clone(x), x...)
	d := must[*Distances](t)(computer(t, "", 2*n, dim).Distances(t.Context(), pool[:7*dim], pool[7*dim:]))
	for i := range n {
		demand.Equal(t, squared(d, i, i+n), 0, "samples %d and %d are equal but have the squared distance", i, i+n)
		if got := squared(d, i, (i+1)%n); got < 1000 {
			t.Errorf("sample %d and the next have the squared distance %g", i, got)
		}
	}
}

// The median equals that of a sorted list, for odd and even numbers of pairs, with ties and
// zeros.
func TestMedianWidth(t *testing.T) {
	for size := 2; size < 40; size++ {
		x := draw(random.New(int64(size), "median"), size, 2, 0, 1)
		if size%3 == 0 { // few values, some of them equal
			for i := range x {
				x[i] = float32(math.Round(float64(x[i])))
			}
		}
		var all []float64
		for i := range size {
			for j := range i {
				all = append(all, math.Sqrt(naiveSquared(x, 2, i, j)))
			}
		}
		slices.Sort(all)
		want := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		d := must[*Distances](t)(computer(t, "go", size, 2).Distances(t.Context(), x[:2], x[2:]))
		near(t, "median", must[float64](t)(d.MedianWidth()), want, 1e-12)
	}
}

func TestDistancesRefuse(t *testing.T) {
	_, err := New(nil, 10, 0)
	demand.Error(t, err, "mmd: 10 samples in all, of 0 values")
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	c := computer(t, "go", 4, 2)
	for name, test := range map[string]struct {
		x, y  []float32
		words []string
	}{
		"empty x":    {nil, []float32{1, 2}, []string{"x has 0 values"}},
		"empty y":    {[]float32{1, 2}, nil, []string{"y has 0 values"}},
		"other dims": {[]float32{1, 2}, []float32{1, 2, 3}, []string{"y has 3 values", "of 2 values"}},
		"NaN":        {[]float32{1, 2, 3, nan}, []float32{1, 2}, []string{"sample 1 of x", "coordinate 1", "NaN"}},
		"infinite":   {[]float32{1, 2}, []float32{inf, 2}, []string{"sample 0 of y", "coordinate 0", "-Inf"}},
		"too many":   {make([]float32, 6), make([]float32, 4), []string{"3 and 2 samples", "capacity of 4"}},
	} {
		_, err := c.Distances(t.Context(), test.x, test.y)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, test.words...) })
	}
	if _, err := c.Distances(demand.Cancelled(), []float32{1, 2}, []float32{1, 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
	_, err = New(backend.ForTest(t, "go").Backend, maxCapacity+1, 1)
	demand.Error(t, err, "20001 samples", "subsets")
	d := must[*Distances](t)(c.Distances(t.Context(), []float32{1, 2, 1, 2}, []float32{1, 2}))
	_, err = d.MedianWidth()
	demand.Error(t, err, "pairs of samples are equal", "choose a width")
	for _, width := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-200, 1e200} {
		_, err := d.Kernel(width)
		demand.Error(t, err, "width", "positive")
	}
	c.Close()
	_, err = c.Distances(t.Context(), []float32{1, 2}, []float32{1, 2})
	demand.Error(t, err, "mmd: used after Close")
}
