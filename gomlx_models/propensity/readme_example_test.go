package propensity_test

import (
	"context"
	"fmt"

	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
)

// weightsAt returns how much each sample counts at the time now, at most 1.
func weightsAt(ctx context.Context, x []float32, times []float64, now float64) ([]float64, error) {
	engine, err := backend.Open(ctx, "", backend.Options{})
	if err != nil {
		return nil, err
	}
	defer engine.Finalize()
	data := propensity.Data{Dim: 1, X: x, Time: times} // one number a sample, and its time
	score, err := propensity.Fit(ctx, engine.Backend, data, propensity.DefaultConfig(), 0)
	if err != nil {
		return nil, err
	}
	defer score.Close()
	return score.Weights(ctx, now)
}

func Example_weightsAt() {
	weights, err := weightsAt(context.Background(), []float32{.1, .2, .9, 1.1, 1.9, 2.1}, []float64{0, 0, 1, 1, 2, 2}, 2)
	fmt.Println(weights[4:], weights[0] < 1, err)
	// Output: [1 1] true <nil>
}
