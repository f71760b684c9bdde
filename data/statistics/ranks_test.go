package statistics

import (
	"math"
	"slices"
	"testing"
)

// TestRankCorrelation: known values, and the interval by hand: .5493 +- 1.96 (1.125 / 10)^(1/2).
func TestRankCorrelation(t *testing.T) {
	r := RankCorrelation([]float64{1, 2, 3, 4}, []float64{10, 30, 20, 40})
	f := OfRankCorrelation(.5, 13)(.95)
	for _, x := range [][2]float64{{r, .8}, {f.Low, math.Tanh(.549306 - .657399)}, {f.High, math.Tanh(.549306 + .657399)}} {
		if math.Abs(x[0]-x[1]) > 1e-5 {
			t.Errorf("%g, want %g", x[0], x[1])
		}
	}
}

// TestMeanRanks: equal values share the mean of their ranks.
func TestMeanRanks(t *testing.T) {
	if rank, distinct := MeanRanks([]float64{5, 1, 5, 3, 5}); distinct != 3 || !slices.Equal(rank, []float64{3, 0, 3, 1, 3}) {
		t.Errorf("ranks %v of %d different values", rank, distinct)
	}
}
