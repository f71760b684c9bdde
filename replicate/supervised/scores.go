package supervised

import (
	"context"

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
			logs[i] = min(max(v, -60), 60)
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
