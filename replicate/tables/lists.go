package tables

import (
	"tvps/data/random"
	"tvps/gomlx_models/loop"
)

// Thin keeps n of the values, or all if they are fewer: one of each of n stretches.
func Thin[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return loop.Pick(list, random.Spread(random.New(0, "thin"), len(list), n))
}
