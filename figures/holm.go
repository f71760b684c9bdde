package figures

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Holm returns p-values adjusted by the step-down procedure of Holm (1979) for a family of tests, of which p holds the
// decided ones: the largest of p_j (family - rank of j) over all p_j up to each, at most 1.
func Holm(p []float64, family int) []float64 {
	order := make([]int, len(p))
	floats.ArgsortStable(slices.Clone(p), order)
	out, most := make([]float64, len(p)), 0.
	for rank, i := range order {
		most = max(most, min(1, p[i]*float64(family-rank)))
		out[i] = most
	}
	return out
}
