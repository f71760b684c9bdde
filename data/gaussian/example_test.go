package gaussian_test

import (
	"fmt"

	"tvps/data/gaussian"
)

// The mean weight min(omega, 1) of past steps at time 60, shortly after the mean turned at
// 50. Step 40, when the mean had the same value on its way up, keeps its full weight.
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
