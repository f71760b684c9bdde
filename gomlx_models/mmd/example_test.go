package mmd_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/mmd"
)

// sensor is n readings of two values each; the second one drifts.
func sensor(day string, n int, drift float64) []float32 {
	rng := random.New(0, "sensor", day)
	var x []float32
	for range n {
		x = append(x, float32(rng.NormFloat64()), float32(drift+rng.NormFloat64()))
	}
	return x
}

// MMD^2 of today's data and past data, without weights and with omega = p_today / p_past, which
// is known here. With weights both samples stand for today's distribution, so MMD^2 is near 0.
func ExampleKernel_MMD2() {
	ctx := context.Background()
	engine, err := backend.Open(ctx, "", backend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Finalize()
	const drift = .8
	today, past := sensor("today", 500, drift), sensor("past", 1500, 0)
	omega := make([]float64, 1500)
	for i := range omega {
		omega[i] = math.Exp(drift * (float64(past[2*i+1]) - drift/2))
	}

	computer, err := mmd.New(engine.Backend, 2000, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer computer.Close()
	distances, err := computer.Distances(ctx, today, past)
	if err != nil {
		log.Fatal(err)
	}
	for _, width := range []float64{.5, 1, 2} { // from one matrix of distances
		kernel, err := distances.Kernel(width)
		if err != nil {
			log.Fatal(err)
		}
		raw, err := kernel.MMD2(nil, nil)
		if err != nil {
			log.Fatal(err)
		}
		weighted, err := kernel.MMD2(nil, omega)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("width %.1f: more than ten times closer: %t\n", width, math.Abs(weighted) < raw/10)
	}
	// Output:
	// width 0.5: more than ten times closer: true
	// width 1.0: more than ten times closer: true
	// width 2.0: more than ten times closer: true
}
