package supervised

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/propensity"

	"gonum.org/v1/gonum/stat"
)

// noisyRule has x ~ N(mean(t), 1) and P(y = 1 | x) = 1 / (1 + exp(-3 (x - rule(t)))).
type noisyRule struct{ mean, rule func(t int) float64 }

func (r noisyRule) chance(x float64, t int) float64 { return 1 / (1 + math.Exp(-3*(x-r.rule(t)))) }

func (r noisyRule) draw(seed int64, part string, t, n int) (x []float32, labels []int32) {
	rng := random.New(seed, "noisy-rule", part, t)
	for range n {
		v, y := r.mean(t)+rng.NormFloat64(), int32(0)
		if rng.Float64() < r.chance(v, t) {
			y = 1
		}
		x, labels = append(x, float32(v)), append(labels, y)
	}
	return x, labels
}

// logRatio is log p_T(y|x) / p_t(y|x).
func (r noisyRule) logRatio(x float64, label int32, T, t int) float64 {
	now, then := r.chance(x, T), r.chance(x, t)
	if label == 0 {
		now, then = 1-now, 1-then
	}
	return math.Log(now / then)
}

// run prepares a learner on 6 steps of 500 samples.
func (r noisyRule) run(t *testing.T, series string, classes int) (*RunContext, error) {
	t.Helper()
	h, s := sharedHost(t, ""), gaussianSettings()
	s.Steps, s.N, s.TestN, s.GHidden, s.GUpdates, s.GBatch, s.MaxUpdates = 6, 500, 4000, 32, 600, 512, 300
	x, err := s.config(series, "")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := Simulated{Settings: s, Dim: 1, Classes: classes, Draw: r.draw}.draw(0)
	if err != nil {
		t.Fatal(err)
	}
	engine, release, err := enginesOf(h).take(s)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	x.host, x.source = h, fixedSource{stream}
	return x.newRunContext(t.Context(), engine, 0)
}

func still(int) float64     { return 0 }
func falling(t int) float64 { return -.4 * float64(t) }
func turning(t int) float64 { return 1.5 * math.Cos(.6*float64(t)) }

// TestConditionalOfRuleDrift: where x and the rule drift the weights follow min(1, p_T(y|x) / p_t(y|x)), and the
// learner is better than Everything.
func TestConditionalOfRuleDrift(t *testing.T) {
	const at = 5
	rule := noisyRule{falling, turning}
	run, err := rule.run(t, "ours-conditional", 2)
	if err != nil {
		t.Fatal(err)
	}
	data := run.Stream.Upto(0, at)
	omega, err := conditional(t.Context(), run, data, at)
	if err != nil {
		t.Fatal(err)
	}
	logs := omega.Log
	exact := make([]float64, len(logs))
	for i, row := range data.Row {
		exact[i] = rule.logRatio(float64(run.Stream.X[row]), data.Label[i], at, int(data.Time[i]))
	}
	clip := propensity.ClipOne
	if c := stat.Correlation(clip.Weights(logs), clip.Weights(exact), nil); c < .9 {
		t.Errorf("correlation %.3f of the clipped weights with the closed form", c)
	}
	all, conditional := accuracyOf(t, run, named("everything"), at), accuracyOf(t, run, run.Learner, at)
	if conditional < all+.025 {
		t.Errorf("accuracy %.3f, that of Everything is %.3f", conditional, all)
	}
}

// TestConditionalIsARatio: log omega is that of Ours minus that of Ours with g-label=false, also if g starts where an
// earlier fit ended.
func TestConditionalIsARatio(t *testing.T) {
	const at = 3
	for _, start := range choices["g-start"] {
		s := gaussianSettings()
		s.GStart = start
		logs := func(s Settings, series string, weigh Weigh) []float64 {
			run := gaussianRun(t, "go", s, series, 2)
			out, err := weigh(t.Context(), run, run.Stream.Upto(0, at), at)
			if err != nil {
				t.Fatal(err)
			}
			return out.Log
		}
		joint, covariate := logs(s, "ours", timeVarying), logs(s.withoutLabel(), "ours", timeVarying)
		differ := false
		for i, v := range logs(s, "ours-conditional", conditional) {
			if v != joint[i]-covariate[i] {
				t.Fatalf("%s: log omega of sample %d is %v, not %v - %v", start, i, v, joint[i], covariate[i])
			}
			differ = differ || v != joint[i]
		}
		if !differ {
			t.Errorf("%s: the g that sees x alone changes nothing", start)
		}
	}
}

// A scenario without labels has no drift of y given x.
func TestConditionalNeedsLabels(t *testing.T) {
	_, err := noisyRule{falling, still}.run(t, "ours-conditional", 1)
	demand.Error(t, err, "ours-conditional needs labels", "gaussian has none")
}
