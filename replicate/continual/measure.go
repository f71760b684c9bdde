package continual

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"
	"tvps/replicate/settings"

	"gonum.org/v1/gonum/stat"
)

// A measure is what a run reports at each of its steps.
type measure struct {
	learners []string               // that it makes sense for; nil for all
	groups   []string               // the settings that can change it, besides those of the learner
	steps    func(s Settings) []int // which steps it has
	cost     func(s Settings, l learner) float64
	start    func(b *bench, l learner) runs.StepFunc
}

// Measures by name. Accuracy is the protocol of Section 3.1; the others look at omega
// and at the data themselves.
const (
	MeasureAccuracy = "accuracy" // on step t + 1 of the model of step t
	MeasureScore    = "score"    // of the samples of step t, seen from the target T
	MeasureMean     = "mean"     // of the inputs of step t, one-dimensional streams only
	MeasureMMD      = "mmd"      // between step t and the steps before it, images only

)

var measures = map[string]measure{
	MeasureAccuracy: {nil, []string{"classifier"}, Settings.PlannedSteps, trainingCost,
		func(b *bench, l learner) runs.StepFunc {
			return func(ctx context.Context, t int) ([]runs.Row, error) { return b.step(ctx, l, t) }
		}},
	MeasureScore: {[]string{"exact", "method1", "method2", "ours", "standard"}, []string{"score"}, scoreSteps, scoreCost, scores},
	MeasureMMD: {[]string{"exact", "ours", "raw"}, []string{"mmd"}, Settings.PlannedSteps,
		func(s Settings, l learner) float64 { return 3000 + s.gCost(l) }, discrepancies},
	MeasureMean: {[]string{"data"}, nil, func(s Settings) []int { return upTo(s.Steps - 1) }, func(Settings, learner) float64 { return 1 }, means},
}

// measureOf returns a measure by name; empty is that of accuracy.
func measureOf(name string) (string, measure) {
	if name == "" {
		name = MeasureAccuracy
	}
	return name, measures[name]
}

// CheckSeries tells whether a series exists and fits the scenario and the measure.
func CheckSeries(name string, s Settings, measured string) error {
	measured, m := measureOf(measured)
	valid := m.learners
	if valid == nil {
		valid = Learners()
	}
	if !slices.Contains(valid, name) {
		return fmt.Errorf("there is no learner %q with a measure of %s; did you mean %q? (%s)", name, measured, settings.Nearest(name, valid), strings.Join(valid, ", "))
	}
	if name == "pretrained" && s.Network != "head" {
		return fmt.Errorf("the learner pretrained needs a pre-trained network, and %s has none; choose other panels or series", s.Scenario)
	}
	if name == "metaweightnet" && s.Network == "head" {
		return fmt.Errorf("the learner metaweightnet trains vector models, and %s takes ResNet-18; choose other panels or series", s.Scenario)
	}
	return nil
}

// identity returns the settings that can change the numbers of a learner's measure, as
// text.
func (s Settings) identity(name, measured string) map[string]string {
	measured, m := measureOf(measured)
	groups := slices.Concat([]string{"stream"}, scenarios[s.Scenario].groups, m.groups, learnerTable[name].groups)
	if slices.Contains(m.groups, "classifier") {
		groups = append(groups, s.modelPart())
	}
	out := s.of(groups...)
	if measured != MeasureAccuracy {
		out["measure"] = measured
	}
	return out
}

func upTo(last int) []int {
	out := make([]int, last+1)
	for t := range out {
		out[t] = t
	}
	return out
}

// target is the step that scores look back from.
func (s Settings) target() int {
	if s.Target < 0 {
		return s.Steps - 1
	}
	return s.Target
}

func scoreSteps(s Settings) []int { return upTo(s.target()) }

func scoreCost(s Settings, l learner) float64 {
	return (1 + s.gCost(l)) / float64(s.target()+1)
}

// scores reports for the samples of each past step t the mean of their clipped weights,
// E_{p_t} min(omega(x, T, t), 1) = 1 - TV(p_t, p_T) under the default clip (metric
// "score"), and the mean of log omega ("log-omega"), limited to plus or minus 60. g is
// fitted once, on all samples up to the target.
func scores(b *bench, l learner) runs.StepFunc {
	T := b.settings.target()
	var once sync.Once
	var byStep map[int][]float64
	var failure error
	return func(ctx context.Context, t int) ([]runs.Row, error) {
		once.Do(func() { byStep, failure = b.logOmega(ctx, l.phases[0].weigh, T) })
		if failure != nil {
			return nil, failure
		}
		logs := byStep[t]
		weights := propensity.ClipPolicy(b.settings.Clip).Weights(logs)
		for i, v := range logs {
			logs[i] = min(max(v, -60), 60)
		}
		return []runs.Row{{T: t, Metric: "score", Value: stat.Mean(weights, nil)}, {T: t, Metric: "log-omega", Value: stat.Mean(logs, nil)}}, nil
	}
}

// logOmega weighs all samples up to T and returns the logarithms by step.
func (b *bench) logOmega(ctx context.Context, by weigh, T int) (map[int][]float64, error) {
	data := b.stream.Upto(0, T)
	logs, err := by(ctx, b, data, T)
	if err != nil {
		return nil, err
	}
	out := map[int][]float64{}
	for i, t := range data.Time {
		out[int(t)] = append(out[int(t)], logs[i])
	}
	return out, nil
}

// means reports the mean input of every step.
func means(b *bench, _ learner) runs.StepFunc {
	return func(_ context.Context, t int) ([]runs.Row, error) {
		samples := b.stream.Train(t)
		sum := 0.0
		for _, row := range samples.Row {
			sum += float64(b.stream.X[row])
		}
		return []runs.Row{{T: t, Metric: "mean", Value: sum / float64(samples.Len())}}, nil
	}
}
