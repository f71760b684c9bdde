package continual

import (
	"context"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"
)

// constant is Ours with log omega = v for every sample.
func constant(v float64) learner {
	return learner{phases: []phase{{upto, allEpochs, func(_ context.Context, _ *bench, data Samples, _ int) ([]float64, error) {
		logs := make([]float64, data.Len())
		for i := range logs {
			logs[i] = v
		}
		return logs, nil
	}}}}
}

// TestOmegaIsTheOnlyDifference: with omega = 1 Ours is Everything, in every bit of the
// trained parameters and of the accuracy, under every clip and for both kinds of
// classifier; with another omega it is not.
func TestOmegaIsTheOnlyDifference(t *testing.T) {
	im := fakeImages(t, 300, 100, 8)
	for _, c := range []struct {
		name  string
		bench *bench
	}{
		{"gaussian, xla", newBench(t, "", gaussianSettings(), "everything", 1)},
		{"gaussian, go", newBench(t, "go", gaussianSettings(), "everything", 1)},
		{"images, go", imageBench(t, "go", imageSettings(), im)},
	} {
		t.Run(c.name, func(t *testing.T) {
			const at = 3
			everything := learnerTable["everything"]
			want := train(t, c.bench, everything, at)
			accuracy := accuracyOf(t, c.bench, everything, at)
			for _, clip := range choices["clip"] {
				c.bench.settings.Clip = clip
				if err := sameBits(train(t, c.bench, constant(0), at), want); err != nil {
					t.Errorf("clip %s: with omega = 1 the parameters differ: %v", clip, err)
				}
				if got := accuracyOf(t, c.bench, constant(0), at); math.Float64bits(got) != math.Float64bits(accuracy) {
					t.Errorf("clip %s: with omega = 1 the accuracy is %v, not %v", clip, got, accuracy)
				}
			}
			c.bench.settings.Clip = "none"
			last := learner{phases: []phase{{upto, allEpochs, func(_ context.Context, _ *bench, data Samples, t int) ([]float64, error) {
				logs := make([]float64, data.Len())
				for i := range logs {
					logs[i] = float64(int(data.Time[i]) - t) // the present weighs most
				}
				return logs, nil
			}}}}
			if sameBits(train(t, c.bench, last, at), want) == nil {
				t.Error("another omega changes nothing")
			}
		})
	}
}

func train(tb testing.TB, b *bench, l learner, t int) net.Values {
	tb.Helper()
	values, _, err := b.train(context.Background(), l, t)
	if err != nil {
		tb.Fatal(err)
	}
	return values
}

// At t = 0 there is no past to weigh: Ours is Everything without fitting g.
func TestFirstStepNeedsNoOmega(t *testing.T) {
	b := newBench(t, "go", gaussianSettings(), "everything", 0)
	if err := sameBits(train(t, b, learnerTable["ours"], 0), train(t, b, learnerTable["everything"], 0)); err != nil {
		t.Error(err)
	}
}

// The effective sample size is reported as a share: 1 for equal weights, 1/(t+1) if
// only the last of t+1 steps has weight.
func TestEffectiveSampleSize(t *testing.T) {
	b := newBench(t, "go", gaussianSettings(), "everything", 0)
	onlyLast := learner{phases: []phase{{upto, allEpochs, func(_ context.Context, _ *bench, data Samples, t int) ([]float64, error) {
		logs := make([]float64, data.Len())
		for i := range logs {
			if int(data.Time[i]) < t {
				logs[i] = math.Inf(-1)
			}
		}
		return logs, nil
	}}}}
	for _, c := range []struct {
		l    learner
		want float64
	}{{constant(0), 1}, {constant(-3), 1}, {onlyLast, .25}} {
		rows, err := b.step(context.Background(), c.l, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got := metric(t, rows, "ess"); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("effective sample size %v, want %v", got, c.want)
		}
	}
	never := learner{phases: []phase{{upto, allEpochs, constant(math.Inf(-1)).phases[0].weigh}}}
	_, err := b.step(context.Background(), never, 3)
	demand.Error(t, err, "weights of 160 samples sum to 0", "resembles the present")
}
