package continual

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tvps/data/random"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"
)

// A learner is a sequence of trainings at each step t, one behind the other. Each
// says which steps it learns from, for how long and with which weights.
type learner struct {
	phases []phase
}

type phase struct {
	steps  func(t int) (first, last int) // inclusive; none if last < first
	epochs func(s Settings) int
	weigh  func(ctx context.Context, b *bench, data Samples, t int) (logOmega []float64, err error) // nil: weight 1
}

func upto(t int) (int, int)   { return 0, t }
func before(t int) (int, int) { return 0, t - 1 }
func only(t int) (int, int)   { return t, t }

func allEpochs(s Settings) int  { return s.Epochs }
func tuneEpochs(s Settings) int { return s.FinetuneEpochs }

// learners is Section 3.1.1 of the paper as data, and three more: the exact omega in
// place of a learned one, the standard propensity score of Section 2, and on images
// the pre-trained network as it is.
var learnerTable = map[string]learner{
	"everything": {[]phase{{upto, allEpochs, nil}}},                            // Eq. toe
	"recent":     {[]phase{{only, allEpochs, nil}}},                            // Eq. tol
	"finetune":   {[]phase{{before, allEpochs, nil}, {only, tuneEpochs, nil}}}, // Eq. ft, without the penalty
	"ours":       {[]phase{{upto, allEpochs, timeVarying}}},                    // Eq. our_suprvised
	"exact":      {[]phase{{upto, allEpochs, exact}}},
	"standard":   {[]phase{{upto, allEpochs, standard}}},
	"pretrained": {},
}

// Learners lists the names of all learners.
func Learners() []string {
	var names []string
	for name := range learnerTable {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// CheckLearner tells whether a learner exists and fits the scenario.
func CheckLearner(name string, s Settings) error {
	if _, ok := learnerTable[name]; !ok {
		return fmt.Errorf("there is no learner %q; did you mean %q? (%s)", name, Nearest(name, Learners()), strings.Join(Learners(), ", "))
	}
	if name == "pretrained" && s.Network != "head" {
		return fmt.Errorf("the learner pretrained needs a pre-trained network, and %s has none; choose other panels or series", s.Scenario)
	}
	return nil
}

// bench is one run's workplace: the stream of a seed and what is compiled for it.
type bench struct {
	settings   Settings
	seed       int64
	stream     *Stream
	classifier *Classifier
	start      func(t int) net.Values // where the classifier starts at step t
	estimator  *propensity.Estimator  // nil unless the learner needs g
}

// step trains a learner at t on data up to t and tests it on step t + 1.
func (b *bench) step(ctx context.Context, l learner, t int) ([]runs.Row, error) {
	values, rows, err := b.train(ctx, l, t)
	if err != nil {
		return nil, err
	}
	test := b.stream.Test(t + 1)
	predicted, err := b.classifier.Predict(ctx, b.stream.Pool, values, test.Row)
	if err != nil {
		return nil, err
	}
	return append(rows, runs.Row{T: t, Metric: "accuracy", Value: Accuracy(predicted, test)}), nil
}

// train runs a learner's phases at t and returns the trained values and what is worth
// knowing about them.
func (b *bench) train(ctx context.Context, l learner, t int) (net.Values, []runs.Row, error) {
	values := b.start(t)
	fresh := true
	var rows []runs.Row
	for i, p := range l.phases {
		first, last := p.steps(t)
		if last < first {
			continue
		}
		data := b.stream.Upto(first, last)
		if p.weigh != nil && t > 0 {
			logs, err := p.weigh(ctx, b, data, t)
			if err != nil {
				return nil, nil, err
			}
			data.Weight = propensity.ClipPolicy(b.settings.Clip).Weights(logs)
			rows = append(rows, runs.Row{T: t, Metric: "ess", Value: propensity.EffectiveSampleSize(data.Weight) / float64(data.Len())})
		}
		if fresh {
			values, fresh = b.classifier.Standardise(values, b.stream.X, data), false
		}
		var err error
		if values, err = b.classifier.Fit(ctx, b.stream.Pool, values, data, p.epochs(b.settings), batchOrder(b.seed, t, i)); err != nil {
			return nil, nil, err
		}
	}
	return values, rows, nil
}

// timeVarying fits g anew on all samples up to t and returns log omega(x_i, t, t_i).
func timeVarying(ctx context.Context, b *bench, data Samples, t int) ([]float64, error) {
	times := make([]float64, t+1)
	for i := range times {
		times[i] = float64(i)
	}
	samples := propensity.Samples{Row: data.Row, Time: data.Time}
	if b.settings.GLabel {
		samples.Label = data.Label
	}
	score, err := b.estimator.Fit(ctx, samples, times, random.Seed(b.seed, "g", t))
	if err != nil {
		return nil, err
	}
	return score.LogOmega(ctx, samples, float64(t))
}

// standard is log beta(x_i), which has no time: the estimator's method differs.
func standard(ctx context.Context, b *bench, data Samples, t int) ([]float64, error) {
	if t < b.settings.Window { // everything is current: nothing to weigh
		return make([]float64, data.Len()), nil
	}
	return timeVarying(ctx, b, data, t)
}

// exact is the closed form of log omega.
func exact(_ context.Context, b *bench, data Samples, t int) ([]float64, error) {
	out := make([]float64, data.Len())
	for i := range out {
		out[i] = b.stream.LogRatio(data.Row[i], data.Label[i], t, int(data.Time[i]))
	}
	return out, nil
}
