package continual

import (
	"context"
	"fmt"

	"tvps/data/random"
	"tvps/gomlx_models/propensity"
)

// timeVarying fits g from scratch on all samples up to t and returns log omega(x_i, t, t_i).
func timeVarying(ctx context.Context, run *RunContext, data Samples, t int) ([]float64, error) {
	return run.learned(ctx, data, t, 1)
}

// standard returns log beta(x_i), which does not depend on time: the estimator's method differs.
func standard(ctx context.Context, run *RunContext, data Samples, t int) ([]float64, error) {
	if t < run.Settings.Window { // everything is current: nothing to weigh
		return make([]float64, data.Len()), nil
	}
	return run.learned(ctx, data, t, run.Settings.Window)
}

// conditional returns log omega(x_i, y_i, t, t_i) - log omega(x_i, t, t_i), the logarithm of p_t(y|x) / p_{t_i}(y|x):
// the drift of y given x alone. Both g are fitted as timeVarying fits its own, on the same minibatches.
func conditional(ctx context.Context, run *RunContext, data Samples, t int) ([]float64, error) {
	out, err := timeVarying(ctx, run, data, t)
	if err != nil {
		return nil, err
	}
	ofX := *run
	ofX.Settings, ofX.estimator = run.Settings.withoutLabel(), run.covariate
	logs, err := timeVarying(ctx, &ofX, data, t)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] -= logs[i]
	}
	return out, nil
}

// exact returns the closed form of log omega.
func exact(_ context.Context, run *RunContext, data Samples, t int) ([]float64, error) {
	if run.Stream.LogRatio == nil {
		return nil, fmt.Errorf("scenario %s has no closed form of omega; leave out the learner exact", run.Settings.Scenario)
	}
	out := make([]float64, data.Len())
	for i := range out {
		out[i] = run.Stream.LogRatio(data.Row[i], data.Label[i], t, int(data.Time[i]))
	}
	return out, nil
}

// learned returns log omega of data by a g that is fitted on the training samples of steps 0..t. With g-start=previous that fit starts
// where a fit on the data up to t-1 ended. The earlier fit is made from scratch, at twice the cost: so a step depends
// on no other step of its run. least is the first step at which g can be fitted.
func (run *RunContext) learned(ctx context.Context, data Samples, t, least int) ([]float64, error) {
	train := run.Stream.Upto(0, t)
	var start *propensity.Score
	var err error
	if run.Settings.GStart == "previous" && t > least {
		if start, err = run.fitG(ctx, nil, train.until(t-1), t-1); err != nil {
			return nil, err
		}
	}
	score, err := run.fitG(ctx, start, train, t)
	if err != nil {
		return nil, err
	}
	return score.LogOmega(ctx, run.inputsOfG(data), float64(t))
}

// fitG fits g on the data of steps 0..t, from another fit or, with start = nil, from scratch.
func (run *RunContext) fitG(ctx context.Context, start *propensity.Score, data Samples,
	t int) (*propensity.Score, error) {
	times := make([]float64, t+1)
	for i := range times {
		times[i] = float64(i)
	}
	return run.estimator.FitFrom(ctx, start, run.inputsOfG(data), times, random.Seed(run.Seed, "g", t))
}

// inputsOfG returns the samples as g sees them.
func (run *RunContext) inputsOfG(data Samples) propensity.Samples {
	samples := propensity.Samples{Row: data.Row, Time: data.Time}
	if run.Settings.GLabel {
		samples.Label = data.Label
	}
	return samples
}
