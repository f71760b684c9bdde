package robots

import (
	"fmt"
	"sync"

	"tvps/data/env"
	"tvps/data/random"
	"tvps/gomlx_models/sac"
)

// environments holds one environment for each seed of a group. All are at the same step.
type environments struct {
	seeds   []int64
	robots  []env.Env
	now     [][]float64 // current observations, as the environments write them
	seen    [][]float32 // the same as the agents read them, [seeds][observations]
	rewards []float64   // of the last step
}

// newEnvironments makes an environment for each seed.
func newEnvironments(seeds []int64, build func(seed int64) (env.Env, error)) (*environments, error) {
	f := &environments{seeds: seeds, seen: make([][]float32, len(seeds)), rewards: make([]float64, len(seeds))}
	for _, seed := range seeds {
		robot, err := build(seed)
		if err != nil {
			f.close()
			return nil, err
		}
		observations, _, _ := robot.Sizes()
		f.robots, f.now = append(f.robots, robot), append(f.now, make([]float64, observations))
	}
	return f, nil
}

func (f *environments) close() {
	for _, robot := range f.robots {
		robot.Close()
	}
}

func (f *environments) sizes() (observations, actions int) {
	observations, actions, _ = f.robots[0].Sizes()
	return observations, actions
}

// each calls do for every environment, in parallel.
func (f *environments) each(do func(i int) error) error {
	errs := make([]error, len(f.robots))
	var wait sync.WaitGroup
	for i := range f.robots {
		wait.Go(func() { errs[i] = do(i) })
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("seed %d: %w", f.seeds[i], err)
		}
	}
	return nil
}

// train begins a training episode in every environment; its noise depends on seed and number.
func (f *environments) train(episode int) error {
	return f.begin(func(i int) error {
		return f.robots[i].Reset(episode, random.New(f.seeds[i], "robot", "train", episode), f.now[i])
	})
}

// evaluate begins an evaluation episode in every environment.
func (f *environments) evaluate(starts []start) error {
	return f.begin(func(i int) error { return starts[i].reset(f.robots[i], f.seeds[i], f.now[i]) })
}

// begin calls reset for every environment, which writes to now.
func (f *environments) begin(reset func(i int) error) error {
	return f.each(func(i int) error {
		err := reset(i)
		f.seen[i] = narrow(f.now[i])
		return err
	})
}

func narrow(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// step applies each environment's action.
func (f *environments) step(actions [][]float32, episode int, last bool) ([]sac.Transition, error) {
	out := make([]sac.Transition, len(f.robots))
	err := f.each(func(i int) error {
		action := make([]float64, len(actions[i]))
		for j, v := range actions[i] {
			action[j] = float64(v)
		}
		before := f.seen[i]
		reward, err := f.robots[i].Step(action, f.now[i])
		f.rewards[i], f.seen[i] = reward, narrow(f.now[i])
		out[i] = sac.Transition{Observation: before, Action: actions[i], Reward: float32(reward), Next: f.seen[i],
			Last: last, Episode: episode}
		return err
	})
	return out, err
}

// atTarget tells whether a robot reports success.
func atTarget(robot env.Env) bool {
	target, ok := robot.(interface{ Success() bool })
	return ok && target.Success()
}
