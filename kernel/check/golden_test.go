package check

import (
	"math"
	"testing"
)

func TestBound(t *testing.T) {
	for _, c := range []struct {
		name          string
		bound         Bound
		golden, value float64
		want          bool
	}{
		{"absolute, at the limit", Bound{Absolute: .1}, .3, .4, true},
		{"absolute, beyond", Bound{Absolute: .1}, .3, .401, false},
		{"relative, at the limit", Bound{Relative: .1}, -200, -220, true},
		{"relative, beyond", Bound{Relative: .1}, -200, -221, false},
		{"relative to zero", Bound{Relative: .1}, 0, .01, false},
		{"both: the absolute allows more", Bound{Absolute: 1, Relative: .1}, 2, 2.9, true},
		{"both: the relative allows more", Bound{Absolute: 1, Relative: .1}, 200, 219, true},
		{"NaN", Bound{Absolute: 1}, 1, math.NaN(), false},
	} {
		if got := Within(c.value, c.golden, c.bound.Tolerance(c.golden)); got != c.want {
			t.Errorf("%s: within %t, want %t", c.name, got, c.want)
		}
	}
}
