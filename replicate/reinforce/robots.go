package reinforce

import (
	"context"
	"io"

	"tvps/data/env"
)

// newRobot makes the environment of one seed; the first on a machine fetches MuJoCo and the
// models.
func newRobot(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error) {
	options := env.Options{Log: log}
	if s.Scenario == "claw" {
		tasks := make([]int, s.Valves)
		for i := range tasks {
			tasks[i] = i
		}
		return env.NewClaw(ctx, env.ClawOptions{Options: options, Repeat: s.Repeat, Tasks: tasks, Seed: seed, Horizon: s.Horizon})
	}
	return env.NewCheetah(ctx, env.CheetahOptions{Options: options, Plain: s.Scenario == "halfcheetah", Horizon: s.Horizon})
}
