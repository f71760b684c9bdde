package streams

import (
	"fmt"
	"math"

	"tvps/data/random"
)

// minority is the probability of a minority class.
const minority = 0.05

// Reading says how lambda changes over an interval: the paper's equation and its listing
// differ.
type Reading string

const (
	// Listing is the paper's Python code: lambda = k/(T-1), k = 0, ..., T-1, so q_t goes
	// from q^i to q^{i+1}, both included. The last q of a pair is the first of the next.
	Listing Reading = "listing"
	// Equation is the formula: lambda = k/T, k = 1, ..., T. No q is repeated.
	Equation Reading = "equation"
	// Uniform is no shift: every class has the same probability at every time.
	Uniform Reading = "uniform"
)

// LabelShift is the paper's "Continuous Label Shift settings", after Wu et al. 2021, for steps t >= 0 without an end:
// labelled images whose label distribution q_t changes with time while p(x|y) stays fixed. Over an interval of T steps
// the majority class changes from i to i+1,
//
//	q_t = (1 - lambda) q^i + lambda q^{i+1},
//
// where q^i gives class i the probability .55 (of ten classes) and every other class .05. Then follows the pair
// (i+1, i+2); the last class is followed by the first, and the sequence repeats. A sample of step t is y ~ Cat(q_t) and
// an image drawn uniformly, with replacement, from class y.
type LabelShift struct {
	Classes  int // 2 to 20: 20 classes of probability minority sum to 1
	Interval int // the paper's T: steps per pair of classes, at least 2
	Reading  Reading
}

// The shifts over CIFAR-10 and CLEAR. The paper gives the intervals.
var (
	CIFAR10a = LabelShift{Classes: 10, Interval: 9, Reading: Listing}
	CIFAR10b = LabelShift{Classes: 10, Interval: 6, Reading: Listing}
	CIFAR10c = LabelShift{Classes: 10, Interval: 30, Reading: Listing}
	NoShift  = LabelShift{Classes: 10, Interval: 9, Reading: Uniform}
	CLEAR    = LabelShift{Classes: 10, Interval: 30, Reading: Listing}
)

// Prior returns q_t, [Classes], for t >= 0.
func (s LabelShift) Prior(t int) []float64 {
	q := make([]float64, s.Classes)
	for y := range q {
		q[y] = s.Probability(y, t)
	}
	return q
}

// Probability returns q_t(y).
func (s LabelShift) Probability(y, t int) float64 {
	if s.Reading == Uniform {
		return 1 / float64(s.Classes)
	}
	k, from := t%s.Interval, t/s.Interval%s.Classes
	lambda := float64(k) / float64(s.Interval-1)
	if s.Reading == Equation {
		lambda = float64(k+1) / float64(s.Interval)
	}
	extra := 1 - minority*float64(s.Classes) // of a majority class above minority
	switch y {
	case from:
		return minority + extra*(1-lambda)
	case (from + 1) % s.Classes:
		return minority + extra*lambda
	}
	return minority
}

// LogRatio returns log q_T(y) / q_t(y). This is the exact log omega(x, y) at time T of a
// sample of step t, because p(x|y) does not change.
func (s LabelShift) LogRatio(y, T, t int) float64 {
	return math.Log(s.Probability(y, T) / s.Probability(y, t))
}

// Draw returns n samples of step t: y ~ Cat(q_t) and a row drawn uniformly from byClass[y],
// with replacement; rows and labels are [n]. Every (seed, part, t) has its own random
// numbers. The parts are "train" and "test".
func (s LabelShift) Draw(seed int64, part string, t, n int, byClass [][]int32) (rows, labels []int32) {
	rng := random.New(seed, "labelshift", part, t)
	q := s.Prior(t)
	rows, labels = make([]int32, n), make([]int32, n)
	for i := range rows {
		y := categorical(q, rng.Float64())
		labels[i] = int32(y)
		rows[i] = byClass[y][rng.IntN(len(byClass[y]))]
	}
	return rows, labels
}

// categorical returns the class that the uniform number u in [0, 1) selects.
func categorical(q []float64, u float64) int {
	for y, p := range q[:len(q)-1] {
		if u < p {
			return y
		}
		u -= p
	}
	return len(q) - 1
}

// CheckStride returns an error if the stride and the interval T have a common factor, or are below 1. Such
// a stride visits only some positions within the interval. A stride that is a multiple of T
// visits one position only: under Listing, if that is the last one, where q_t = q_{t+1},
// every tested step is an easy one for every learner.
func CheckStride(stride, interval int) error {
	if stride < 1 || interval < 1 {
		return fmt.Errorf("labelshift: a stride of %d and an interval of %d; both must be at least 1", stride, interval)
	}
	if shared := gcd(stride, interval); shared > 1 {
		return fmt.Errorf("labelshift: a stride of %d shares the factor %d with the interval T = %d, "+
			"so it would visit the same steps of every class pair; use %d",
			stride, shared, interval, coprimeStride(stride, interval))
	}
	return nil
}

// coprimeStride returns the smallest stride that is at least the given one and has no factor in common with the
// interval.
func coprimeStride(stride, interval int) int {
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
