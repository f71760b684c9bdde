package statistics

import (
	"math"
	"testing"

	"tvps/ci/demand"
)

// The quantiles 4.3027 (2 degrees of freedom), 12.7062 (1) and 2.7764 (4) are those of
// printed tables of Student's t at 97.5%.
func TestMeanInterval(t *testing.T) {
	for _, c := range []struct {
		values     []float64
		mean, half float64
	}{
		{[]float64{1, 2, 3}, 2, 4.302653 / math.Sqrt(3)},
		{[]float64{-1, 1}, 0, 12.706205}, // s = √2, so half = q·√2/√2
		{[]float64{0, 0, 0, 0, 5}, 1, 2.776445 * math.Sqrt(5) / math.Sqrt(5)},
		{[]float64{7, 7, 7}, 7, 0},
	} {
		e := MeanInterval(c.values)
		demand.Near(t, "mean", e.Mean, c.mean)
		demand.Near(t, "low", e.Low, c.mean-c.half)
		demand.Near(t, "high", e.High, c.mean+c.half)
		demand.Equal(t, e.N, len(c.values), "n")
	}
	demand.Equal(t, MeanInterval([]float64{0.3}), (Estimate{0.3, 0.3, 0.3, 1, false}), "one seed")
	demand.Equal(t, MeanInterval(nil), (Estimate{}), "no seeds")
}
