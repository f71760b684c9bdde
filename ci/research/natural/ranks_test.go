package natural

import (
	"math"
	"testing"
)

// TestRankCorrelation: known values, and the interval by hand: .5493 +- 1.96 (1.125 / 10)^(1/2).
func TestRankCorrelation(t *testing.T) {
	r := rankCorrelation([]float64{1, 2, 3, 4}, []float64{10, 30, 20, 40})
	f := ofRankCorrelation(.5, 13)(.95)
	for _, x := range [][2]float64{{r, .8}, {f.Low, math.Tanh(.549306 - .657399)}, {f.High, math.Tanh(.549306 + .657399)}} {
		if math.Abs(x[0]-x[1]) > 1e-5 {
			t.Errorf("%g, want %g", x[0], x[1])
		}
	}
}
