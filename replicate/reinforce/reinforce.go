// Package reinforce is the paper's protocol in reinforcement learning (Section 3.2): one
// agent meets a long sequence of tasks, an episode each, and is evaluated now and then on
// the episodes that come next.
//
// A learner is Soft Actor-Critic with or without a recurrent context and with or without
// omega in the critic's loss. The agents of several seeds train in one compiled program
// with an environment each, as a group of runs (runs.Group); a group keeps a checkpoint and
// goes on there after a break, with the same numbers.
package reinforce

import (
	"context"
	"io"
	"maps"
	"time"

	"tvps/data/env"
	"tvps/data/env/mujoco"
	"tvps/gomlx_models/backend"
	"tvps/replicate/runs"
)

// protocol is raised when the meaning of the same settings changes, so that results of an
// older program are not taken for those of this one.
const protocol = "1"

// Env is what all runs of a process share.
type Env struct {
	Backend  *backend.Backend
	CacheDir string    // where it is kept how many seeds train fastest together
	Log      io.Writer // slow preparations are told here; may be nil

	robot  func(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error) // nil for newRobot
	moment time.Duration                                                                     // of a measurement of speed; 0 for stackDuration
}

// Jobs returns one run for each series and seed; those of a learner train together, at most
// as many as Settings.Stack says or MeasureStack found, in groups as even as can be. Errors
// are impossible settings and series.
func Jobs(e *Env, s Settings, series []string, seeds []int64, measure string) ([]runs.Wanted, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var jobs []runs.Wanted
	for _, name := range series {
		if err := CheckSeries(name, measure); err != nil {
			return nil, err
		}
		rest := seeds
		for _, size := range shares(len(seeds), e.stack(s, name, len(seeds))) {
			together := rest[:size]
			rest = rest[size:]
			group := &runs.Group{Size: len(together), Start: func(ctx context.Context, members []runs.Spec, files runs.Files) (runs.GroupStep, func(), error) {
				return e.start(ctx, s, name, together, members, files)
			}}
			for _, seed := range together {
				jobs = append(jobs, runs.Wanted{Series: name, Job: runs.Job{
					Spec:  runs.Spec{Experiment: s.Scenario, Learner: name, Seed: seed, Settings: e.identity(s, name)},
					Steps: s.PlannedSteps(),
					Cost:  s.cost(learners[name]),
					Group: group,
				}})
			}
		}
	}
	return jobs, nil
}

// identity is everything that can change a run's numbers, but for its seed and the rounding
// that the number of seeds in a program brings (runs.Group).
func (e *Env) identity(s Settings, name string) map[string]string {
	id := e.Backend.Info.Identity()
	id["protocol"], id["mujoco"] = protocol, mujoco.Version
	maps.Copy(id, s.identity(learners[name]))
	return id
}

// cost estimates the milliseconds of a seed between two evaluations on one core.
func (s Settings) cost(l learner) float64 {
	perStep := map[string]float64{"claw": 1.5}[s.Scenario] + .3 // measured: simulation, and the dispatch of an action
	units := float64(s.Batch * s.Hidden * s.Hidden * s.Layers)
	if l.context { // two GRUs, at s and at s'
		units += 4 * float64(s.Batch*s.History*s.ContextHidden*3) * float64(s.ContextHidden+30)
	}
	update := .3 + units*1.2e-7 // measured at 256 units and batches of 256
	if l.omega {
		update *= 1.15
	}
	return float64(s.Every*s.Horizon)*(perStep+update/float64(s.UpdateEvery)) + float64(s.EvaluateEpisodes*s.Horizon)*perStep
}

// start prepares the agents of a group, from its checkpoint if there is one. All seeds
// train, also those whose runs are stored and not among the members.
func (e *Env) start(ctx context.Context, s Settings, name string, seeds []int64, members []runs.Spec, files runs.Files) (runs.GroupStep, func(), error) {
	t, stop, err := e.training(ctx, s, name, seeds)
	if err != nil {
		return nil, nil, err
	}
	t.files, t.members = files, members
	if err := t.begin(); err != nil {
		stop()
		return nil, nil, err
	}
	return t.step, stop, nil
}

// training makes a robot for each seed and takes a client of the backend; the agents come
// with training.begin or training.renew. stop frees all of it.
func (e *Env) training(ctx context.Context, s Settings, name string, seeds []int64) (t *training, stop func(), err error) {
	engine, free, err := e.engine()
	if err != nil {
		return nil, nil, err
	}
	robot := e.robot
	if robot == nil {
		robot = newRobot
	}
	fleet, err := newFleet(seeds, func(seed int64) (env.Env, error) { return robot(ctx, s, seed, e.Log) })
	if err != nil {
		free()
		return nil, nil, err
	}
	t = &training{engine: engine, settings: s, learner: learners[name], seeds: seeds, fleet: fleet, log: e.Log}
	return t, func() {
		t.close()
		fleet.close()
		free()
	}, nil
}

// engine is a client of the backend for a group.
func (e *Env) engine() (engine *backend.Backend, free func(), err error) {
	if !e.Backend.SerialExecution() {
		return e.Backend, func() {}, nil
	}
	if engine, err = e.Backend.NewClient(); err != nil {
		return nil, nil, err
	}
	return engine, func() { engine.Finalize() }, nil
}
