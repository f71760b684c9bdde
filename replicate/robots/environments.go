package robots

import (
	"fmt"
	"sync"

	"tvps/data/env"
	"tvps/gomlx_models/sac"
)

// environments holds one environment for each seed of a group. All are at the same step.
type environments struct {
	seeds  []int64
	robots []env.Env
	now    [][]float64 // current observations, [seeds][observations]
}

// newEnvironments makes an environment for each seed.
func newEnvironments(seeds []int64, build func(seed int64) (env.Env, error)) (*environments, error) {
	f := &environments{seeds: seeds}
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

// each calls do for every environment, in parallel.
func (f *environments) each(do func(i int, robot env.Env) error) error {
	errs := make([]error, len(f.robots))
	var wait sync.WaitGroup
	for i, robot := range f.robots {
		wait.Go(func() { errs[i] = do(i, robot) })
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("seed %d: %w", f.seeds[i], err)
		}
	}
	return nil
}

// step applies each environment's action. All numbers are the simulation's; the agents round them (sac.Transition).
func (f *environments) step(actions [][]float64, episode int, last bool) ([]sac.Transition, error) {
	out := make([]sac.Transition, len(f.robots))
	err := f.each(func(i int, robot env.Env) error {
		before, next := f.now[i], make([]float64, len(f.now[i]))
		reward, err := robot.Step(actions[i], next)
		f.now[i] = next
		out[i] = sac.Transition{Observation: before, Action: actions[i], Reward: reward, Next: next,
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
