package robots

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tvps/data/env"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/sac"
	"tvps/replicate/runs"

	"gonum.org/v1/gonum/stat"
)

// training trains the agents of a group.
type training struct {
	config
	engine  *backend.Backend
	seeds   []int64
	envs    *environments
	members []runs.Spec // those of the seeds whose runs are missing
	state   string      // path of the checkpoint

	agent    *sac.Agent
	episode  int           // the next one
	returns  [][]float64   // [seeds][episodes since the last evaluation]
	saved    time.Time     // when the last checkpoint was written
	saveTime time.Duration // how long that took
}

// log writes a line for people.
func (t *training) log(format string, arguments ...any) {
	if t.host.Log != nil {
		fmt.Fprintf(t.host.Log, "%s/%s: %s\n", t.scenario.Name, t.learner.Name, fmt.Sprintf(format, arguments...))
	}
}

// restart makes new agents, at episode 0.
func (t *training) restart() error {
	t.close()
	observations, actions, _ := t.envs.robots[0].Sizes()
	agent, err := sac.New(t.engine.Backend, t.settings.agent(t.learner, observations, actions), t.seeds)
	if err != nil {
		return err
	}
	t.agent, t.episode, t.returns, t.saved = agent, 0, make([][]float64, len(t.seeds)), time.Now()
	return nil
}

func (t *training) close() {
	if t.agent != nil {
		t.agent.Close()
	}
	t.agent = nil
}

// step trains up to episode at and evaluates there. It writes checkpoints, the last one when ctx is cancelled.
func (t *training) step(ctx context.Context, at int) ([][]runs.Row, error) {
	if t.episode > at {
		t.log("rows before episode %d are lost: training starts from scratch", t.episode)
		if err := t.restart(); err != nil {
			return nil, err
		}
	}
	if t.episode == 0 && at > t.settings.Every {
		t.log("seeds %d have no checkpoint: they train the episodes before %d again", t.seeds, at-t.settings.Every)
	}
	for t.episode < at {
		if err := t.saveIfDue(ctx); err != nil {
			return nil, err
		}
		// The mean training return starts again at every evaluation, also at one whose rows are stored.
		if t.episode%t.settings.Every == 0 {
			t.returns = make([][]float64, len(t.seeds))
		}
		if err := t.train(); err != nil {
			return nil, fmt.Errorf("episode %d: %w", t.episode, err)
		}
	}
	rows, err := t.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.addOmega(rows); err != nil {
		return nil, err
	}
	var out [][]runs.Row
	for _, member := range t.members {
		out = append(out, rows[slices.Index(t.seeds, member.Seed)])
	}
	return out, nil
}

// play runs the episode that all environments have begun, and returns the return of each seed. act chooses the actions
// for the current observations; then receives the transitions.
func (t *training) play(
	act func(observations [][]float64) ([][]float64, error), then func([]sac.Transition) error,
) (returns []float64, err error) {
	returns = make([]float64, len(t.seeds))
	for step := range t.settings.Horizon {
		actions, err := act(t.envs.now)
		if err != nil {
			return nil, err
		}
		transitions, err := t.envs.step(actions, t.episode, step == t.settings.Horizon-1)
		if err != nil {
			return nil, err
		}
		for i, one := range transitions {
			returns[i] += one.Reward
		}
		if err := then(transitions); err != nil {
			return nil, err
		}
	}
	return returns, nil
}

// train trains every agent for one episode: act, observe, update.
func (t *training) train() error {
	err := t.envs.each(func(i int, robot env.Env) error {
		return robot.Reset(t.episode, random.New(t.seeds[i], "robot", "train", t.episode), t.envs.now[i])
	})
	if err != nil {
		return err
	}
	act := func(observations [][]float64) ([][]float64, error) {
		if t.agent.Observed() < t.settings.BurnIn {
			return t.agent.Act(observations, sac.Uniform)
		}
		return t.agent.Act(observations, sac.Sample)
	}
	returns, err := t.play(act, func(transitions []sac.Transition) error {
		if err := t.agent.Observe(transitions); err != nil {
			return err
		}
		if n := t.agent.Observed(); n <= t.settings.BurnIn || n%t.settings.UpdateEvery != 0 {
			return nil
		}
		_, err := t.agent.Update()
		return err
	})
	if err != nil {
		return err
	}
	for i, total := range returns {
		t.returns[i] = append(t.returns[i], total)
	}
	t.episode++
	return nil
}

// evaluate runs the episodes of an evaluation with the mean action and without learning, and reports the returns of
// every seed.
func (t *training) evaluate(ctx context.Context) ([][]runs.Row, error) {
	starts := t.settings.starts(t.envs.robots[0], t.episode)
	outcomes := make([][]outcome, len(t.seeds))
	for _, begin := range starts {
		if err := t.saveIfDue(ctx); err != nil {
			return nil, err
		}
		returns, err := t.evaluateEpisode(begin)
		if err != nil {
			return nil, err
		}
		for i, robot := range t.envs.robots {
			outcomes[i] = append(outcomes[i], outcome{returns[i], atTarget(robot)})
		}
	}
	var rows [][]runs.Row
	for i, all := range outcomes {
		rows = append(rows, append(t.report(t.episode, starts, all),
			runs.Row{T: t.episode, Metric: trainingReturn, Value: stat.Mean(t.returns[i], nil)}))
	}
	return rows, nil
}

// evaluateEpisode runs an episode of an evaluation with the mean action and returns the return of each seed.
func (t *training) evaluateEpisode(begin start) (returns []float64, err error) {
	err = t.envs.each(func(i int, robot env.Env) error {
		return begin.reset(robot, t.seeds[i], t.envs.now[i])
	})
	if err != nil {
		return nil, err
	}
	rollout := t.agent.NewRollout("evaluate")
	act := func(observations [][]float64) ([][]float64, error) { return rollout.Act(observations, sac.Mean) }
	return t.play(act, func(transitions []sac.Transition) error {
		rollout.Remember(transitions)
		return nil
	})
}
