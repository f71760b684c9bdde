package tables

import (
	"math"
	"math/rand/v2"
)

// split holds the mean kernel between the chunks of two stretches, and which of them are dealt to the first.
type split struct {
	mean [][]float64
	n, m int
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
	var inside [2]float64
	between := 0.
	for i, a := range s.deal {
		row := s.mean[a]
		for j, b := range s.deal[:i] {
			switch {
			case i < s.n:
				inside[0] += row[b]
			case j >= s.n:
				inside[1] += row[b]
			default:
				between += row[b]
			}
		}
	}
	pairs := func(n int) float64 { return float64(n*(n-1)) / 2 }
	return inside[0]/pairs(s.n) + inside[1]/pairs(s.m) - 2*between/float64(s.n*s.m)
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
