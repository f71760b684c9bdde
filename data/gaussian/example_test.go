package gaussian_test

import (
	"fmt"

	"tvps/data/gaussian"
)

// How much of the past is worth keeping at time 60, just after the turn at 50: times
// on the way up that had the same mean count fully.
func Example() {
	stream := gaussian.Paper()
	for _, t := range []int{60, 50, 40, 20, 0} {
		fmt.Printf("t = %2d  mu = %.1f  mean of min(omega, 1) = %.3f\n", t, stream.Mean(t), 1-stream.TV(60, t, true))
	}
	// Output:
	// t = 60  mu = 4.5  mean of min(omega, 1) = 1.000
	// t = 50  mu = 5.5  mean of min(omega, 1) = 0.317
	// t = 40  mu = 4.5  mean of min(omega, 1) = 1.000
	// t = 20  mu = 2.5  mean of min(omega, 1) = 0.046
	// t =  0  mu = 0.5  mean of min(omega, 1) = 0.000
}
