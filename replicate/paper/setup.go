package paper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/continual"
	"tvps/replicate/reinforce"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
)

// Setup is the settings of a scenario under one of the paper's two protocols. It is a
// value: With returns a changed copy.
type Setup interface {
	Fields() []settings.Field
	With(name, value string) (Setup, error)
	Validate() error

	Length() int          // time steps, or episodes, in all
	PlannedSteps() []int  // those at which a run reports
	Thin(every int) Setup // reports only one of so many of them

	// Base is what learners that the user names are compared with; CheckSeries tells
	// whether a series exists and fits the measure.
	Base() string
	Learners() []string
	CheckSeries(name, measure string) error

	compared() []string                  // learners of a row of the study, their base first
	unit() (factor float64, sign string) // in which its tables give the measure
	jobs(l *Lab, series []string, seeds []int64, measure string) ([]runs.Wanted, error)
	// prepare finds out how the jobs of a panel are best grouped, before they are computed.
	prepare(ctx context.Context, l *Lab, p PanelPlan, workers int) error
	notes(l *Lab, p PanelPlan) []string // what a panel was made from, in sentences
	dataNote(l *Lab) string             // which data, without a full stop; empty where they are drawn
	standsIn(l *Lab) bool               // whether something stands in for the data
	xLabel() string                     // what a step is

	findings(p PanelPlan, rows []figures.Row) []string // what the rows say beyond the table, in sentences
	films(l *Lab, p PanelPlan) []figures.Film          // moving pictures that are stored beside the runs
}

// protocols are the two, without any setting.
var protocols = []Setup{supervised{}, robots{}}

// setupOf is the protocol of a scenario, without its other settings.
func setupOf(scenario string) Setup {
	if slices.Contains(reinforce.Scenarios(), scenario) {
		return robots{reinforce.Settings{Scenario: scenario}}
	}
	return supervised{continual.Settings{Scenario: scenario}}
}

// forOthers tells whether something is known to another protocol, and not to this one.
func forOthers(s Setup, known func(s Setup) bool) bool {
	return !known(s) && slices.ContainsFunc(protocols, known)
}

// meant leaves out overrides and learners that only the other protocol has: in what is asked
// of several figures at once they are not meant for this one.
func (o Options) meant(s Setup, overrides []string) (left, learners []string) {
	left = slices.DeleteFunc(slices.Clone(overrides), func(override string) bool {
		name, _, err := splitOverride(override)
		return err == nil && forOthers(s, func(s Setup) bool {
			return slices.ContainsFunc(s.Fields(), func(f settings.Field) bool { return f.Name == name })
		})
	})
	learners = slices.DeleteFunc(slices.Clone(o.Learners), func(name string) bool {
		return forOthers(s, func(s Setup) bool { return slices.Contains(s.Learners(), name) })
	})
	return left, learners
}

// supervised is the protocol of Section 3.1, package continual.
type supervised struct{ continual.Settings }

// With returns a copy with another value of one setting.
func (s supervised) With(name, value string) (Setup, error) {
	err := s.Set(name, value)
	return s, err
}

// Length is the number of time steps.
func (s supervised) Length() int { return s.Steps }

// Thin multiplies the stride.
func (s supervised) Thin(every int) Setup {
	s.Stride *= every
	return s
}

// Base is Everything.
func (s supervised) Base() string { return "everything" }

// Learners lists all learners.
func (s supervised) Learners() []string { return continual.Learners() }

// CheckSeries tells whether the series exists and fits scenario and measure.
func (s supervised) CheckSeries(name, measure string) error {
	return continual.CheckSeries(name, s.Settings, measure)
}

func (s supervised) jobs(l *Lab, series []string, seeds []int64, measure string) ([]runs.Wanted, error) {
	return continual.Jobs(l.Env, s.Settings, series, seeds, measure)
}

func (s supervised) prepare(context.Context, *Lab, PanelPlan, int) error { return nil }

func (s supervised) compared() []string      { return compared }
func (s supervised) unit() (float64, string) { return 100, "%" }

func (s supervised) dataNote(l *Lab) string { return l.Env.DataNote(s.Settings) }
func (s supervised) standsIn(l *Lab) bool   { return l.Env.StandsIn(s.Settings) }
func (s supervised) xLabel() string         { return "time step t" }

func (s supervised) findings(PanelPlan, []figures.Row) []string { return nil }

func (s supervised) films(*Lab, PanelPlan) []figures.Film { return nil }

func (s supervised) notes(l *Lab, p PanelPlan) []string {
	var out []string
	if p.accuracy() {
		limit := ""
		if s.MaxUpdates > 0 {
			limit = fmt.Sprintf(" (at most %d minibatches of %d)", s.MaxUpdates, s.Batch)
		}
		out = append(out, fmt.Sprintf("N = %d samples a step, %d epochs%s, every %s step of %d, clip %s, %s.",
			s.N, s.Epochs, limit, ordinal(s.Stride), s.Steps, s.Clip, s.Method))
	} else {
		out = append(out, fmt.Sprintf("N = %d samples a step, %d steps, clip %s.", s.N, s.Steps, s.Clip))
	}
	if p.Measure != continual.MeasureMean {
		training := fmt.Sprintf("%d minibatches", s.GUpdates)
		if s.GEpochs > 0 {
			training = fmt.Sprintf("%d epochs", s.GEpochs)
		}
		out = append(out, fmt.Sprintf("g: %s of width %d, %s time, %s of %d at rate %g.", s.GNetwork, s.GHidden, s.GTime, training, s.GBatch, s.GRate))
	}
	if err := s.CheckStride(); err != nil && p.accuracy() {
		out = append(out, err.Error()+".")
	}
	if note := s.dataNote(l); note != "" {
		out = append(out, note+".")
	}
	if len(p.Absent) > 0 {
		out = append(out, absent(p))
	}
	if s.Network != "head" {
		return out
	}
	out = append(out, fmt.Sprintf("ResNet-18 of width %d, trained part starts %s.", s.Width, map[string]string{"pretrained": "from the pre-trained weights", "reinit": "from new random weights"}[s.Start]))
	if s.Checkpoint == "committed" {
		out = append(out, "One checkpoint, pre-trained on split 0, serves all seeds.")
	}
	return out
}

// absent says which series are not drawn.
func absent(p PanelPlan) string {
	return fmt.Sprintf("Not drawn, as runs are missing: %s.", strings.Join(labels(p.Absent), ", "))
}
