package supervised

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/stat"
)

// Measures by name. Accuracy is that of Section 3.1; the others look at omega and at the data themselves.
const (
	measureAccuracy = "accuracy" // on step t + 1 of the model of step t
	measureScore    = "score"    // of the samples of step t, with respect to the target T
	measureMean     = "mean"     // of the inputs of step t, one-dimensional streams only
	measureMMD      = "mmd"      // between step t and the steps before it, images only
	measureLoss     = "g-loss"   // of g on validation samples of the steps up to t
)

// measure is what a run reports at each of its steps.
type measure struct {
	name    string
	trains  bool                                // whether classifiers are trained
	takes   func(l Learner) bool                // which learners it makes sense for; series of its own always belong to it
	groups  []string                            // groups of settings that can change it, besides those of the learner
	steps   func(s Settings) []int              // the steps that it has
	cost    func(l Learner, s Settings) float64 // of a step, in the unit of Learner.cost
	prepare func(run *RunContext) error         // loads and compiles what start needs; nil if nothing
	start   func(run *RunContext) runs.StepFunc
}

var measures = []measure{
	{
		name: measureAccuracy, trains: true, takes: func(Learner) bool { return true },
		steps: Settings.PlannedSteps, cost: Learner.cost,
		prepare: prepareTraining, start: func(run *RunContext) runs.StepFunc { return run.step },
	}, {
		name: measureScore, takes: Learner.weighs, groups: []string{"score"},
		steps: func(s Settings) []int { return xslices.Iota(0, s.target()+1) },
		cost:  func(l Learner, s Settings) float64 { return (1 + l.costOfG(s)) / float64(s.target()+1) }, start: scores,
	}, {
		name: measureMMD, takes: Learner.weighs, groups: []string{"mmd"},
		steps: Settings.PlannedSteps, cost: func(l Learner, s Settings) float64 { return s.costOfMMD() + l.costOfG(s) },
		prepare: prepareMMD, start: discrepancies,
	}, {
		name: measureLoss, takes: Learner.fits,
		steps: Settings.PlannedSteps, cost: Learner.costOfG, start: losses,
	}, {
		name: measureMean, takes: func(Learner) bool { return false },
		steps: func(s Settings) []int { return xslices.Iota(0, s.Steps) }, cost: func(Learner, Settings) float64 { return 1 },
		start: means,
	},
}

// measureOf returns a measure by name; empty is that of accuracy.
func measureOf(name string) (measure, error) {
	name = cmp.Or(name, measureAccuracy)
	i := slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
	if i < 0 {
		return measure{}, fmt.Errorf("there is no measure %q", name)
	}
	return measures[i], nil
}

// series lists the names of the series that the measure makes sense for, sorted.
func (m measure) series() []string {
	return learners.NamesOf(func(l Learner) bool {
		return l.Only == m.name || l.Only == "" && m.takes(l.base())
	})
}

// losses reports what is reported of g's fit at every step. No classifier is trained.
func losses(run *RunContext) runs.StepFunc {
	return func(ctx context.Context, t int) ([]runs.Row, error) {
		if t == 0 { // no g is fitted
			return nil, nil
		}
		omega, err := run.Learner.Phases[0].Weigh(ctx, run, run.Stream.Upto(t, t), t)
		return omega.Rows, err
	}
}

// means reports the mean input of every step.
func means(run *RunContext) runs.StepFunc {
	return func(_ context.Context, t int) ([]runs.Row, error) {
		samples := run.Stream.Train(t)
		sum := 0.0
		for _, row := range samples.Row {
			sum += float64(run.Stream.X[row])
		}
		return []runs.Row{{T: t, Metric: "mean", Value: sum / float64(samples.Len())}}, nil
	}
}

// target is the step T that scores refer to.
func (s Settings) target() int {
	if s.Target < 0 {
		return s.Steps - 1
	}
	return s.Target
}

// scores reports for the samples of each past step t the mean of their clipped weights, E_{p_t} min(omega(x, T, t),
// 1) = 1 - TV(p_t, p_T) under the default clip (metric "score"), and the mean of log omega ("log-omega"), limited to
// plus or minus 60. g is fitted once, on all samples up to the target; the step of the target reports its held-out
// loss.
func scores(run *RunContext) runs.StepFunc {
	var byStep map[int][]float64
	var ofFit []runs.Row
	return func(ctx context.Context, t int) ([]runs.Row, error) {
		if byStep == nil {
			var err error
			if byStep, ofFit, err = run.logOmega(ctx, run.Settings.target()); err != nil {
				return nil, err
			}
		}
		logs := byStep[t]
		weights := run.Settings.Clip.Weights(logs)
		for i, v := range logs {
			logs[i] = propensity.Bounded(v)
		}
		rows := []runs.Row{
			{T: t, Metric: "score", Value: stat.Mean(weights, nil)},
			{T: t, Metric: "log-omega", Value: stat.Mean(logs, nil)},
		}
		if t == run.Settings.target() {
			rows = append(rows, ofFit...)
		}
		return rows, nil
	}
}

// logOmega weighs all samples up to T and returns the logarithms by step, and what is reported of the fit.
func (run *RunContext) logOmega(ctx context.Context, T int) (map[int][]float64, []runs.Row, error) {
	data := run.Stream.Upto(0, T)
	omega, err := run.Learner.Phases[0].Weigh(ctx, run, data, T)
	if err != nil {
		return nil, nil, err
	}
	out := map[int][]float64{}
	for i, t := range data.Time {
		out[int(t)] = append(out[int(t)], omega.Log[i])
	}
	return out, omega.Rows, nil
}
