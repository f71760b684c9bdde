package robots

import (
	"fmt"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/data/env"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/sac"
	"tvps/replicate/experiment"
	"tvps/replicate/usage"
)

// Settings are all numbers and choices of one scenario; see experiment.Field for the tags. The tag `of` names what a
// setting can change: "task" and "evaluate" concern every run, "coming" those that are evaluated on coming episodes,
// "claw" scenarios that declare this part, "sac" every agent, "context", "omega" and "recent" the agents that have
// them, "plan" no run's numbers.
type Settings struct {
	Scenario string `set:"scenario" of:"task" doc:"scenario: cheetah (Half-Cheetah WindVel) or claw (ROBEL D'Claw) (Section 3.2), halfcheetah (the usual benchmark, to compare with other programs)"`
	Horizon  int    `set:"horizon" of:"task" doc:"length of an episode in steps (reference implementations, I19: cheetah 50, claw 40)"`
	Repeat   int    `set:"repeat" of:"claw" doc:"claw: episodes of a task before the next one (Fig. 2: 2; Fig. 10 and 11: 25)"`
	Valves   int    `set:"valves" of:"claw" doc:"claw: number of valves in the sequence, at most 10 (Section 3.2: 10)"`

	Every            int    `set:"every" of:"evaluate" doc:"evaluation interval in episodes"`
	Evaluate         string `set:"evaluate" of:"evaluate" doc:"episodes of an evaluation: tasks (every task) or coming (those that would come next) (I20)"`
	EvaluateEpisodes int    `set:"evaluate-episodes" of:"coming" doc:"number of coming episodes of an evaluation, with evaluate=coming (Table 1: cheetah 50, claw 5)"`

	Hidden      int     `set:"hidden" of:"sac" doc:"units of each hidden layer of actor and critics (Table 1: 256)"`
	Layers      int     `set:"layers" of:"sac" doc:"number of hidden layers of actor and critics (Table 1: 2)"`
	Batch       int     `set:"batch" of:"sac" doc:"batch size of an update in transitions (Table 1: 256)"`
	Gamma       float64 `set:"gamma" of:"sac" doc:"discount factor (Table 1: 0.99)"`
	Tau         float64 `set:"tau" of:"sac" doc:"update rate of the target networks (Table 1: 0.005)"`
	ActorRate   float64 `set:"actor-rate" of:"sac" doc:"learning rate of the actor (Table 1: 3e-4)"`
	CriticRate  float64 `set:"critic-rate" of:"sac" doc:"learning rate of the critics (Table 1: 3e-4)"`
	Alpha       float64 `set:"alpha" of:"sac" doc:"entropy coefficient, or its initial value if it is learned (I21)"`
	LearnAlpha  bool    `set:"learn-alpha" of:"sac" doc:"whether the entropy coefficient is learned, with minus the number of actions as target entropy (I21)"`
	Replay      int     `set:"replay" of:"sac" doc:"capacity of the replay buffer in transitions (Table 1: 1e6)"`
	BurnIn      int     `set:"burn-in" of:"sac" doc:"steps of random actions before the first update (Table 1: 1e4)"`
	UpdateEvery int     `set:"update-every" of:"sac" doc:"update interval in steps (I22)"`

	ContextHidden int `set:"context-hidden" of:"context" doc:"units of the GRU (I23)"`
	History       int `set:"history" of:"context" doc:"length of the GRU's input in steps (I23)"`

	Recent int `set:"recent" of:"recent" doc:"sac-recent, sac-context-recent: latest episodes that minibatches are drawn from, the current one among them; 0 for all (I25)"`

	GNetwork propensity.Network      `set:"g-network" of:"omega" was:"deep" doc:"network of g: deep, mlp or fc3 (Table 1: deep)"`
	GHidden  int                     `set:"g-hidden" of:"omega" doc:"units of each hidden layer of g (I24)"`
	GLayers  int                     `set:"g-layers" of:"omega" doc:"g-network=deep: number of fully connected layers of g (Table 1: 4 with ReLU and BatchNorm)"`
	GRate    float64                 `set:"g-rate" of:"omega" doc:"learning rate of g (Table 1: 1e-4)"`
	GUpdates int                     `set:"g-updates" of:"omega" doc:"minibatches of one fit of g (Table 1, I24: M = 4)"`
	GBatch   int                     `set:"g-batch" of:"omega" doc:"minibatch size of g in triplets (Table 1: 512)"`
	GEvery   int                     `set:"g-every" of:"omega" doc:"interval between two fits of g in episodes; 0 fits before every update (I24)"`
	Method   propensity.Method       `set:"method" of:"omega" doc:"method of omega: method1 (Eq. 8) or method2 (Eq. 10)"`
	GTime    propensity.TimeEncoding `set:"g-time" of:"omega" doc:"encoding of the episode's number for g: fourier, periods or scalar (I25)"`
	Waves    int                     `set:"g-frequencies" of:"omega" doc:"number of frequencies of fourier and periods (I25)"`
	Clip     propensity.ClipPolicy   `set:"clip" of:"omega" doc:"clip of omega: min1, exp1 or none (Table 1, I2: omega clip 1)"`

	Episodes int `set:"episodes" of:"plan" doc:"length of training in episodes (not in the paper; I22)"`
	Threads  int `set:"threads" of:"sac" was:"0" doc:"threads of XLA on a CPU for each group of batched seeds, on which rounding depends; 0: one for each processor, at least four"`
}

