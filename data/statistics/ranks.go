package statistics

import (
	"cmp"
	"slices"

	"github.com/gomlx/gomlx/support/xslices"
)

// MeanRanks are the ranks of the values, from 0, and how many values differ. Equal ones share their mean rank.
func MeanRanks(value []float64) (rank []float64, distinct int) {
	rank = make([]float64, len(value))
	order := xslices.Iota(0, len(value))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(value[a], value[b]) })
	for from := 0; from < len(order); distinct++ {
		to := from + 1
		for to < len(order) && value[order[to]] == value[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			rank[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return rank, distinct
}
