package tables

import (
	"tvps/data/statistics"

	"gonum.org/v1/gonum/floats"
)

// Interval is a mean difference with its 95% interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// intervals are estimates as the results show them.
func intervals(of []statistics.Estimate) []Interval {
	return collect(of, func(e statistics.Estimate) Interval { return Interval{e.Mean, e.Low, e.High} })
}

// blockBootstrap is [statistics.BlockBootstrap].
func blockBootstrap(diff [][]float64, rows []int, seed int64) (pointwise, simultaneous []Interval) {
	alone, together := statistics.BlockBootstrap(diff, rows, seed)
	return intervals(alone), intervals(together)
}

// Difference is the mean over rows of losses minus those of another rule, with its 95% interval: of each test block, in
// their order.
func Difference(losses, other []float64, rows []int, seed int64) Interval {
	d := make([]float64, len(losses))
	floats.SubTo(d, losses, other)
	alone, _ := blockBootstrap([][]float64{d}, rows, seed)
	return alone[0]
}
