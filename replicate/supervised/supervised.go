// Package supervised is the paper's supervised experiment (Section 3.1): at every time step t each learner is
// retrained on data up to t and tested on t + 1.
//
// A [Scenario] under a seed is a [Stream]. A [Learner] is a list of trainings. Both are declarations: the same code
// runs every learner on every scenario. [Settings.Jobs] turns them into runs, which package runs computes once and
// keeps.
package supervised

import (
	"fmt"

	"tvps/replicate/experiment"
	"tvps/replicate/usage"
)

// version is part of every run's identity. Raise it when the same settings get another meaning: results of an older
// program are then not taken for those of this one.
const version = "1"

// versionOfPast is the version of runs whose g sees features or pixels. In version 1 all training samples standardised
// these inputs, in version 2 those up to the step.
const versionOfPast = "2"

// StandIn is what every page, picture, table and file says that was made without CLEAR.
const StandIn = "stand-in, not CLEAR"

// Protocol is what figures know of this package.
var Protocol = experiment.Protocol{
	Base:      "everything",
	Measure:   measureAccuracy,
	XLabel:    "time step t",
	Scenarios: Scenarios,
	Learners:  Learners,
	Fields:    func() []experiment.Field { return Settings{}.Fields() },
	At:        At,
}

// At returns the settings that a scenario declares for a scale. Errors: an unknown scenario or scale.
func At(scenario string, scale experiment.Scale) (experiment.Setup, error) {
	c, ok := scenarios.Of(scenario)
	if !ok {
		return nil, fmt.Errorf("there is no scenario %q%s", scenario, usage.Proposal(scenario, Scenarios()))
	}
	s, err := c.Scales.At(scale)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", scenario, err)
	}
	s.Scenario = scenario
	return s, nil
}
