package tables

import (
	"math"
	"math/rand/v2"
)

// split holds the mean kernel between the chunks of two stretches, and which of them are dealt to the first.
type split struct {
	mean [][]float64
	n, m int   // numbers of chunks
	deal []int // the first n chunks make up one stretch, the others the other
}

func newSplit(at func(a, b int) float64, chunk []int, n, m int) *split {
	s := &split{n: n, m: m, mean: make([][]float64, n+m), deal: make([]int, n+m)}
	sizes := make([]float64, n+m)
	for _, c := range chunk {
		sizes[c]++
	}
	for c := range s.mean {
		s.mean[c], s.deal[c] = make([]float64, n+m), c
	}
	for i, c := range chunk {
		for j := range i {
			v := at(i, j) / (sizes[c] * sizes[chunk[j]])
			s.mean[c][chunk[j]] += v
			if c != chunk[j] {
				s.mean[chunk[j]][c] += v
			}
		}
	}
	return s
}

// mmd2 is the unbiased estimate of the squared maximum mean discrepancy over pairs of different chunks.
func (s *split) mmd2() float64 {
	first, second, between := s.deal[:s.n], s.deal[s.n:], 0.
	for _, a := range second {
		for _, b := range first {
			between += s.mean[a][b]
		}
	}
	return s.within(first) + s.within(second) - 2*between/float64(s.n*s.m)
}

// within is the mean over pairs of different chunks.
func (s *split) within(chunks []int) (mean float64) {
	pairs := float64(len(chunks)*(len(chunks)-1)) / 2
	for i, a := range chunks {
		for _, b := range chunks[:i] {
			mean += s.mean[a][b]
		}
	}
	return mean / pairs
}

// p is (1 + shuffles whose statistic is at least the real one) / (1 + shuffles). After 100 such shuffles no more are
// made, which leaves the p-value valid (Besag and Clifford 1991).
func (s *split) p(rng *rand.Rand) float64 {
	real := s.mmd2()
	tie := 1e-12 * (math.Abs(real) + 1)
	large := 0
	for i := 1; i <= shuffles; i++ {
		rng.Shuffle(len(s.deal), func(a, b int) { s.deal[a], s.deal[b] = s.deal[b], s.deal[a] })
		if s.mmd2() >= real-tie {
			if large++; large == 100 {
				return float64(large) / float64(i)
			}
		}
	}
	return float64(1+large) / float64(1+shuffles)
}
