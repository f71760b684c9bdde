package labelshift_test

import (
	"fmt"

	"tvps/data/labelshift"
)

// The label distributions of CIFAR-10b while the majority class changes from 9 to 0.
func ExampleShift_Prior() {
	for t := 54; t < 60; t++ {
		fmt.Printf("q_%d = %.2f\n", t, labelshift.CIFAR10b.Prior(t))
	}
	// Output:
	// q_54 = [0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.55]
	// q_55 = [0.15 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.45]
	// q_56 = [0.25 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.35]
	// q_57 = [0.35 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.25]
	// q_58 = [0.45 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.15]
	// q_59 = [0.55 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05]
}
