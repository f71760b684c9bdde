package tables

import (
	"cmp"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"

	"github.com/gomlx/gomlx/support/xslices"
)

// mixed returns a place for each row if the rows of each time are sorted by y, otherwise nil: in the order of time,
// those of one time mixed at random, but those of one time and y in order.
func mixed(time []int32, y func(row int) float64) []float64 {
	byTime := func(a, b int) int { return cmp.Compare(time[a], time[b]) }
	byY := func(a, b int) int { return cmp.Or(byTime(a, b), cmp.Compare(y(a), y(b))) }
	rows := xslices.Iota(0, len(time))
	slices.SortStableFunc(rows, byTime)
	if !sortedInside(xslices.Map(rows, y), loop.Pick(time, rows)) {
		return nil
	}
	drawn, places := random.New(0, "order of equal times").Perm(len(time)), xslices.Iota(0, len(time))
	slices.SortStableFunc(drawn, byTime)
	slices.SortStableFunc(places, func(a, b int) int { return byY(drawn[a], drawn[b]) })
	slices.SortStableFunc(rows, byY)
	out := make([]float64, len(time))
	for i, row := range rows {
		out[row] = float64(places[i])
	}
	return out
}

// sortedInside says whether values are sorted in one direction at 19 in 20 of the times that have different ones, which
// is rare by chance: n rows have n different orders at least, and of all times 1,000. Most of these times have to begin
// below the end of the one before: otherwise the values just grow. time: of each, ascending.
func sortedInside(values []float64, time []int32) bool {
	for _, sign := range []float64{1, -1} {
		differ, sorted, grow, orders, last := 0, 0, 0, 0.0, math.Inf(1)
		for from, to := 0, 0; from < len(time); from = to {
			for to = from; to < len(time) && time[to] == time[from]; {
				to++
			}
			if to-from == 1 {
				continue
			}
			v := xslices.Map(values[from:to], func(x float64) float64 { return sign * x })
			if slices.Min(v) == slices.Max(v) {
				continue
			}
			if differ++; last <= v[0] {
				grow++
			}
			if last = v[len(v)-1]; slices.IsSorted(v) {
				sorted, orders = sorted+1, orders+math.Log(float64(len(v)))
			}
		}
		if orders > math.Log(1000) && 20*sorted >= 19*differ && 2*grow < differ {
			return true
		}
	}
	return false
}
