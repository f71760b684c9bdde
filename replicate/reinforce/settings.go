package reinforce

import (
	"fmt"
	"strings"

	"tvps/data/env"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/sac"
	"tvps/replicate/settings"
)

// Settings are all numbers and choices of one scenario; see package settings for the tags.
// The tag `of` names the part of the work that a setting can change: "task" and "evaluate"
// concern every run, "claw" that scenario, "sac" every learner, "context" and "omega" the
// learners that have them, "plan" none.
type Settings struct {
	Scenario string `set:"scenario" of:"task" doc:"cheetah (Half-Cheetah WindVel), claw (ROBEL D'Claw) (Section 3.2), or halfcheetah (the usual task, to compare with other programs)"`
	Horizon  int    `set:"horizon" of:"task" doc:"steps of an episode (cheetah 50, claw 40: the reference implementations; I19)"`
	Repeat   int    `set:"repeat" of:"claw" doc:"claw: episodes of a task before the next one (2, Fig. 2; 25, Fig. 10 and 11)"`
	Valves   int    `set:"valves" of:"claw" doc:"claw: how many of the ten valves are in the sequence (10, Section 3.2)"`

	Every            int `set:"every" of:"evaluate" doc:"episodes between two evaluations"`
	EvaluateEpisodes int `set:"evaluate-episodes" of:"evaluate" doc:"episodes of an evaluation (cheetah 50, claw 5, Table 1; I20)"`

	Hidden      int     `set:"hidden" of:"sac" doc:"units of each hidden layer of actor and critics (256, Table 1)"`
	Layers      int     `set:"layers" of:"sac" doc:"hidden layers of actor and critics (2, Table 1)"`
	Batch       int     `set:"batch" of:"sac" doc:"transitions an update (256, Table 1)"`
	Gamma       float64 `set:"gamma" of:"sac" doc:"discount factor (.99, Table 1)"`
	Tau         float64 `set:"tau" of:"sac" doc:"target network update rate (.005, Table 1)"`
	ActorRate   float64 `set:"actor-rate" of:"sac" doc:"learning rate of the actor (3e-4, Table 1)"`
	CriticRate  float64 `set:"critic-rate" of:"sac" doc:"learning rate of the critics (3e-4, Table 1)"`
	Alpha       float64 `set:"alpha" of:"sac" doc:"entropy coefficient; where it is learned, its first value (I21)"`
	LearnAlpha  bool    `set:"learn-alpha" of:"sac" doc:"whether the entropy coefficient is learned, towards an entropy of minus the number of actions (I21)"`
	Replay      int     `set:"replay" of:"sac" doc:"transitions in the replay buffer (1e6, Table 1)"`
	BurnIn      int     `set:"burn-in" of:"sac" doc:"steps of random actions before the first update (1e4, Table 1)"`
	UpdateEvery int     `set:"update-every" of:"sac" doc:"steps for each update (I22)"`

	ContextHidden int `set:"context-hidden" of:"context" doc:"units of the GRU (I23)"`
	History       int `set:"history" of:"context" doc:"steps that the GRU sees (I23)"`

	GHidden  int     `set:"g-hidden" of:"omega" doc:"units of each hidden layer of g (I24)"`
	GLayers  int     `set:"g-layers" of:"omega" doc:"fully connected layers of g (4 with ReLU and BatchNorm, Table 1)"`
	GRate    float64 `set:"g-rate" of:"omega" doc:"learning rate of g (1e-4, Table 1)"`
	GUpdates int     `set:"g-updates" of:"omega" doc:"minibatches of one fit of g (M = 4, Table 1; I24)"`
	GBatch   int     `set:"g-batch" of:"omega" doc:"triplets of a minibatch of g (512, Table 1)"`
	GEvery   int     `set:"g-every" of:"omega" doc:"episodes between two fits of g, 0 for a fit before every update (I24)"`
	Method   string  `set:"method" of:"omega" doc:"method1 or method2 (Eq. exp_family, Eq. deviations)"`
	GTime    string  `set:"g-time" of:"omega" doc:"how the episode's number enters g: fourier, periods or scalar (I25)"`
	Waves    int     `set:"g-frequencies" of:"omega" doc:"frequencies of fourier and periods (I25)"`
	Clip     string  `set:"clip" of:"omega" doc:"min1, exp1 or none (omega clip 1, Table 1; I2)"`

	Episodes int `set:"episodes" of:"plan" doc:"episodes of training (the paper does not say; I22)"`
	Stack    int `set:"stack" of:"plan" doc:"seeds that train in one compiled program, 0 for as many as are fastest on this machine, measured once; rounding depends on it"`
}

