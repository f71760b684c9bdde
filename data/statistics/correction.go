package statistics

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Holm returns p-values adjusted by the step-down procedure of Holm (1979) for a family of tests, of which p holds the
// decided ones: the largest of p_j (family - rank of j) over all p_j up to each, at most 1.
func Holm(p []float64, family int) []float64 {
	order := ascending(p)
	out, most := make([]float64, len(p)), 0.
	for rank, i := range order {
		most = max(most, min(1, p[i]*float64(family-rank)))
		out[i] = most
	}
	return out
}

// BenjaminiHochberg returns p-values adjusted by the step-up procedure of Benjamini and Hochberg (1995): the least of
// p_j n / rank of j over all p_j from each on. The share of false ones among the tests with an adjusted p of at most q
// is expected to be at most q.
func BenjaminiHochberg(p []float64) []float64 {
	order := ascending(p)
	out, least := make([]float64, len(p)), 1.
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = min(least, p[i]*float64(len(order))/float64(rank))
		out[i] = least
	}
	return out
}

// ascending are the places of the p-values, from the smallest on.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	floats.ArgsortStable(slices.Clone(p), order)
	return order
}
