package backtest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// negligible is the weight, relative to the largest, below which a row is left out of a training.
const negligible = 1e-6

// weights are those of the rows of train with a weighting, mean 1. omega: of its kind and part, nil for none.
func (t *Task) weights(w Weighting, omega []float64) []float64 {
	out := t.Equal()
	for i := range out {
		if omega != nil {
			out[i] *= omega[i]
		}
		if w.Window > 0 && t.Block[i] < t.Known-w.Window {
			out[i] = 0
		}
		if w.HalfLife > 0 {
			out[i] *= math.Exp2(-t.age[i] / w.HalfLife)
		}
		if w.Power > 0 {
			out[i] *= math.Pow(float64(t.Known-t.Block[i]), -w.Power) // 1 + the age of the newest block, which is 0
		}
	}
	return scaledWeights(out)
}

// scaledWeights gives weights the mean 1, and negligible ones none, in place.
func scaledWeights(out []float64) []float64 {
	least, sum := negligible*slices.Max(out), 0.
	for i, v := range out {
		if v < least {
			out[i] = 0
		}
		sum += out[i]
	}
	floats.Scale(float64(len(out))/sum, out)
	return out
}
