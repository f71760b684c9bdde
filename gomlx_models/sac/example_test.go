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

// An agent learns to answer an observation x with the action x: each episode is one step
// with the reward -(action - x)^2.
func Example() {
	engine, err := backend.Open(context.Background(), backend.Go, backend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := sac.DefaultConfig(1, 1)
	cfg.Hidden, cfg.Batch, cfg.Alpha, cfg.BurnIn, cfg.ActorRate, cfg.CriticRate = 32, 64, .01, 100, 3e-3, 3e-3
	agent, err := sac.New(engine.Backend, cfg, []int64{0})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()

	mode := sac.Uniform
	for episode := range 600 {
		x := [][]float64{{2*random.New(0, "example", episode).Float64() - 1}}
		actions, err := agent.Act(x, mode)
		if err != nil {
			log.Fatal(err)
		}
		miss := actions[0][0] - x[0][0]
		seen := sac.Transition{Observation: x[0], Action: actions[0], Reward: -miss * miss, Next: x[0],
			Terminal: true, Last: true, Episode: episode}
		if err := agent.Observe([]sac.Transition{seen}); err != nil {
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
		actions, err := agent.NewRollout("evaluation").Act([][]float64{{x}}, sac.Mean)
		if err != nil {
			log.Fatal(err)
		}
		if math.Abs(actions[0][0]-x) > .15 {
			fmt.Printf("the answer to %v is %v\n", x, actions[0][0])
		}
	}
	fmt.Println("transitions:", agent.Observed())
	// Output:
	// transitions: 600
}
