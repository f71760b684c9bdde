package backtest

import (
	"math"
	"slices"

	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// weights are those of the rows of train with a weighting, mean 1. omega: of its kind and part, nil for none.
func (t *Task) weights(w Weighting, omega []float64) []float64 {
	out := t.Equal()
	var inPhase []bool // of each block
	if w.Season {
		inPhase = t.inPhase()
	}
	for i := range out {
		if omega != nil {
			out[i] *= omega[i]
		}
		if w.Window > 0 && t.Block[i] < t.Known-w.Window {
			out[i] = 0
		}
		if inPhase != nil && !inPhase[t.Block[i]] {
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

// inPhase tells of each block that is learned from whether its time has the phase of the test block in the cycle by
// which g sees the time, as far as g tells phases apart. It is nil if g sees no cycle, or no row is in phase.
func (t *Task) inPhase() []bool {
	c := t.Cycle
	if c == nil {
		return nil
	}
	times := t.stream.Times.Values
	out := xslices.Map(times[:t.Known], func(at float64) bool {
		apart := math.Abs(c.Phase(at) - c.Phase(times[t.Step]))
		return min(apart, 1-apart) < .5/float64(2*c.Waves+1)
	})
	if !slices.ContainsFunc(t.Block, func(at int) bool { return out[at] }) {
		return nil
	}
	return out
}

// scaledWeights gives weights the mean 1, and negligible ones none, in place.
func scaledWeights(out []float64) []float64 {
	tables.DropNegligible(out, len(out))
	sum := 0.
	for _, v := range out {
		sum += v
	}
	floats.Scale(float64(len(out))/sum, out)
	return out
}
