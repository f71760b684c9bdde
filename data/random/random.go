// Package random derives every stream of random numbers from (seed, purpose).
//
// No random number depends on the time, on a shared generator or on the order in which
// workers finish: the batch order of step 17 of seed 2, for example, has its own stream.
// The same run therefore draws the same numbers on any machine and with any number of
// workers.
package random

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// New returns the generator for a seed and a purpose. The parts of the purpose are
// formatted with %v and joined by "/": New(0, "batches", "everything", 17).
func New(seed int64, purpose ...any) *rand.Rand {
	h := sha256.New()
	fmt.Fprintf(h, "tvps/%d", seed)
	for _, p := range purpose {
		fmt.Fprintf(h, "/%v", p)
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}

// Seed derives a seed for code that itself calls New.
func Seed(seed int64, purpose ...any) int64 {
	return int64(New(seed, purpose...).Uint64() >> 1)
}

// Epochs returns a function that lists 0..n-1 again and again, for every pass in a new random order.
func Epochs(rng *rand.Rand, n int) func() int {
	var order []int
	return func() int {
		if len(order) == 0 {
			order = rng.Perm(n)
		}
		i := order[0]
		order = order[1:]
		return i
	}
}

// Spread returns k of the places 0..n-1, ascending: one of each of k stretches of about equal length. Places at regular
// distances would all be in step with what recurs at such a distance, as rows of two sensors that alternate. k: 1 to n.
func Spread(rng *rand.Rand, n, k int) []int {
	out := make([]int, k)
	for i := range out {
		from, to := i*n/k, (i+1)*n/k
		out[i] = from + rng.IntN(to-from)
	}
	return out
}
