// Package robots is the paper's protocol in reinforcement learning (Section 3.2): one agent meets a long sequence of
// tasks, one each episode, and is evaluated at intervals on every task, or on the episodes that come next.
//
// A learner is Soft Actor-Critic with or without a recurrent context and with or without omega in the critics' loss.
// The agents of several seeds train in one compiled program with an environment each, as a batch of runs (runs.Batch).
// A group keeps a checkpoint and continues there after an interruption, with the same numbers.
package robots

import (
	"context"
	"maps"
	"strings"

	"tvps/data/env"
	"tvps/gomlx_models/backend"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// Protocol is this kind of experiment, for figures.
var Protocol = experiment.Protocol{
	Base: "sac", Floors: []string{"nothing", "random"}, Measure: MeasureReturn,
	XLabel: "episode", IsTask: isTask,
	Scenarios: Scenarios,
	Learners:  Learners,
	Fields:    func() []experiment.Field { return Settings{}.Fields() },
	At:        At,
}

// version is part of every run's identity. Raise it when the same settings get another meaning: results of an older
// program are then not taken for those of this one.
const version = "2"

// What a run reports.
const (
	MeasureReturn  = "return"          // mean undiscounted return over tasks, or over the coming episodes
	nextReturn     = "return-next"     // return of the episode that would come next
	taskReturn     = "return-"         // followed by the name of a task: mean return over its starts
	trainingReturn = "training-return" // mean return of the training episodes since the last evaluation
	success        = "success"         // share of the episodes of return that end with the robot at its target
)

// isTask tells whether a metric is the return of one task.
func isTask(metric string) bool { return strings.HasPrefix(metric, taskReturn) && metric != nextReturn }

// config is a learner on a scenario.
type config struct {
	host     *experiment.Host
	settings Settings
	scenario Scenario
	learner  Learner
}

// Outlines returns what the settings say of the runs of each series. Errors: impossible settings, series or measures.
func (s Settings) Outlines(series []string, measure string) ([]experiment.Outline, error) {
	configs, err := s.configs(nil, series, measure)
	var out []experiment.Outline
	for _, e := range configs {
		outline := experiment.Outline{Series: e.learner.Name, Learner: e.learner.Name, Settings: e.identity(),
			Data: []experiment.Data{{Experiment: s.Scenario}}, Steps: s.PlannedSteps(),
			Backend: e.learner.Reference == nil}
		out = append(out, outline)
	}
	return out, err
}

// configs returns those of the series. Errors: impossible settings, series or measures.
func (s Settings) configs(h *experiment.Host, series []string, measure string) (out []config, err error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	scenario, _ := scenarios.Of(s.Scenario)
	for _, name := range series {
		if err := s.CheckSeries(name, measure); err != nil {
			return nil, err
		}
		learner, _ := learners.Of(name)
		out = append(out, config{host: h, settings: s, scenario: scenario, learner: learner})
	}
	return out, nil
}

// groupSize is the largest number of agents in one program: a constant, as rounding depends on whether an agent is
// alone. Measured on two cores, a group of five makes nearly as many steps per second as one of ten; two groups of five
// need half the time on two nodes.
const groupSize = 5

// Jobs returns one run for each series and seed. The runs of a learner are a batch. Errors: impossible settings, series
// or measures.
func (s Settings) Jobs(h *experiment.Host, series []string, seeds []int64, measure string) ([]runs.Wanted, error) {
	configs, err := s.configs(h, series, measure)
	var jobs []runs.Wanted
	for _, e := range configs {
		batch := &runs.Batch{Seeds: seeds, GroupSize: groupSize, Start: e.start}
		for _, seed := range seeds {
			if e.learner.Reference != nil {
				batch = runs.Alone(seed, func(ctx context.Context) (runs.StepFunc, func(), error) {
					return e.startReference(ctx, seed)
				})
			}
			jobs = append(jobs, runs.Wanted{Series: e.learner.Name, Job: runs.Job{Spec: e.spec(seed), Steps: s.PlannedSteps(),
				Cost: e.cost, Batch: batch}})
		}
	}
	return jobs, err
}

// spec is the identity of a seed's run. References use no backend.
func (e config) spec(seed int64) runs.Spec {
	settings := e.identity()
	if e.learner.Reference == nil {
		maps.Copy(settings, e.host.Backend.Info.Identity())
	}
	return runs.Spec{Experiment: e.scenario.Name, Learner: e.learner.Name, Seed: seed, Settings: settings}
}

// cost is the declared length of a step of a seed, from one evaluation to the next: seconds on as many processors as a
// group has threads. An update's milliseconds are those of figures 2, 10 and 11 at the small scale, three seeds at a
// time, and of one agent of the paper's size.
func (e config) cost(int) float64 {
	s := e.settings
	episodes := s.EvaluateEpisodes
	if s.Evaluate == EvaluateTasks {
		episodes = 20 // about as many as the robots have
	}
	evaluation := float64(episodes*s.Horizon) * e.scenario.StepCost
	if e.learner.Reference != nil {
		return evaluation * perMillisecond
	}
	update, waits := 2e-7*float64(s.Batch*s.Hidden*s.Hidden*s.Layers), 6.
	if e.learner.Context { // two GRUs, at s and at s'
		update += 4 * 1.2e-7 * float64(s.Batch*s.History*s.ContextHidden*3) * float64(s.ContextHidden+30)
		waits = 9
	}
	if s.Threads == 1 { // an update waits for no other thread
		waits = .4
	}
	update += waits
	if e.learner.Omega {
		update *= 1.15
	}
	training := float64(s.Every*s.Horizon) * (e.scenario.StepCost + update/float64(s.UpdateEvery))
	return (training + evaluation) * perMillisecond
}

// perMillisecond is the number of seconds for each estimated millisecond: less than .001, since the processors of the
// gallery's runs are faster than that of the first measurements.
const perMillisecond = 6e-4

// start prepares the agents of a group, from their checkpoint if there is one. All seeds train, members are those whose
// runs are missing.
func (e config) start(
	ctx context.Context, seeds []int64, members []runs.Spec, files runs.Files,
) (step runs.GroupStep, stop func(), err error) {
	t, stop, err := e.training(ctx, seeds)
	if err != nil {
		return nil, nil, err
	}
	t.members, t.state = members, files.State(members[0])
	if err := t.begin(); err != nil {
		stop()
		return nil, nil, err
	}
	return t.step, stop, nil
}

// training makes an environment for each seed and takes a client of the backend. Agents come with training.begin or
// training.restart. stop frees all of it.
func (e config) training(ctx context.Context, seeds []int64) (t *training, stop func(), err error) {
	engine, free, err := engineOf(e.host.Backend, e.settings.Threads)
	if err != nil {
		return nil, nil, err
	}
	envs, err := newEnvironments(seeds, func(seed int64) (env.Env, error) {
		return e.scenario.New(ctx, e.settings, seed, e.host.Log)
	})
	if err != nil {
		free()
		return nil, nil, err
	}
	t = &training{config: e, engine: engine, seeds: seeds, envs: envs}
	return t, func() {
		t.close()
		envs.close()
		free()
	}, nil
}

// engineOf returns the backend for one group: a client of its own, with so many threads, if the backend runs one
// program at a time.
func engineOf(b *backend.Backend, threads int) (engine *backend.Backend, free func(), err error) {
	if !b.SerialExecution() {
		return b, func() {}, nil
	}
	if engine, err = b.NewClient(threads); err != nil {
		return nil, nil, err
	}
	return engine, func() { engine.Finalize() }, nil
}
