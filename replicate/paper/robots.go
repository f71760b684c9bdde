package paper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/reinforce"
	"tvps/replicate/runs"
)

// robots is the protocol of Section 3.2, package reinforce.
type robots struct{ reinforce.Settings }

// With returns a copy with another value of one setting.
func (s robots) With(name, value string) (Setup, error) {
	err := s.Set(name, value)
	return s, err
}

// Length is the number of episodes.
func (s robots) Length() int { return s.Episodes }

// Thin lengthens the time between two evaluations.
func (s robots) Thin(every int) Setup {
	s.Every *= every
	return s
}

// Base is plain SAC.
func (s robots) Base() string { return "sac" }

// Learners lists the variants of SAC.
func (s robots) Learners() []string { return reinforce.Learners() }

// CheckSeries tells whether the series exists and fits the measure.
func (s robots) CheckSeries(name, measure string) error { return reinforce.CheckSeries(name, measure) }

func (s robots) jobs(l *Lab, series []string, seeds []int64, measure string) ([]runs.Wanted, error) {
	return reinforce.Jobs(s.env(l), s.Settings, series, seeds, measure)
}

func (s robots) env(l *Lab) *reinforce.Env {
	return &reinforce.Env{Backend: l.Env.Backend, CacheDir: l.Env.CacheDir, Log: l.Stderr}
}

// prepare measures how many seeds train fastest together, by which their jobs are grouped.
func (s robots) prepare(ctx context.Context, l *Lab, p PanelPlan, workers int) error {
	return reinforce.MeasureStack(ctx, s.env(l), s.Settings, p.Series, len(p.Seeds), workers)
}

func (s robots) compared() []string      { return comparedRobots }
func (s robots) unit() (float64, string) { return 1, "" }

func (s robots) dataNote(*Lab) string { return "" }
func (s robots) standsIn(*Lab) bool   { return false }
func (s robots) xLabel() string       { return "episode" }

func (s robots) notes(_ *Lab, p PanelPlan) []string {
	alpha := fmt.Sprintf("fixed at %g", s.Alpha)
	if s.LearnAlpha {
		alpha = fmt.Sprintf("learned from %g", s.Alpha)
	}
	out := []string{
		fmt.Sprintf("%d episodes of %d steps, evaluated on the %d coming ones every %d episodes; %d layers of %d units, batches of %d, an update every %s step after %d random ones, alpha %s.",
			s.Episodes, s.Horizon, s.EvaluateEpisodes, s.Every, s.Layers, s.Hidden, s.Batch, ordinal(s.UpdateEvery), s.BurnIn, alpha),
	}
	switch {
	case s.Scenario == "claw" && s.Valves == 1:
		out = append(out, "One valve, the same in every episode.")
	case s.Scenario == "claw":
		out = append(out, fmt.Sprintf("%d valves, each %d times before the next.", s.Valves, s.Repeat))
	}
	if slices.ContainsFunc(p.Series, func(name string) bool { return strings.Contains(name, "omega") }) {
		out = append(out, fmt.Sprintf("g: %d layers of %d units, %s time, %d minibatches of %d at rate %g %s, clip %s, %s.",
			s.GLayers, s.GHidden, s.GTime, s.GUpdates, s.GBatch, s.GRate, often(s.GEvery), s.Clip, s.Method))
	}
	if len(p.Absent) > 0 {
		out = append(out, absent(p))
	}
	return out
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

// films are episodes of the last evaluation, of the first seed of each series that has one.
func (s robots) films(l *Lab, p PanelPlan) []figures.Film {
	var out []figures.Film
	for _, name := range p.Series {
		for _, job := range p.Jobs {
			film := l.Store.Attached(job.Spec, reinforce.Film)
			if job.Series != name || film == nil {
				continue
			}
			look, _ := figures.LookUp(name)
			out = append(out, figures.Film{Name: name, Title: fmt.Sprintf("%s after %d episodes, seed %d, one evaluation episode", look.Label, s.Episodes, job.Spec.Seed), SVG: film})
			break
		}
	}
	return out
}

// findings compares the series where they end: the interquartile mean over seeds of the
// last quarter's mean return.
func (s robots) findings(p PanelPlan, rows []figures.Row) []string {
	var parts []string
	for _, name := range p.Series {
		ends, err := End.perSeed(rows, Part{Panel: p.Key, Series: name}, p.Shown)
		if err != nil {
			continue
		}
		look, _ := figures.LookUp(name)
		e := figures.InterquartileMean([][]float64{ends})
		parts = append(parts, fmt.Sprintf("%s %.4g [%.4g, %.4g]", look.Label, e.Mean, e.Low, e.High))
	}
	return []string{"Interquartile mean over seeds of the mean return over the last quarter, with the interval of the stratified bootstrap: " + strings.Join(parts, ", ") + "."}
}
