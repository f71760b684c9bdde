// Package random derives every stream of random numbers from (seed, purpose).
//
// Nothing in this project draws from time, from a shared generator or from the
// order in which workers happen to finish: the batch order of step 17 of seed 2
// has a stream of its own, named by its purpose. The same run therefore gives the
// same numbers on any machine and with any number of workers.
package random

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// New returns the generator of one purpose under one seed. The purpose is
// formatted like fmt.Sprint of its parts joined by "/", for example
// New(0, "batches", "everything", 17).
func New(seed int64, purpose ...any) *rand.Rand {
	h := sha256.New()
	fmt.Fprintf(h, "tvps/%d", seed)
	for _, p := range purpose {
		fmt.Fprintf(h, "/%v", p)
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}

// Seed derives a seed for a part of the work that draws its own streams.
func Seed(seed int64, purpose ...any) int64 {
	return int64(New(seed, purpose...).Uint64() >> 1)
}
