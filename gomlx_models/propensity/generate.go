package propensity

import (
	"math/rand/v2"

	"tvps/data/random"
	"tvps/gomlx_models/loop"

	"github.com/gomlx/gomlx/core/tensors"
)

// Triplet is one row of Algorithm 1: a sample with two times. Its own time is T2 if Z is +1,
// and T1 if Z is -1.
type Triplet struct {
	Sample int   // position in the data
	T2, T1 int32 // indices of times
	Z      float32
}

// GenerateData is Algorithm 1: for each sample j a time t_r is drawn uniformly from the other
// times. With probability 1/2 each, the row is (x_j, t_j, t_r) with z = +1 or (x_j, t_r, t_j)
// with z = -1. time holds each sample's time as an index in 0..times-1; there must be at least
// two times.
func GenerateData(rng *rand.Rand, time []int32, times int) []Triplet {
	out := make([]Triplet, len(time))
	for j, own := range time {
		out[j] = triplet(rng, j, own, times)
	}
	return out
}

func triplet(rng *rand.Rand, sample int, own int32, times int) Triplet {
	other := otherTime(rng, own, times)
	if rng.Float64() >= .5 {
		return Triplet{sample, own, other, 1}
	}
	return Triplet{sample, other, own, -1}
}

// otherTime draws one of the times but the own one.
func otherTime(rng *rand.Rand, own int32, times int) int32 {
	other := int32(rng.IntN(times - 1))
	if other >= own {
		other++
	}
	return other
}

// triplets returns a function that draws the triplets of one training, in a new permutation for every epoch:
// Algorithm 2 calls GenerateData again for every pass over the data (line 5).
func triplets(rng *rand.Rand, time []int32, times int) func() Triplet {
	sample := random.Epochs(rng, len(time))
	return func() Triplet {
		j := sample()
		return triplet(rng, j, time[j], times)
	}
}

// standardTriplets returns a function that draws current samples (z = +1) and older ones (z = -1) alternately, so that
// both have the same weight, whatever their numbers are.
func standardTriplets(rng *rand.Rand, current, old []int) func() Triplet {
	isCurrent := false
	return func() Triplet {
		isCurrent = !isCurrent
		if isCurrent {
			return Triplet{Sample: current[rng.IntN(len(current))], Z: 1}
		}
		return Triplet{Sample: old[rng.IntN(len(old))], Z: -1}
	}
}

// feed packs triplets into the feeds of package loop: row, label, t2, t1 int32 and z float32,
// each [chunk, batch] (Algorithm 2, line 7).
func feed(s Samples, chunk, batch int, next func() Triplet) loop.Feed {
	return func(_, count int) []*tensors.Tensor {
		n := chunk * batch
		row, label, t2, t1 := make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
		z := make([]float32, n)
		for i := range count * batch {
			t := next()
			row[i], t2[i], t1[i], z[i] = s.Row[t.Sample], t.T2, t.T1, t.Z
			if s.Label != nil {
				label[i] = s.Label[t.Sample]
			}
		}
		out := make([]*tensors.Tensor, 0, 5)
		for _, v := range [][]int32{row, label, t2, t1} {
			out = append(out, tensors.FromFlatDataAndDimensions(v, chunk, batch))
		}
		return append(out, tensors.FromFlatDataAndDimensions(z, chunk, batch))
	}
}

// withRates adds the schedule's factors of the learning rate, [chunk], for a fit of so many updates.
func (s Schedule) withRates(feed loop.Feed, chunk, updates int) loop.Feed {
	if s != ScheduleCosine {
		return feed
	}
	return func(first, count int) []*tensors.Tensor {
		factors := make([]float32, chunk)
		for i := range count {
			factors[i] = float32(s.Factor(first+i, updates))
		}
		return append(feed(first, count), tensors.FromFlatDataAndDimensions(factors, chunk))
	}
}
