package statistics

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MeanRanks are the ranks of the values, from 0, and how many values differ. Equal ones share their mean rank.
func MeanRanks(value []float64) (rank []float64, distinct int) {
	rank = make([]float64, len(value))
	order := make([]int, len(value))
	for i := range order {
		order[i] = i
	}
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

// RankCorrelation is Spearman's: Pearson's correlation of the mean ranks.
func RankCorrelation(a, b []float64) float64 {
	x, _ := MeanRanks(a)
	y, _ := MeanRanks(b)
	return stat.Correlation(x, y, nil)
}

// OfRankCorrelation are the intervals of a rank correlation r of n pairs,
//
//	tanh(artanh r ± z √((1 + r²/2) / (n - 3))),
//
// Fisher's with the variance of Bonett and Wright (2000); z is the (1+level)/2 quantile of the normal distribution.
func OfRankCorrelation(r float64, n int) Intervals {
	return func(level float64) Estimate {
		half := distuv.UnitNormal.Quantile((1+level)/2) * math.Sqrt((1+r*r/2)/float64(n-3))
		return Estimate{Mean: r, Low: math.Tanh(math.Atanh(r) - half), High: math.Tanh(math.Atanh(r) + half), N: n}
	}
}
