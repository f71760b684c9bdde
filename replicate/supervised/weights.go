package supervised

import (
	"context"
	"fmt"
	"math"

	"tvps/data/random"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// timeVarying fits g from scratch on all samples up to t and returns omega(x_i, t, t_i).
func timeVarying(ctx context.Context, run *RunContext, data Samples, t int) (Omega, error) {
	return run.learned(ctx, data, t, 1, (*propensity.Score).LogOmega)
}

// standard returns beta(x_i), which does not depend on time: the estimator's method differs.
func standard(ctx context.Context, run *RunContext, data Samples, t int) (Omega, error) {
	if t < run.Settings.Window { // everything is current: nothing to weigh
		return Omega{Log: make([]float64, data.Len())}, nil
	}
	return run.learned(ctx, data, t, run.Settings.Window, (*propensity.Score).LogOmega)
}

// exact returns the closed form of omega.
func exact(_ context.Context, run *RunContext, data Samples, t int) (Omega, error) {
	return run.closedForm("exact", data, func(i int) float64 {
		return run.Stream.LogRatio(data.Row[i], data.Label[i], t, int(data.Time[i]))
	})
}

// exactMixture returns the closed form of p_t over the mixture of the steps 0..t: the balance heuristic.
func exactMixture(_ context.Context, run *RunContext, data Samples, t int) (Omega, error) {
	inverse := make([]float64, t+1) // log p_s / p_t
	return run.closedForm("exact-mixture", data, func(i int) float64 {
		for s := range inverse {
			inverse[s] = run.Stream.LogRatio(data.Row[i], data.Label[i], s, t)
		}
		return math.Log(float64(t+1)) - floats.LogSumExp(inverse)
	})
}

// byAge returns weights that halve every so many steps of age.
func byAge(halfLife int) Weigh {
	return func(_ context.Context, _ *RunContext, data Samples, t int) (Omega, error) {
		out := make([]float64, data.Len())
		for i, time := range data.Time {
			out[i] = -math.Ln2 * (float64(t) - float64(time)) / float64(halfLife)
		}
		return Omega{Log: out}, nil
	}
}

// closedForm returns the weights of a learner that needs the exact ratios of densities. of: log omega of sample i.
func (run *RunContext) closedForm(learner string, data Samples, of func(i int) float64) (Omega, error) {
	if run.Stream.LogRatio == nil {
		return Omega{}, fmt.Errorf("scenario %s has no closed form of omega; leave out the learner %s",
			run.Settings.Scenario, learner)
	}
	out := make([]float64, data.Len())
	for i := range out {
		out[i] = of(i)
	}
	return Omega{Log: out}, nil
}

// mixture is exactMixture by the g of timeVarying.
func mixture(ctx context.Context, run *RunContext, data Samples, t int) (Omega, error) {
	return run.learned(ctx, data, t, 1, (*propensity.Score).LogMixture)
}

// learned returns the weights of data, which weights makes of a g that is fitted on the training samples of steps 0..t,
// and g's held-out loss. With g-start=previous that fit starts where a fit on the data up to t-1 ended. The earlier fit
// is made from scratch, at twice the cost: so a step depends on no other step of its run. least is the first step at
// which g can be fitted.
func (run *RunContext) learned(ctx context.Context, data Samples, t, least int,
	weights func(*propensity.Score, context.Context, propensity.Samples, float64) ([]float64, error)) (Omega, error) {
	var start *propensity.Score
	var err error
	if run.Settings.GStart == "previous" && t > least {
		if start, err = run.fitG(ctx, nil, run.Stream.Upto(0, t-1), t-1); err != nil {
			return Omega{}, err
		}
	}
	score, err := run.fitG(ctx, start, run.Stream.Upto(0, t), t)
	if err != nil {
		return Omega{}, err
	}
	logs, err := weights(score, ctx, run.inputsOfG(data), float64(t))
	if err != nil {
		return Omega{}, err
	}
	rows, err := run.heldOutLoss(ctx, score, t)
	return Omega{Log: logs, Rows: rows}, err
}

// fitG fits g on the data of steps 0..t, from another fit or, with start = nil, from scratch. The data standardise
// its inputs.
func (run *RunContext) fitG(ctx context.Context, start *propensity.Score, data Samples,
	t int) (*propensity.Score, error) {
	estimator := run.estimator
	if of := run.Stream.InputOfG; of != nil {
		pool := asItIs(run.Stream.GPool.X)
		moments(of, data.Row, pool.Mean, pool.Scale)
		var err error
		if estimator, err = estimator.On(pool); err != nil {
			return nil, err
		}
	}
	return estimator.FitFrom(ctx, start, run.inputsOfG(data), xslices.Iota(0., t+1), random.Seed(run.Seed, "g", t))
}

// heldOutLoss reports g's loss on the validation samples of the steps 0..t; nothing if there are none.
func (run *RunContext) heldOutLoss(ctx context.Context, score *propensity.Score, t int) ([]runs.Row, error) {
	if run.Stream.Validation == nil {
		return nil, nil
	}
	held := run.inputsOfG(gathered(run.Stream.Validation, 0, t))
	loss, err := score.Loss(ctx, run.Stream.ValidationX, held, random.Seed(run.Seed, "g-loss", t))
	if err != nil {
		return nil, err
	}
	return []runs.Row{{T: t, Metric: measureLoss, Value: loss}}, nil
}

// inputsOfG returns the samples as g sees them.
func (run *RunContext) inputsOfG(data Samples) propensity.Samples {
	samples := propensity.Samples{Row: data.Row, Time: data.Time}
	if run.Settings.GLabel {
		samples.Label = data.Label
	}
	return samples
}
