package check

import (
	"fmt"
	"math"
)

// slack allows for rounding, so that a decimal difference equal to the tolerance is within it.
const slack = 1e-9

// Within says whether a value differs from its golden by at most an absolute tolerance. It is
// false for NaN.
func Within(value, golden, tolerance float64) bool {
	return math.Abs(value-golden) <= tolerance+slack
}

// Bound is a tolerance: absolute, relative to the golden, or the larger of the two.
type Bound struct {
	Absolute float64 `json:"absolute,omitempty"`
	Relative float64 `json:"relative,omitempty"`
}

// Tolerance returns the absolute tolerance for a golden.
func (b Bound) Tolerance(golden float64) float64 {
	return max(b.Absolute, b.Relative*math.Abs(golden))
}

// Check returns an error if a value is negative, NaN or infinite, or if both are 0.
func (b Bound) Check() error {
	for _, x := range []float64{b.Absolute, b.Relative} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("a tolerance is %v; it must be a positive, finite number", x)
		}
	}
	if b.Absolute == 0 && b.Relative == 0 {
		return fmt.Errorf("a tolerance is missing: give \"absolute\", \"relative\" or both")
	}
	return nil
}
