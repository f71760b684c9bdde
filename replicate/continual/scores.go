package continual

import (
	"context"
	"sync"

	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"

	"gonum.org/v1/gonum/stat"
)

// target is the step T that scores refer to.
func (s Settings) target() int {
	if s.Target < 0 {
		return s.Steps - 1
	}
	return s.Target
}

func scoreSteps(s Settings) []int { return stepsUpTo(s.target()) }

func scoreCost(s Settings, l Learner) float64 {
	return (1 + l.costOfG(s)) / float64(s.target()+1)
}

// scores reports for the samples of each past step t the mean of their clipped weights, E_{p_t} min(omega(x, T, t),
// 1) = 1 - TV(p_t, p_T) under the default clip (metric "score"), and the mean of log omega ("log-omega"), limited to
// plus or minus 60. g is fitted once, on all samples up to the target.
func scores(run *RunContext) runs.StepFunc {
	var once sync.Once
	var byStep map[int][]float64
	var failure error
	return func(ctx context.Context, t int) ([]runs.Row, error) {
		once.Do(func() { byStep, failure = run.logOmega(ctx, run.Settings.target()) })
		if failure != nil {
			return nil, failure
		}
		logs := byStep[t]
		weights := propensity.ClipPolicy(run.Settings.Clip).Weights(logs)
		for i, v := range logs {
			logs[i] = min(max(v, -60), 60)
		}
		return []runs.Row{
			{T: t, Metric: "score", Value: stat.Mean(weights, nil)},
			{T: t, Metric: "log-omega", Value: stat.Mean(logs, nil)},
		}, nil
	}
}

// logOmega weighs all samples up to T and returns the logarithms by step.
func (run *RunContext) logOmega(ctx context.Context, T int) (map[int][]float64, error) {
	data := run.Stream.Upto(0, T)
	logs, err := run.Learner.Phases[0].Weigh(ctx, run, data, T)
	if err != nil {
		return nil, err
	}
	out := map[int][]float64{}
	for i, t := range data.Time {
		out[int(t)] = append(out[int(t)], logs[i])
	}
	return out, nil
}
