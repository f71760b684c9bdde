package propensity_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
)

// The mean of a stream increases: for the present, time 3, older samples have lower weights.
func Example() {
	d := propensity.Data{Dim: 1}
	rng := random.New(0, "example")
	for time, mean := range []float64{0, 1.2, 2.25, 3.3} {
		for range 2000 {
			d.X = append(d.X, float32(mean+rng.NormFloat64()))
			d.Time = append(d.Time, float64(time))
		}
	}

	ctx := context.Background()
	engine, err := backend.Open(ctx, "", backend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := propensity.DefaultConfig()
	cfg.Method, cfg.Updates = propensity.Method1, 500
	score, err := propensity.Fit(ctx, engine.Backend, d, cfg, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer score.Close()
	weights, err := score.Weights(ctx, 3) // min(omega, 1) of each sample
	if err != nil {
		log.Fatal(err)
	}
	mean := make([]float64, 4) // exactly 2 Phi(-D/2) for means D apart: .10 .29 .60 1
	for i, w := range weights {
		mean[i/2000] += w / 2000
	}
	order := []int{0, 1, 2, 3}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(mean[b], mean[a]) })
	fmt.Println("times by weight, the best first:", order)
	fmt.Printf("the weight of time 3 is %.0f\n", mean[3])
	fmt.Println("time 0 weighs less than a third:", mean[0] < 1./3)
	// Output:
	// times by weight, the best first: [3 2 1 0]
	// the weight of time 3 is 1
	// time 0 weighs less than a third: true
}
