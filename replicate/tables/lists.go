package tables

import (
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
)

// DropNegligible makes weights 0, in place, that are below a millionth of the largest of the first n: those of the rows
// that are learned from.
func DropNegligible(weight []float64, n int) {
	least := 1e-6 * slices.Max(weight[:n])
	for i, v := range weight {
		if v < least {
			weight[i] = 0
		}
	}
}

// Thin keeps n of the values, or all if they are fewer: one of each of n stretches.
func Thin[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return loop.Pick(list, random.Spread(random.New(0, "thin"), len(list), n))
}
