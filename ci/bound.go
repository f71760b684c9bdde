package ci

import (
	"fmt"
	"math"
)

// slack forgives the rounding of a difference of two decimal numbers: a difference
// that equals the tolerance is within it.
const slack = 1e-9

// Within says whether a value lies within an absolute tolerance of its golden. A NaN never
// does.
func Within(value, golden, tolerance float64) bool {
	return math.Abs(value-golden) <= tolerance+slack
}

// Bound is a tolerance for a number of any size: absolute, relative to the golden, or
// whichever of the two allows more.
type Bound struct {
	Absolute float64 `json:"absolute,omitempty"`
	Relative float64 `json:"relative,omitempty"`
}

// Tolerance is the absolute tolerance at a golden.
func (b Bound) Tolerance(golden float64) float64 {
	return max(b.Absolute, b.Relative*math.Abs(golden))
}

// Check returns an error if a bound is no tolerance.
func (b Bound) Check() error {
	for _, x := range []float64{b.Absolute, b.Relative} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("a tolerance is %v, and must be a positive number", x)
		}
	}
	if b.Absolute == 0 && b.Relative == 0 {
		return fmt.Errorf("a tolerance is missing: give \"absolute\", \"relative\" or both")
	}
	return nil
}
