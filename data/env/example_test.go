package env_test

import (
	"context"
	"fmt"
	"log"

	"tvps/data/env"
	"tvps/data/random"
)

// One step of the Half-Cheetah in the wind of episode 8, doing nothing.
func ExampleNewCheetah() {
	cheetah, err := env.NewCheetah(context.Background(), env.CheetahOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer cheetah.Close()
	observations, actions, horizon := cheetah.Sizes()
	fmt.Println(observations, actions, horizon, cheetah.Task(8))
	seen := make([]float64, observations)
	if err := cheetah.Reset(8, random.New(0, "example"), seen); err != nil {
		log.Fatal(err)
	}
	reward, err := cheetah.Step(make([]float64, actions), seen)
	fmt.Println(reward < 0, err)
	// Output:
	// 17 6 50 wind +10.0 N, target 0.4 m/s
	// true <nil>
}