// rules say which values the settings may take.
var rules = settings.Rules{
	Choices: map[string][]string{
		"scenario": Scenarios(),
		"method":   {"method1", "method2"},
		"g-time":   {"fourier", "periods", "scalar"},
		"clip":     {"min1", "exp1", "none"},
	},
	Minimum: map[string]int{"stack": 0, "burn-in": 0, "g-updates": 0, "g-every": 0, "gamma": 0, "alpha": 0},
}

// Scenarios lists the robots.
func Scenarios() []string { return []string{"cheetah", "claw", "halfcheetah"} }

// Fields lists the settings in their order.
func (s Settings) Fields() []settings.Field { return settings.Fields(s) }

// Set overrides one setting by name. Errors name the setting, the valid values and, for an
// unknown name, the nearest one.
func (s *Settings) Set(name, value string) error { return rules.Set(s, name, value) }

// Validate checks every setting and those that must fit together.
func (s Settings) Validate() error {
	if err := rules.Check(s); err != nil {
		return err
	}
	if s.Every > s.Episodes {
		return fmt.Errorf("setting every=%d: the first evaluation would come after the %d episodes", s.Every, s.Episodes)
	}
	if s.Valves > env.Valves {
		return fmt.Errorf("setting valves=%d: there are %d", s.Valves, env.Valves)
	}
	for _, name := range Learners() {
		if err := s.agent(learners[name], 1, 1).Validate(); err != nil {
			return err
		}
	}
	return nil
}

// PlannedSteps are the numbers of episodes after which the agent is evaluated.
func (s Settings) PlannedSteps() []int {
	var out []int
	for t := s.Every; t <= s.Episodes; t += s.Every {
		out = append(out, t)
	}
	return out
}

// learner is a variant of SAC.
type learner struct{ context, omega bool }

// learners are those of Figures 2, 10 and 11.
var learners = map[string]learner{
	"sac":               {},
	"sac-omega":         {omega: true},
	"sac-context":       {context: true},
	"sac-context-omega": {context: true, omega: true},
}

// Learners lists the names of all learners.
func Learners() []string { return []string{"sac", "sac-omega", "sac-context", "sac-context-omega"} }

// What a run reports: the mean undiscounted return of evaluation episodes, that of the
// training episodes since the last evaluation, and the share of evaluation episodes that
// end with the valve at its target.
const (
	MeasureReturn  = "return"
	TrainingReturn = "training-return"
	Success        = "success"
)

// Film is the attachment of a run that shows one of its last evaluation episodes.
const Film = "film.svg"

// CheckSeries tells whether a learner exists and the measure is one of this protocol.
func CheckSeries(name, measure string) error {
	if measure != MeasureReturn {
		return fmt.Errorf("robots have no measure of %q; use %q", measure, MeasureReturn)
	}
	if _, ok := learners[name]; !ok {
		return fmt.Errorf("there is no learner %q of robots; did you mean %q? (%s)", name, settings.Nearest(name, Learners()), strings.Join(Learners(), ", "))
	}
	return nil
}

// identity returns the settings that can change the numbers of a learner, as text.
func (s Settings) identity(l learner) map[string]string {
	parts := []string{"task", "evaluate", "sac"}
	for part, in := range map[string]bool{"claw": s.Scenario == "claw", "context": l.context, "omega": l.omega} {
		if in {
			parts = append(parts, part)
		}
	}
	return settings.Of(s, parts...)
}

// agent is the configuration of a learner's agent.
func (s Settings) agent(l learner, observations, actions int) sac.Config {
	c := sac.Config{Observations: observations, Actions: actions, Hidden: s.Hidden, Layers: s.Layers, Batch: s.Batch,
		Gamma: s.Gamma, Tau: s.Tau, Capacity: s.Replay, BurnIn: s.BurnIn, ActorRate: s.ActorRate, CriticRate: s.CriticRate,
		Alpha: s.Alpha, LearnAlpha: s.LearnAlpha, AlphaRate: s.CriticRate}
	if l.context {
		c.Context = &sac.Context{Hidden: s.ContextHidden, History: s.History}
	}
	if l.omega {
		c.Omega = &sac.Omega{Method: propensity.Method(s.Method), Hidden: s.GHidden, Layers: s.GLayers, Rate: s.GRate, Updates: s.GUpdates,
			Batch: s.GBatch, Every: s.GEvery, Clip: propensity.ClipPolicy(s.Clip), Time: propensity.TimeEncoding(s.GTime), Waves: s.Waves}
	}
	return c
}
