package supervised

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/streams"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/xslices"
)

// weighing returns Ours with the given log omega of a sample of step s at step t.
func weighing(logOmega func(s, t int) float64) Learner {
	weigh := func(_ context.Context, _ *RunContext, data Samples, t int) (Omega, error) {
		logs := make([]float64, data.Len())
		for i := range logs {
			logs[i] = logOmega(int(data.Time[i]), t)
		}
		return Omega{Log: logs}, nil
	}
	return Learner{Phases: []Phase{{Steps: upto, Epochs: allEpochs, Weigh: weigh}}}
}

// constant returns Ours with log omega = v for every sample.
func constant(v float64) Learner { return weighing(func(_, _ int) float64 { return v }) }

// TestOmegaIsTheOnlyDifference: with omega = 1 Ours is Everything, in every bit of the trained parameters and of the
// accuracy, with every clip and for both kinds of classifier. With another omega it is not.
func TestOmegaIsTheOnlyDifference(t *testing.T) {
	im := fakeImages(t, 300, 100, 8)
	for _, c := range []struct {
		name string
		run  *RunContext
	}{
		{"gaussian, xla", gaussianRun(t, "", gaussianSettings(), "everything", 1)},
		{"gaussian, go", gaussianRun(t, "go", gaussianSettings(), "everything", 1)},
		{"images, go", imageRun(t, "go", imageSettings(), im)},
	} {
		t.Run(c.name, func(t *testing.T) {
			const at = 3
			everything := named("everything")
			want := trained(t, c.run, everything, at)
			accuracy := accuracyOf(t, c.run, everything, at)
			for _, clip := range propensity.Clips() {
				c.run.Settings.Clip = clip
				if err := sameBits(trained(t, c.run, constant(0), at), want); err != nil {
					t.Errorf("clip %s: with omega = 1 the parameters differ: %v", clip, err)
				}
				if got := accuracyOf(t, c.run, constant(0), at); math.Float64bits(got) != math.Float64bits(accuracy) {
					t.Errorf("clip %s: with omega = 1 the accuracy is %v, not %v", clip, got, accuracy)
				}
			}
			c.run.Settings.Clip = "none"
			last := weighing(func(s, t int) float64 { return float64(s - t) }) // the present has the largest weight
			if sameBits(trained(t, c.run, last, at), want) == nil {
				t.Error("another omega changes nothing")
			}
		})
	}
}

// At t = 0 there is no past to weigh: Ours is Everything, and no g is fitted.
func TestFirstStepNeedsNoOmega(t *testing.T) {
	b := gaussianRun(t, "go", gaussianSettings(), "everything", 0)
	demand.NoError(t, sameBits(trained(t, b, named("ours"), 0), trained(t, b, named("everything"), 0)))
}

// The effective sample size is reported as a share: 1 for equal weights, 1/(t+1) if only the last of t+1 steps has
// weight.
func TestEffectiveSampleSize(t *testing.T) {
	b := gaussianRun(t, "go", gaussianSettings(), "everything", 0)
	onlyLast := weighing(func(s, t int) float64 {
		if s < t {
			return math.Inf(-1)
		}
		return 0
	})
	for _, c := range []struct {
		l    Learner
		want float64
	}{{constant(0), 1}, {constant(-3), 1}, {onlyLast, .25}} {
		rows, err := b.with(c.l).step(context.Background(), 3)
		demand.NoError(t, err)
		if got := metric(t, rows, "ess"); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("effective sample size %v, want %v", got, c.want)
		}
	}
	_, err := b.with(constant(math.Inf(-1))).step(context.Background(), 3)
	demand.Error(t, err, "weights of 160 samples sum to 0", "resembles the present")
}

// TestHalfLife: weights of half-life 5 are 1 at the present, a half five steps before it, a quarter ten before it.
func TestHalfLife(t *testing.T) {
	got, err := named("age-5").Phases[0].Weigh(t.Context(), nil, Samples{Row: make([]int32, 3), Time: []int32{12, 7, 2}}, 12)
	demand.NoError(t, err)
	for i, want := range []float64{1, .5, .25} {
		if weight := math.Exp(got.Log[i]); math.Abs(weight-want) > 1e-12 {
			t.Errorf("a sample of age %d has weight %v, want %v", 5*i, weight, want)
		}
	}
}

const cloudDim = 3

