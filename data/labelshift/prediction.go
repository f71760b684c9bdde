package labelshift

import (
	"fmt"
	"math"
)

// Kind is a weighting of past samples, for EffectivePrior.
type Kind string

const (
	Everything Kind = "everything" // all weights are 1
	ClipOne    Kind = "clip-one"   // min(omega, 1)
	ClipE      Kind = "clip-e"     // exponent at most 1: min(omega, e)
	NoClip     Kind = "no-clip"    // omega; the prior is also that of Recent, which sees q_t only
)

// EffectivePrior returns the label distribution, [Classes], of the weighted training
// samples at step t: those of all steps s <= t, weighted by a function of the exact
// omega = q_t / q_s. Normalised to sum 1, it is proportional to
//
//	Everything  sum of q_s
//	ClipOne     sum of min(q_t, q_s)
//	ClipE       sum of min(q_t, e q_s)
//	NoClip      q_t
//
// Adding its logarithm to the logits of the pre-trained network predicts the learner's
// accuracy approximately, without training. It panics for an unknown kind.
func (s Shift) EffectivePrior(kind Kind, t int) []float64 {
	now := s.Prior(t)
	pi := make([]float64, s.Classes)
	total := 0.0
	for past := 0; past <= t; past++ {
		for y, then := range s.Prior(past) {
			mass := kind.mass(now[y], then)
			pi[y] += mass
			total += mass
		}
	}
	for y := range pi {
		pi[y] /= total
	}
	return pi
}

// mass is then * weight(omega), with omega = now / then.
func (k Kind) mass(now, then float64) float64 {
	switch k {
	case Everything:
		return then
	case ClipOne:
		return min(now, then)
	case ClipE:
		return min(now, math.E*then)
	case NoClip:
		return now
	}
	panic(fmt.Sprintf("labelshift: unknown kind of weight %q", k))
}

// CheckStride returns an error if the stride and the interval T have a common factor. Such
// a stride visits only some positions within the interval. A stride that is a multiple of T
// visits one position only: under Listing, if that is the last one, where q_t = q_{t+1},
// every tested step is an easy one for every learner.
func CheckStride(stride, interval int) error {
	if stride < 1 {
		return fmt.Errorf("labelshift: the stride is %d; it must be at least 1", stride)
	}
	if shared := gcd(stride, interval); shared > 1 {
		return fmt.Errorf("labelshift: a stride of %d shares the factor %d with the interval T = %d, "+
			"so it would visit the same steps of every class pair; use %d",
			stride, shared, interval, CoprimeStride(stride, interval))
	}
	return nil
}

// CoprimeStride returns the smallest stride that is at least the given one (and 1) and
// has no factor in common with the interval.
func CoprimeStride(stride, interval int) int {
	stride = max(1, stride)
	for gcd(stride, interval) > 1 {
		stride++
	}
	return stride
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
