package rules

import (
	"testing"

	"tvps/replicate/tables/backtest"

	"gonum.org/v1/gonum/floats"
)

// TestFactors: omega is the product of its mean by block and of what is left, whose mean in each block is 1, also where
// a row stands for several.
func TestFactors(t *testing.T) {
	k := &backtest.Task{Step: 3, Block: []int{0, 0, 1, 2, 2}, Scale: []float64{3, 1, 1, 1, 1}}
	omega := []float64{.2, 1, .5, .3, .9}
	if got, want := ofBlock(k, omega), []float64{.4, .4, .5, .6, .6}; !floats.EqualApprox(got, want, 1e-12) {
		t.Errorf("means %v, want %v", got, want)
	}
	if got, want := inBlock(k, omega), []float64{.5, 2.5, 1, .5, 1.5}; !floats.EqualApprox(got, want, 1e-12) {
		t.Errorf("what is left: %v, want %v", got, want)
	}
}
