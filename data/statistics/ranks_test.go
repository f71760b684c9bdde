package statistics

import (
	"slices"
	"testing"
)

// TestMeanRanks: equal values share the mean of their ranks.
func TestMeanRanks(t *testing.T) {
	if rank, distinct := MeanRanks([]float64{5, 1, 5, 3, 5}); distinct != 3 || !slices.Equal(rank, []float64{3, 0, 3, 1, 3}) {
		t.Errorf("ranks %v of %d different values", rank, distinct)
	}
}
