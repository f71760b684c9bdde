package sac_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/sac"
)

// Two agents learn to answer an observation x with the action x: each episode is one step
// with the reward -(action - x)^2.
func Example() {
	engine, err := backend.Open(context.Background(), backend.Go, backend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := sac.DefaultConfig(1, 1)
	cfg.Hidden, cfg.Batch, cfg.Alpha, cfg.BurnIn, cfg.ActorRate, cfg.CriticRate = 32, 64, .01, 100, 3e-3, 3e-3
	seeds := []int64{0, 1}
	agent, err := sac.New(engine.Backend, cfg, seeds)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()

	mode := sac.Uniform
	for episode := range 600 {
		x := [][]float64{{draw(seeds[0], episode)}, {draw(seeds[1], episode)}}
		actions, err := agent.Act(x, mode)
		if err != nil {
			log.Fatal(err)
		}
		var seen []sac.Transition
		for i, a := range actions {
			miss := a[0] - x[i][0]
			seen = append(seen, sac.Transition{Observation: x[i], Action: a, Reward: -miss * miss, Next: x[i],
				Terminal: true, Last: true, Episode: episode})
		}
		if err := agent.Observe(seen); err != nil {
			log.Fatal(err)
		}
		if episode < cfg.BurnIn {
			continue
		}
		mode = sac.Sample
		if _, err := agent.Update(); err != nil {
			log.Fatal(err)
		}
	}

	for _, x := range []float64{-.5, 0, .5} {
		actions, err := agent.NewRollout("evaluation").Act([][]float64{{x}, {x}}, sac.Mean)
		if err != nil {
			log.Fatal(err)
		}
		for i := range seeds {
			if math.Abs(actions[i][0]-x) > .15 {
				fmt.Printf("seed %d answers %v with %v\n", seeds[i], x, actions[i][0])
			}
		}
	}
	fmt.Println("transitions of each agent:", agent.Observed())
	// Output:
	// transitions of each agent: 600
}

// draw is an observation in [-1, 1].
func draw(seed int64, episode int) float64 {
	return 2*random.New(seed, "example", episode).Float64() - 1
}
