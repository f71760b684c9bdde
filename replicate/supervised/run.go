package supervised

import (
	"context"
	"fmt"

	"tvps/gomlx_models/mmd"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// RunContext holds one run's learner, stream, compiled models and settings.
type RunContext struct {
	Learner    Learner
	Settings   Settings
	Seed       int64
	Stream     *Stream
	Engine     *Engine
	Classifier *Classifier            // nil unless the measure trains one
	Start      func(t int) net.Values // where the classifier starts at step t

	train     TrainFunc                // nil unless the learner has a training of its own
	estimator *propensity.Estimator    // nil unless the learner fits g
	mmd       map[string]*mmd.Computer // by input; nil unless it is measured
}

// newRunContext prepares the run of a seed on an engine: it loads data and compiles programs.
func (x config) newRunContext(ctx context.Context, engine *Engine, seed int64) (*RunContext, error) {
	stream, err := x.source.Stream(ctx, engine, seed)
	if err != nil {
		return nil, err
	}
	if err := engine.load(stream); err != nil {
		return nil, err
	}
	run := &RunContext{Learner: x.learner, Settings: x.settings, Seed: seed, Stream: stream, Engine: engine}
	if x.measure.prepare != nil {
		if err := x.measure.prepare(run); err != nil {
			return nil, err
		}
	}
	if x.learner.fits() {
		if run.estimator, err = engine.estimator(x.settings, stream, x.learner.Method); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// prepareTraining prepares the classifier, where it starts, and the learner's own training.
func prepareTraining(run *RunContext) error {
	var err error
	run.Classifier, err = experiment.Memoize(&run.Engine.memo, run.modelKey(), func() (*Classifier, error) {
		return NewClassifier(run.Engine.Backend, run.Settings, run.Stream.Pool.Shape(), run.Stream.Classes)
	})
	if err != nil {
		return err
	}
	run.Start = func(t int) net.Values { return run.Classifier.Init(run.Seed, t) }
	if head := run.Stream.Head; head != nil && (run.Settings.Start == "pretrained" || run.Learner.StartsPretrained) {
		run.Start = func(int) net.Values { return head }
	}
	if run.Learner.Train != nil {
		run.train, err = run.Learner.Train(run)
	}
	return err
}

// modelKey names all that a compiled classifier depends on.
func (run *RunContext) modelKey() string {
	training := experiment.Identity(run.Settings, "classifier", string(run.Settings.model()))
	return fmt.Sprint(training, run.Stream.Pool.Shape(), run.Stream.Classes)
}

// step trains the learner at t on data up to t and tests it on step t + 1.
func (run *RunContext) step(ctx context.Context, t int) ([]runs.Row, error) {
	values, rows, err := run.fit(ctx, t)
	if err != nil {
		return nil, err
	}
	test := run.Stream.Test(t + 1)
	predicted, err := run.Classifier.Predict(ctx, run.Stream.Pool, values, test.Row)
	if err != nil {
		return nil, err
	}
	return append(rows, runs.Row{T: t, Metric: measureAccuracy, Value: Accuracy(predicted, test)}), nil
}

// fit trains the learner at t. It returns the trained values and, where samples were weighed, the effective sample
// size as a share of the samples ("ess") and what the weights report.
func (run *RunContext) fit(ctx context.Context, t int) (net.Values, []runs.Row, error) {
	if run.train != nil {
		values, err := run.train(ctx, t)
		return values, nil, err
	}
	values, standardised := run.Start(t), false
	var rows []runs.Row
	for i, p := range run.Learner.Phases {
		first, last := p.Steps(t)
		if last < first {
			continue
		}
		data := run.Stream.Upto(first, last)
		if p.Weigh != nil && t > 0 {
			omega, err := p.Weigh(ctx, run, data, t)
			if err != nil {
				return nil, nil, err
			}
			data.Weight = run.Settings.Clip.Weights(omega.Log)
			share := propensity.EffectiveSampleSize(data.Weight) / float64(data.Len())
			rows = append(rows, runs.Row{T: t, Metric: "ess", Value: share})
			rows = append(rows, omega.Rows...)
		}
		if !standardised {
			values, standardised = run.Classifier.Standardise(values, run.Stream.X, data), true
		}
		var err error
		epochs, order := p.Epochs(run.Settings), batchOrder(run.Seed, t, i)
		values, err = run.Classifier.Fit(ctx, run.Stream.Pool, values, data, epochs, order)
		if err != nil {
			return nil, nil, err
		}
	}
	return values, rows, nil
}
