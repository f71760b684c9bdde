package statistics

import (
	"math"
	"testing"
)

// TestCorrections against p.adjust of R: c(.01, .04, .03, .005), and for Holm with n = 6.
func TestCorrections(t *testing.T) {
	p := []float64{.01, .04, .03, .005}
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"Holm", Holm(p, 4), []float64{.03, .06, .06, .02}},
		{"Holm in a family of 6", Holm(p, 6), []float64{.05, .12, .12, .03}},
		{"Benjamini and Hochberg", BenjaminiHochberg(p), []float64{.02, .04, .04, .02}},
	} {
		for i, want := range c.want {
			if math.Abs(c.got[i]-want) > 1e-12 {
				t.Errorf("%s: p = %v becomes %v, want %v", c.name, p[i], c.got[i], want)
			}
		}
	}
}
