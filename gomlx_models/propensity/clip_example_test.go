package propensity_test

import (
	"fmt"

	"tvps/gomlx_models/propensity"
)

// The limits of omega = e^2 under each clip.
func ExampleClipPolicy_Omega() {
	for _, clip := range propensity.Clips() {
		fmt.Printf("%s: %.2f\n", clip, clip.Omega(2))
	}
	// Output:
	// min1: 1.00
	// exp1: 2.72
	// none: 7.39
}

// Four samples, one of which has nearly all the weight, carry as much information as one.
func ExampleEffectiveSampleSize() {
	fmt.Printf("%.2f\n", propensity.EffectiveSampleSize([]float64{1, 1, 1, 1}))
	fmt.Printf("%.2f\n", propensity.EffectiveSampleSize([]float64{1, .01, .01, .01}))
	// Output:
	// 4.00
	// 1.06
}
