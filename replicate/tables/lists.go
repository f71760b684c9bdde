package tables

import (
	"tvps/data/random"
	"tvps/gomlx_models/loop"

	"gonum.org/v1/gonum/floats"
)

// Negligible is the weight, relative to the largest, below which a row has none.
const Negligible = 1e-6

// TrainerWeights makes weights, in place, those that a trainer gets: negligible ones are 0, and the others have mean 1,
// however many rows have none, as a penalty of the trainer counts next to their sum. The first so many rows are learned
// from: the scale is theirs.
func TrainerWeights(weight []float64, learned int) {
	least, n := Negligible*floats.Max(weight[:learned]), 0
	for i, v := range weight {
		if v < least {
			weight[i] = 0
		}
		if i < learned && weight[i] > 0 {
			n++
		}
	}
	floats.Scale(float64(n)/floats.Sum(weight[:learned]), weight)
}

// Thin keeps n of the values, or all if they are fewer: one of each of n stretches.
func Thin[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return loop.Pick(list, random.Spread(random.New(0, "thin"), len(list), n))
}
