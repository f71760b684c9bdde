package mmd

import (
	"context"
	"fmt"
	"slices"

	"tvps/data/random"

	"github.com/gomlx/gomlx/support/xslices"
)

// PermutationTest returns the p-value of the hypothesis that all samples of x and y are
// exchangeable, as they are if they were drawn independently from one distribution:
//
//	p = (1 + number of permutations with MMD2 >= the observed) / (1 + permutations),
//
// where a permutation divides the pooled samples at random into N and M samples. Under the
// hypothesis P(p <= a) <= a for every sample size and any number of permutations, also with
// MedianWidth, which does not depend on the division. The test requires independent samples:
// near duplicates such as frames of one film make p too small.
//
// There is no test with weights. Under the hypothesis that the weights turn q into p, x and y
// still come from two distributions and are not exchangeable. A permutation test, with or
// without their weights, would not have its nominal level, even less if the weights were fitted
// to the same samples. To test known weights w <= max, keep each y with probability
// w(y) / max: the remaining samples are independent samples of the weighted distribution, and
// this test is valid for them.
//
// The time is proportional to permutations * min(N, M)^2. It fails if x or y has fewer than two
// samples, or ctx is cancelled.
func (k *Kernel) PermutationTest(ctx context.Context, permutations int, seed int64) (float64, error) {
	if k.N < 2 || k.M < 2 {
		return 0, fmt.Errorf("mmd: a test of %d against %d samples; it needs at least 2 of each", k.N, k.M)
	}
	s := k.newSplit()
	order := xslices.Iota(0, k.N+k.M)
	first := order[:k.N] // x, or y if it is the smaller sample
	if k.M < k.N {
		first = order[k.N:]
	}
	observed := s.mmd2(first)
	rng := random.New(seed, "mmd", "permutations")
	part := make([]int, len(first))
	asLarge := 1 // divisions with a statistic at least as large as the observed one
	for range permutations {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for i := range part {
			j := i + rng.IntN(len(order)-i)
			order[i], order[j] = order[j], order[i]
		}
		copy(part, order)
		slices.Sort(part) // in the order of the matrix
		if s.mmd2(part) >= observed-s.tie {
			asLarge++
		}
	}
	return float64(asLarge) / float64(1+permutations), nil
}

// split computes MMD2 for divisions of the pool into a part of small samples and the rest. For
// each division it sums only the kernel inside the part, small^2 / 2 values.
type split struct {
	k            *Kernel
	small, large float64   // sizes of the part and of the rest
	row          []float64 // sum of each row of the kernel without its diagonal
	total        float64   // sum over all unordered pairs of different samples
	tie          float64   // statistics that differ by less than this are equal except for rounding
}

func (k *Kernel) newSplit() split {
	size := k.N + k.M
	s := split{k: k, small: float64(min(k.N, k.M)), large: float64(max(k.N, k.M)), row: make([]float64, size)}
	for i := range size {
		for j, v := range k.values[i*size : (i+1)*size] {
			if j != i {
				s.row[i] += v
			}
		}
		s.total += s.row[i] / 2
	}
	s.tie = 1e-13 * s.total / (s.small * (s.small - 1))
	return s
}

// mmd2 is the unbiased estimate for the rows in part, in increasing order, and the rest.
func (s split) mmd2(part []int) float64 {
	size := s.k.N + s.k.M
	inside, rows := 0.0, 0.0
	for a, i := range part {
		rows += s.row[i]
		row := s.k.values[i*size : (i+1)*size]
		for _, j := range part[a+1:] {
			inside += row[j]
		}
	}
	between := rows - 2*inside
	outside := s.total - inside - between
	return 2*inside/(s.small*(s.small-1)) + 2*outside/(s.large*(s.large-1)) - 2*between/(s.small*s.large)
}