// clouds returns a label-shift stream whose best classifier is known: class y is a normal distribution with unit
// variances around a centre of its own. Under the label distribution pi the best classifier is argmax log pi(y) -
// |x - centre_y|^2 / 2, which is linear in x. Rows below perClass * classes train, the others test.
func clouds(perClass int, shift streams.LabelShift) (stream *Stream, centres [][]float64) {
	rng := random.New(0, "continual test", "label shift")
	for range shift.Classes {
		centres = append(centres, []float64{1.2 * rng.NormFloat64(), 1.2 * rng.NormFloat64(), 1.2 * rng.NormFloat64()})
	}
	var x []float32
	rows := [2][][]int32{make([][]int32, shift.Classes), make([][]int32, shift.Classes)}
	for part := range rows {
		for y, centre := range centres {
			for range perClass {
				rows[part][y] = append(rows[part][y], int32(len(x)/cloudDim))
				for _, c := range centre {
					x = append(x, float32(c+rng.NormFloat64()))
				}
			}
		}
	}
	return &Stream{
		Classes: shift.Classes, X: x,
		Pool: tensors.FromFlatDataAndDimensions(x, len(x)/cloudDim, cloudDim),
		Train: func(t int) Samples {
			drawn, labels := shift.Draw(0, "train", t, 500, rows[0])
			return Samples{Row: drawn, Label: labels}
		},
		Test:     func(t int) Samples { return weighted(rows[1], shift.Prior(t)) },
		LogRatio: func(_, label int32, T, t int) float64 { return shift.LogRatio(int(label), T, t) },
	}, centres
}

// bayes returns the accuracy on weighted test samples of the best classifier under the label distribution pi.
func bayes(stream *Stream, centres [][]float64, test Samples, pi []float64) float64 {
	predicted := make([]int32, test.Len())
	for i, row := range test.Row {
		best := math.Inf(-1)
		for y, centre := range centres {
			score := math.Log(pi[y])
			for j, c := range centre {
				d := float64(stream.X[int(row)*cloudDim+j]) - c
				score -= d * d / 2
			}
			if score > best {
				best, predicted[i] = score, int32(y)
			}
		}
	}
	return Accuracy(predicted, test)
}

// effectivePrior returns the label distribution of the training samples of steps 0 to t, of which a sample of a class
// with the probability then at its step and now at step t has the mass mass(now, then).
func effectivePrior(shift streams.LabelShift, t int, mass func(now, then float64) float64) []float64 {
	now, pi, total := shift.Prior(t), make([]float64, shift.Classes), 0.
	for past := range t + 1 {
		for y, then := range shift.Prior(past) {
			pi[y] += mass(now[y], then)
			total += mass(now[y], then)
		}
	}
	for y := range pi {
		pi[y] /= total
	}
	return pi
}

// TestLabelPriorPrediction: under label shift, weights change little but the label distribution that a learner sees.
// So the Bayes classifier under that distribution predicts, without training, the accuracy of Everything and of the
// exact omega with each clip.
func TestLabelPriorPrediction(t *testing.T) {
	shift := streams.CIFAR10b
	stream, centres := clouds(2000, shift)
	s := gaussianSettings()
	s.Network, s.Batch, s.Epochs, s.MaxUpdates, s.Rate = "linear", 256, 1000, 1500, 1e-2
	c, err := NewClassifier(open(t, "").Backend, s, stream.Pool.Shape(), stream.Classes)
	demand.NoError(t, err)
	for _, at := range []int{15, 22} {
		var predictions []float64
		for _, k := range []struct {
			learner string
			clip    propensity.ClipPolicy
			mass    func(now, then float64) float64 // then * the weight of now / then
		}{
			{"everything", "none", func(_, then float64) float64 { return then }},
			{"exact", "min1", func(now, then float64) float64 { return min(now, then) }},
			{"exact", "exp1", func(now, then float64) float64 { return min(now, math.E*then) }},
			{"exact", "none", func(now, _ float64) float64 { return now }},
		} {
			s.Clip = k.clip
			b := &RunContext{Settings: s, Stream: stream, Classifier: c, Start: func(t int) net.Values { return c.Init(0, t) }}
			got := accuracyOf(t, b, named(k.learner), at)
			want := bayes(stream, centres, stream.Test(at+1), effectivePrior(shift, at, k.mass))
			predictions = append(predictions, want)
			if math.Abs(got-want) > .02 {
				t.Errorf("step %d, %s, clip %s: accuracy %.3f, but the label prior predicts %.3f", at, k.learner, k.clip, got, want)
			}
		}
		if predictions[3] < predictions[0]+.05 {
			t.Errorf("the predictions %v are too close for a test", predictions)
		}
	}
}

