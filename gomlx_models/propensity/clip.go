package propensity

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// ClipPolicy limits omega.
type ClipPolicy string

const (
	// ClipOne is min(omega, 1): the literal reading of "omega clip 1".
	ClipOne ClipPolicy = "min1"
	// ClipExponent limits the exponent to 1, so omega to e: the reading of the closest
	// public code of the same authors.
	ClipExponent ClipPolicy = "exp1"
	// ClipNone has no limit except e^60, so that sums in float32 stay finite.
	ClipNone ClipPolicy = "none"
)

// exponentLimit is the largest log omega under a clip.
var exponentLimit = map[ClipPolicy]float64{ClipOne: 0, ClipExponent: 1, ClipNone: maxLogOmega}

const maxLogOmega = 60.

// Bounded is log omega within +-60: sums of e^60 are finite in float32.
func Bounded(logOmega float64) float64 { return max(-maxLogOmega, min(maxLogOmega, logOmega)) }

// Clips lists all clips.
func Clips() []ClipPolicy { return []ClipPolicy{ClipOne, ClipExponent, ClipNone} }

// Omega turns log omega into a weight under the clip.
func (c ClipPolicy) Omega(logOmega float64) float64 { return math.Exp(min(logOmega, exponentLimit[c])) }

// Node is Omega in a graph.
func (c ClipPolicy) Node(logOmega *Node) *Node { return Exp(MinScalar(logOmega, exponentLimit[c])) }

// Weights applies Omega to each value.
func (c ClipPolicy) Weights(logOmega []float64) []float64 {
	out := make([]float64, len(logOmega))
	for i, v := range logOmega {
		out[i] = c.Omega(v)
	}
	return out
}

// EffectiveSampleSize is (sum w)^2 / sum w^2 (Kish): the number of equally weighted samples
// that carry as much information. It is n for equal weights, 1 if one sample has all the
// weight, and 0 for no samples or if all weights are 0.
func EffectiveSampleSize(weights []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, w := range weights {
		sum += w
		squares += w * w
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}