var _ experiment.Setup = Settings{}

// rules say which values the settings may take.
func rules() experiment.Rules {
	return experiment.Rules{
		Choices: map[string][]string{
			"scenario":  Scenarios(),
			"evaluate":  {EvaluateTasks, EvaluateComing},
			"g-network": propensity.Names(propensity.BatchedNetworks()),
			"method":    propensity.Names(propensity.TimeVaryingMethods()),
			"g-time":    propensity.Names(propensity.ContinuousEncodings()),
			"clip":      propensity.Names(propensity.Clips()),
		},
		Minimum: map[string]int{"threads": 0, "burn-in": 0, "g-updates": 0, "g-every": 0, "recent": 0, "gamma": 0, "alpha": 0},
		// What sizes arrays: of numbers that are multiplied with each other, more would not fit into memory.
		Maximum: map[string]int{"batch": 1 << 16, "g-batch": 1 << 16, "hidden": 1 << 14, "g-hidden": 1 << 14,
			"context-hidden": 1 << 12, "layers": 64, "g-layers": 64, "history": 10_000, "g-frequencies": 1 << 12,
			"horizon": 100_000, "threads": 1 << 10, "gamma": 1, "tau": 1, "replay": 1 << 22, "evaluate-episodes": 10_000,
			"episodes": 10_000_000},
	}
}

// Fields lists the settings in their order.
func (s Settings) Fields() []experiment.Field { return experiment.Fields(s) }

// With returns a copy with another value of one setting. Errors name the setting, the valid values and, for an unknown
// name, the nearest one.
func (s Settings) With(name, value string) (experiment.Setup, error) {
	if err := rules().Set(&s, name, value); err != nil {
		return nil, err
	}
	return s, nil
}