// TestPreviousStart: with g-start=previous log omega is that of a fit at t which starts where a fit from scratch on
// the samples up to t-1 ended. The first step has no earlier fit. The result does not depend on the steps computed
// before.
func TestPreviousStart(t *testing.T) {
	const at = 4
	s := gaussianSettings()
	scratch := gaussianRun(t, "", s, "ours", 0)
	s.GStart = "previous"
	b := gaussianRun(t, "", s, "ours", 0)
	logs := func(b *RunContext, t int) string {
		out, err := timeVarying(context.Background(), b, b.Stream.Upto(0, t), t)
		return fmt.Sprint(out.Log, err)
	}
	fit := func(start *propensity.Score, t int) (*propensity.Score, propensity.Samples, error) {
		data := b.Stream.Upto(0, t)
		samples := propensity.Samples{Row: data.Row, Label: data.Label, Time: data.Time}
		times := xslices.Iota(0., t+1)
		score, err := b.estimator.FitFrom(context.Background(), start, samples, times, random.Seed(0, "g", t))
		return score, samples, err
	}
	before, _, err := fit(nil, at-1)
	demand.NoError(t, err)
	score, samples, err := fit(before, at)
	demand.NoError(t, err)
	byHand, err := score.LogOmega(context.Background(), samples, at)
	first := logs(b, at)
	if want := fmt.Sprint(byHand, err); first != want {
		t.Error("log omega is not that of a fit which starts where the earlier fit ended")
	}
	if first == logs(scratch, at) {
		t.Error("the start of g changes nothing")
	}
	if logs(b, 1) != logs(scratch, 1) {
		t.Error("at step 1, where no g can be fitted before, the start is not from scratch")
	}
	for step := 1; step < at; step++ {
		logs(b, step)
	}
	if logs(b, at) != first {
		t.Error("log omega depends on the steps computed before")
	}
}

// TestPreviousStartOfStandard: with a window of 2 the standard score can first be fitted at step 2, and from step 3
// on there is an earlier fit.
func TestPreviousStartOfStandard(t *testing.T) {
	s := gaussianSettings()
	s.Window = 2
	scratch := gaussianRun(t, "", s, "standard", 0)
	s.GStart = "previous"
	b := gaussianRun(t, "", s, "standard", 0)
	for step, same := range map[int]bool{1: true, 2: true, 3: false} {
		data := b.Stream.Upto(0, step)
		x, errX := standard(context.Background(), b, data, step)
		y, errY := standard(context.Background(), scratch, data, step)
		if errX != nil || errY != nil || slices.Equal(x.Log, y.Log) != same {
			t.Errorf("step %d: log beta is the same from either start: %v, want %v (%v, %v)", step, !same, same, errX, errY)
		}
		if step >= 2 && !slices.ContainsFunc(x.Log, func(v float64) bool { return math.Abs(v) > 0 }) {
			t.Errorf("step %d: no weight was learned", step)
		}
	}
}

// TestExactMixture: over all samples of the past the exact mixture weights have the mean 1, and the labels that they
// weigh are those of the present. A sample that the present cannot have weighs nothing.
func TestExactMixture(t *testing.T) {
	shift := streams.CIFAR10b
	stream := &Stream{LogRatio: func(_, y int32, T, s int) float64 { return shift.LogRatio(int(y), T, s) }}
	const at = 20
	var data Samples
	for s := range at + 1 {
		for y := range shift.Classes {
			for range int(math.Round(shift.Probability(y, s) * 1000)) {
				data.Row, data.Label, data.Time = append(data.Row, 0), append(data.Label, int32(y)), append(data.Time, int32(s))
			}
		}
	}
	got, err := exactMixture(context.Background(), &RunContext{Stream: stream}, data, at)
	demand.NoError(t, err)
	sum, labels := 0.0, make([]float64, shift.Classes)
	for i, v := range got.Log {
		sum += math.Exp(v)
		labels[data.Label[i]] += math.Exp(v) / float64(data.Len())
	}
	if mean := sum / float64(data.Len()); math.Abs(mean-1) > 1e-3 {
		t.Errorf("the mean weight is %v", mean)
	}
	for y, got := range labels {
		if want := shift.Probability(y, at); math.Abs(got-want) > 1e-3 {
			t.Errorf("label %d has the share %v, want %v", y, got, want)
		}
	}
	never := &Stream{LogRatio: func(_, _ int32, T, _ int) float64 { return math.Inf(1 - 2*T) }} // step 0 alone has it
	one := Samples{Row: []int32{0}, Label: []int32{0}, Time: []int32{0}}
	if got, err = exactMixture(context.Background(), &RunContext{Stream: never}, one, 1); err != nil ||
		!math.IsInf(got.Log[0], -1) {
		t.Errorf("a sample that the present cannot have has log omega %v, %v", got.Log, err)
	}
}
