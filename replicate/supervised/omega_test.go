package supervised

import (
	"context"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity"
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
	if err := sameBits(trained(t, b, named("ours"), 0), trained(t, b, named("everything"), 0)); err != nil {
		t.Error(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		if got := metric(t, rows, "ess"); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("effective sample size %v, want %v", got, c.want)
		}
	}
	_, err := b.with(constant(math.Inf(-1))).step(context.Background(), 3)
	demand.Error(t, err, "weights of 160 samples sum to 0", "resembles the present")
}