// Validate checks every setting and those that must fit together.
func (s Settings) Validate() error {
	if err := rules().Check(s); err != nil {
		return err
	}
	if s.Every > s.Episodes {
		return fmt.Errorf("setting every=%d: the first evaluation would come after the %d episodes", s.Every, s.Episodes)
	}
	if s.Valves > env.Valves {
		return fmt.Errorf("setting valves=%d: there are %d", s.Valves, env.Valves)
	}
	for _, l := range learners.Entries {
		if err := s.agent(l, 1, 1).Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Length is the number of episodes.
func (s Settings) Length() int { return s.Episodes }

// Sampled is false: evaluations of one training are no sample of others.
func (s Settings) Sampled() bool { return false }

// PlannedSteps are the numbers of episodes after which the agent is evaluated.
func (s Settings) PlannedSteps() []int {
	var out []int
	for t := s.Every; t <= s.Episodes; t += s.Every {
		out = append(out, t)
	}
	return out
}

// CheckSeries tells whether a learner exists and the measure is that of this protocol.
func (s Settings) CheckSeries(name, measure string) error {
	if measure != "" && measure != MeasureReturn {
		return fmt.Errorf("robots have no measure of %q; use %q", measure, MeasureReturn)
	}
	l, ok := learners.Of(name)
	if !ok {
		return fmt.Errorf("there is no learner %q of robots%s (%s)",
			name, usage.Proposal(name, Learners()), strings.Join(Learners(), ", "))
	}
	if l.Scenario != "" && l.Scenario != s.Scenario {
		return fmt.Errorf("%q is of the scenario %s and cannot be shown on %s", name, l.Scenario, s.Scenario)
	}
	return nil
}

// Source is empty: samples are simulated.
func (s Settings) Source(*experiment.Host) experiment.Source { return experiment.Source{} }

// Notes says what a panel was made from, in sentences.
func (s Settings) Notes(_ experiment.Source, series []string, _ string) []string {
	alpha := fmt.Sprintf("fixed at %g", s.Alpha)
	if s.LearnAlpha {
		alpha = fmt.Sprintf("learned from %g", s.Alpha)
	}
	evaluated := "every task"
	if s.Evaluate == EvaluateComing {
		evaluated = fmt.Sprintf("the %d coming ones", s.EvaluateEpisodes)
	}
	out := []string{
		fmt.Sprintf("%d episodes of %d steps, evaluated on %s every %d episodes; "+
			"%d layers of %d units, batches of %d, an update every %s step after %d random ones, alpha %s.",
			s.Episodes, s.Horizon, evaluated, s.Every,
			s.Layers, s.Hidden, s.Batch, experiment.Ordinal(s.UpdateEvery), s.BurnIn, alpha),
	}
	if scenario, _ := scenarios.Of(s.Scenario); scenario.Note != nil {
		out = append(out, scenario.Note(s))
	}
	omega := func(name string) bool {
		l, _ := learners.Of(name)
		return l.Omega
	}
	if slices.ContainsFunc(series, omega) {
		network := fmt.Sprintf("%d layers", s.GLayers)
		if s.GNetwork != propensity.Deep {
			network = string(s.GNetwork)
		}
		out = append(out, fmt.Sprintf("g: %s of %d units, %s time, %d minibatches of %d at rate %g %s, clip %s, %s.",
			network, s.GHidden, s.GTime, s.GUpdates, s.GBatch, s.GRate, often(s.GEvery), s.Clip, s.Method))
	}
	return out
}

// Size is how many of the tasks there are, and how wide the networks.
func (s Settings) Size() string {
	size := fmt.Sprintf("%d units", s.Hidden)
	if scenario, _ := scenarios.Of(s.Scenario); slices.Contains(scenario.Parts, "claw") {
		size = fmt.Sprintf("%d of %d valves, %s", s.Valves, env.Valves, size)
	}
	return size
}

// often says when g is fitted.
func often(every int) string {
	switch every {
	case 0:
		return "before every update"
	case 1:
		return "after every episode"
	}
	return fmt.Sprintf("after every %d episodes", every)
}

// identity returns the settings that can change the numbers of a learner's run, and what else can: the simulator and
// the protocol's number; spec adds the backend. References use no agent. The seed is not among them, nor the group
// size, on which only rounding depends (runs.Batch).
func (e config) identity() map[string]string {
	parts := append([]string{"task", "evaluate"}, e.scenario.Parts...)
	for part, has := range map[string]bool{"coming": e.settings.Evaluate == EvaluateComing, "sac": e.learner.Reference == nil,
		"context": e.learner.Context, "omega": e.learner.Omega, "recent": e.learner.Recent} {
		if has {
			parts = append(parts, part)
		}
	}
	id := experiment.Identity(e.settings, parts...)
	id["protocol"], id["mujoco"] = version, artifact.MuJoCoVersion
	return id
}

// agent is the configuration of a learner's agent.
func (s Settings) agent(l Learner, observations, actions int) sac.Config {
	c := sac.Config{Observations: observations, Actions: actions, Hidden: s.Hidden, Layers: s.Layers, Batch: s.Batch,
		Gamma: s.Gamma, Tau: s.Tau, Capacity: s.Replay, BurnIn: s.BurnIn, ActorRate: s.ActorRate, CriticRate: s.CriticRate,
		Alpha: s.Alpha, LearnAlpha: s.LearnAlpha, AlphaRate: s.CriticRate}
	if l.Context {
		c.Context = &sac.Context{Hidden: s.ContextHidden, History: s.History}
	}
	if l.Recent {
		c.Recent = s.Recent
	}
	if l.Omega {
		c.Omega = &sac.Omega{Method: s.Method, Network: s.GNetwork, Clip: s.Clip,
			Hidden: s.GHidden, Layers: s.GLayers, Rate: s.GRate, Updates: s.GUpdates, Batch: s.GBatch, Every: s.GEvery,
			Time: s.GTime, Waves: s.Waves}
	}
	return c
}
