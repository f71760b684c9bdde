package continual

import (
	"context"
	"maps"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/metaweight"
	"tvps/gomlx_models/mmd"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"
)

// A learner is a sequence of trainings at each step t, one behind the other. Each
// says which steps it learns from, for how long and with which weights.
type learner struct {
	phases []phase
	train  func(ctx context.Context, b *bench, t int) (net.Values, error) // in place of phases
	groups []string                                                       // the settings that can change its numbers, besides those of all
	method propensity.Method                                              // of the g that it fits; settings: that of the settings, "" if it fits none
}

type phase struct {
	steps  func(t int) (first, last int) // inclusive; none if last < first
	epochs func(s Settings) int
	weigh  weigh // nil: weight 1
}

// weigh returns log omega(x_i, t, t_i) of every sample.
type weigh func(ctx context.Context, b *bench, data Samples, t int) ([]float64, error)

func upto(t int) (int, int)   { return 0, t }
func before(t int) (int, int) { return 0, t - 1 }
func only(t int) (int, int)   { return t, t }

func allEpochs(s Settings) int  { return s.Epochs }
func tuneEpochs(s Settings) int { return s.FinetuneEpochs }

const fromSettings propensity.Method = "settings"

// learnerTable is Section 3.1.1 of the paper as data, and three more: the exact omega in
// place of a learned one, the standard propensity score of Section 2, and on images
// the pre-trained network as it is.
var learnerTable = map[string]learner{
	"everything":    {phases: []phase{{upto, allEpochs, nil}}},                                                                  // Eq. toe
	"recent":        {phases: []phase{{only, allEpochs, nil}}},                                                                  // Eq. tol
	"finetune":      {phases: []phase{{before, allEpochs, nil}, {only, tuneEpochs, nil}}, groups: []string{"finetune"}},         // Eq. ft, without the penalty
	"ours":          {phases: []phase{{upto, allEpochs, timeVarying}}, groups: []string{"omega", "clip"}, method: fromSettings}, // Eq. our_suprvised
	"exact":         {phases: []phase{{upto, allEpochs, exact}}, groups: []string{"clip"}},
	"standard":      {phases: []phase{{upto, allEpochs, standard}}, groups: []string{"omega", "clip"}, method: propensity.Standard},
	"pretrained":    {},
	"metaweightnet": {train: metaWeightNet}, // Fig. 4
}

// variants are learners under a name that says one of their settings.
var variants = map[string]struct{ learner, setting, value string }{
	"method1": {"ours", "method", string(propensity.Method1)}, // Eq. exp_family
	"method2": {"ours", "method", string(propensity.Method2)}, // Eq. deviations
}

// resolve returns the learner behind a series and the settings that it takes there.
func resolve(series string, s Settings) (string, Settings, error) {
	if v, ok := variants[series]; ok {
		return v.learner, s, s.Set(v.setting, v.value)
	}
	return series, s, nil
}

// Learners lists the names of all learners and their variants.
func Learners() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(learnerTable)), maps.Keys(variants))
	slices.Sort(names)
	return names
}

// bench is one run's workplace: the stream of a seed and what is compiled for it.
type bench struct {
	settings   Settings
	seed       int64
	stream     *Stream
	classifier *Classifier
	start      func(t int) net.Values   // where the classifier starts at step t
	estimator  *propensity.Estimator    // nil unless the learner needs g
	mmd        map[string]*mmd.Computer // by input; nil unless it is measured
	metaWeight *metaweight.Trainer      // nil unless the learner is Meta-Weight-Net
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
	if l.train != nil {
		values, err := l.train(ctx, b, t)
		return values, nil, err
	}
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
	return b.learned(ctx, data, t, 1)
}

// standard is log beta(x_i), which has no time: the estimator's method differs.
func standard(ctx context.Context, b *bench, data Samples, t int) ([]float64, error) {
	if t < b.settings.Window { // everything is current: nothing to weigh
		return make([]float64, data.Len()), nil
	}
	return b.learned(ctx, data, t, b.settings.Window)
}

// learned is log omega by a g that is fitted on the data of steps 0..t. With
// g-start=previous that fit starts where one on the data up to t-1 ended, which is made
// anew, from scratch: a step depends on no other step of its run, at twice the cost.
// least is the first step at which g can be fitted.
func (b *bench) learned(ctx context.Context, data Samples, t, least int) ([]float64, error) {
	var start *propensity.Score
	var err error
	if b.settings.GStart == "previous" && t > least {
		if start, err = b.fit(ctx, nil, data.until(t-1), t-1); err != nil {
			return nil, err
		}
	}
	score, err := b.fit(ctx, start, data, t)
	if err != nil {
		return nil, err
	}
	return score.LogOmega(ctx, b.forG(data), float64(t))
}

// fit fits g on the data of steps 0..t, from what start reached (nil: from scratch).
func (b *bench) fit(ctx context.Context, start *propensity.Score, data Samples, t int) (*propensity.Score, error) {
	times := make([]float64, t+1)
	for i := range times {
		times[i] = float64(i)
	}
	return b.estimator.FitFrom(ctx, start, b.forG(data), times, random.Seed(b.seed, "g", t))
}

// forG is what g sees of the data.
func (b *bench) forG(data Samples) propensity.Samples {
	samples := propensity.Samples{Row: data.Row, Time: data.Time}
	if b.settings.GLabel {
		samples.Label = data.Label
	}
	return samples
}

// exact is the closed form of log omega.
func exact(_ context.Context, b *bench, data Samples, t int) ([]float64, error) {
	out := make([]float64, data.Len())
	for i := range out {
		out[i] = b.stream.LogRatio(data.Row[i], data.Label[i], t, int(data.Time[i]))
	}
	return out, nil
}
