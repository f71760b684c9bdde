package propensity_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
)

func Example_ownData() {
	ctx := context.Background()
	engine, err := backend.Open(ctx, "", backend.Options{Log: os.Stderr}) // XLA; without it Go, with a warning
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Finalize()

	// Your data: n samples of Dim values, each with its time and, if you have one, its label.
	// Times are numbers in any unit: days, episodes, versions.
	data := propensity.Data{
		Dim:   2,
		X:     []float32{0.1, 0.2, 0.3, 0.1, 1.1, 0.9, 1.2, 1.0},
		Label: []int32{0, 1, 0, 1},
		Time:  []float64{0, 0, 7, 7},
	}
	cfg := propensity.DefaultConfig() // Method 2, MLP, one-hot time, min(omega, 1)
	cfg.Method = propensity.Method1   // for two or three times
	cfg.Classes = 2                   // number of labels; 0 if there are none
	score, err := propensity.Fit(ctx, engine.Backend, data, cfg, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer score.Close()
	weights, err := score.Weights(ctx, 7) // omega(x_i, 7, t_i) of every sample
	if err != nil {
		log.Fatal(err)
	}
	share := propensity.EffectiveSampleSize(weights) / float64(len(weights))
	fmt.Printf("weights of the samples at time 7: %v\n", weights[2:])
	fmt.Printf("at least half of the data counts: %v\n", share >= .5)
	// Output:
	// weights of the samples at time 7: [1 1]
	// at least half of the data counts: true
}
