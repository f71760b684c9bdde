package robots

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tvps/data/env"
	"tvps/data/random"
	"tvps/figures/looks"
	"tvps/replicate/runs"
)

// Reference plays the episode that a robot has begun, without learning. obs is its first observation, which the
// reference overwrites.
type Reference func(robot env.Env, rng *rand.Rand, obs []float64) (total float64, err error)

// The references that figures show as horizontal lines. The agents that train start at random actions; one that does
// nothing has learned no task.
var (
	_ = Declare(Learner{Look: looks.Look{Name: "nothing", Label: "Doing nothing", Color: "#000000", Dash: "1 6"},
		Reference: following(func(robot env.Env, _ *rand.Rand, _ int, _, action []float64) { robot.Rest(action) })})
	_ = Declare(Learner{Look: looks.Look{Name: "random", Label: "Random actions", Color: "#cc79a7", Dash: "8 3 2 3"},
		Reference: following(func(_ env.Env, rng *rand.Rand, _ int, _, action []float64) {
			for i := range action {
				action[i] = 2*rng.Float64() - 1
			}
		})})
	_ = Declare(Learner{Look: looks.Look{Name: "scripted", Label: "Scripted grip",
		Color: "#8c564b", Dash: "14 3 5 3"},
		Scenario: "claw",
		Reference: following(func(robot env.Env, _ *rand.Rand, step int, obs, action []float64) {
			robot.(*env.Claw).Script(step, obs, action)
		})})
	_ = Declare(Learner{Look: looks.Look{Name: "constant", Label: "Constant 1.5 m/s",
		Color: "#8c564b", Dash: "14 3 5 3"},
		Scenario: "cheetah",
		Reference: func(robot env.Env, _ *rand.Rand, _ []float64) (float64, error) {
			return robot.(*env.Cheetah).Constant(), nil
		}})
)

// following returns the reference of a policy, which writes the action of a step.
func following(
	policy func(robot env.Env, rng *rand.Rand, step int, obs, action []float64),
) Reference {
	return func(robot env.Env, rng *rand.Rand, obs []float64) (float64, error) {
		_, actions, horizon := robot.Sizes()
		action, total := make([]float64, actions), 0.0
		for step := range horizon {
			policy(robot, rng, step, obs, action)
			reward, err := robot.Step(action, obs)
			if err != nil {
				return 0, err
			}
			total += reward
		}
		return total, nil
	}
}

// startReference returns the step of a reference's run. Trials are the same in every evaluation and played once.
func (e config) startReference(ctx context.Context, seed int64) (runs.StepFunc, func(), error) {
	robot, err := e.scenario.New(ctx, e.settings, seed, e.host.Log)
	if err != nil {
		return nil, nil, fmt.Errorf("seed %d: %w", seed, err)
	}
	observations, _, _ := robot.Sizes()
	obs, played := make([]float64, observations), map[int]outcome{}
	step := func(ctx context.Context, at int) ([]runs.Row, error) {
		starts := e.settings.starts(robot, at)
		outcomes := make([]outcome, len(starts))
		for i, b := range starts {
			if known, ok := played[b.trial]; ok && b.trial >= 0 {
				outcomes[i] = known
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := b.reset(robot, seed, obs); err != nil {
				return nil, err
			}
			rng := random.New(seed, "reference", e.learner.Name, b.trial, b.episode)
			total, err := e.learner.Reference(robot, rng, obs)
			if err != nil {
				return nil, err
			}
			outcomes[i] = outcome{total, atTarget(robot)}
			played[b.trial] = outcomes[i]
		}
		return e.report(at, starts, outcomes), nil
	}
	return step, robot.Close, nil
}
