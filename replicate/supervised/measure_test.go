package supervised

import (
	"context"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/streams"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/stat"
)

// measured runs a measure of a learner at some steps.
func measured(t *testing.T, b *RunContext, name, learner string, steps ...int) []runs.Row {
	t.Helper()
	m, err := measureOf(name)
	demand.NoError(t, err)
	step := m.start(b.with(named(learner)))
	var rows []runs.Row
	for _, at := range steps {
		more, err := step(context.Background(), at)
		demand.NoError(t, err)
		for _, r := range more {
			if r.T != at {
				t.Fatalf("step %d reports a row of step %d", at, r.T)
			}
		}
		rows = append(rows, more...)
	}
	return rows
}

// TestScores: the mean of min(omega, 1) over p_t is 1 - TV(p_t, p_T). The exact omega gives the closed form and a
// trained g is near it; an untrained g gives 1.
func TestScores(t *testing.T) {
	s := gaussianSettings()
	s.Scenario, s.Period, s.Amplitude, s.Steps, s.N, s.Target = "periodic", 5, 2, 9, 2000, 7
	s.GHidden, s.GUpdates, s.GBatch = 32, 400, 256
	cfg := streams.PaperGaussian()
	cfg.Period, cfg.Amplitude = 5, 2
	steps := []int{7, 0, 1, 2, 3, 4, 5, 6}
	for learner, tolerance := range map[string]float64{"exact": .035, "ours": .3} {
		rows := measured(t, newRun(t, newHost(t, ""), s, learner, 1, measureScore), measureScore, learner, steps...)
		var wants, gots []float64
		for i, at := range steps {
			want, got := 1-cfg.TV(7, at), metric(t, rows[2*i:2*i+2], "score")
			wants, gots = append(wants, want), append(gots, got)
			if math.Abs(got-want) > tolerance {
				t.Errorf("%s, time %d: score %.3f, 1 - TV is %.3f", learner, at, got, want)
			}
		}
		if r := stat.Correlation(wants, gots, nil); r < .95 {
			t.Errorf("%s: the scores correlate with the exact ones by %.3f", learner, r)
		}
		demand.Equal(t, metric(t, rows[:2], "log-omega"), 0, "%s: log omega of the target itself", learner)
	}
	s.GUpdates = 0
	for _, r := range measured(t, newRun(t, newHost(t, ""), s, "ours", 1, measureScore), measureScore, "ours", 0, 3) {
		demand.Equal(t, r.Value, map[string]float64{"score": 1, "log-omega": 0}[r.Metric], "an untrained g: %+v", r)
	}
	for target, last := range map[int]int{7: 7, -1: 8} {
		s.Target = target
		out, err := s.Outlines([]string{"ours"}, measureScore)
		if err != nil || !slices.Equal(out[0].Steps, xslices.Iota(0, last+1)) {
			t.Errorf("the scores seen from step %d are of steps %v, %v", target, out[0].Steps, err)
		}
	}
}

// TestMeans: the mean of the inputs is the closed form, up to its standard error.
func TestMeans(t *testing.T) {
	s := gaussianSettings()
	s.Steps, s.N = 8, 900
	rows := measured(t, newRun(t, newHost(t, ""), s, "data", 1, measureMean), measureMean, "data", xslices.Iota(0, 8)...)
	for i, r := range rows {
		if want := .5 + .1*float64(i); math.Abs(r.Value-want) > 4./30 {
			t.Errorf("step %d: mean %v, want about %v", i, r.Value, want)
		}
	}
	demand.Equal(t, len(rows), 8, "rows")
}

// TestDiscrepancies: the features show the class, so a past of other classes is far from the present. Weighted by the
// exact omega it is not.
func TestDiscrepancies(t *testing.T) {
	im := fakeImages(t, 600, 100, 8)
	s := imageSettings()
	s.Steps, s.N, s.Clip, s.MMDPast, s.Permutations = 20, 150, "none", 1000, 20
	s.MMDSamples = "fitted"
	b := imageRun(t, "", s, im)
	b.Engine = &Engine{Backend: open(t, "").Backend}
	demand.NoError(t, prepareMMD(b))
	const at = 17
	raw := measured(t, b, measureMMD, "raw", 0, at) // step 0 has no past
	exact := measured(t, b, measureMMD, "exact", at)
	names := []string{
		"mmd-features-median", "mmd-features-width-1", "mmd-pixels-median", "mmd-pixels-width-1", "p-previous",
	}
	for i, r := range raw {
		demand.Equal(t, r.Metric, names[i], "row %d", i)
	}
	if len(raw) != 5 || len(exact) != 4 {
		t.Fatalf("%d rows without weights, %d with", len(raw), len(exact))
	}
	far, near := metric(t, raw, names[0]), metric(t, exact, names[0])
	if !(far > .05) || math.Abs(near) > far/4 {
		t.Errorf("MMD of the past %v, weighted %v", far, near)
	}
	if p := metric(t, raw, "p-previous"); p < 1./21-1e-12 || p > 1 {
		t.Errorf("p-value %v of 20 permutations", p)
	}
}

// TestSampledPast: the past of step t has no sample of step t, and its weights are within the bounds of omega.
func TestSampledPast(t *testing.T) {
	const at = 17
	im := fakeImages(t, 600, 100, 8)
	s := imageSettings()
	s.Steps, s.N, s.Clip, s.MMDPast, s.MMDSamples = 20, 150, "none", 1000, "fitted"
	b := imageRun(t, "go", s, im)
	rows, weights, _, err := b.with(named("exact")).sampledPast(t.Context(), at)
	if err != nil || len(rows) != 1000 || len(weights) != 1000 {
		t.Fatalf("%d rows, %d weights, %v", len(rows), len(weights), err)
	}
	now := streams.CIFAR10b.Prior(at)
	for i, row := range rows {
		// omega = q_t(y) / q_s(y), and q_s(y) is at least .05 and at most .55.
		if q := now[im.labels[row]]; weights[i] < q/.55-1e-9 || weights[i] > q/.05+1e-9 {
			t.Fatalf("sample %d of class %d weighs %v", i, im.labels[row], weights[i])
		}
	}
	b.Settings.MMDPast = 1 << 20
	all, _, _, err := b.with(named("raw")).sampledPast(t.Context(), 2)
	want := slices.Concat(b.Stream.Train(0).Row, b.Stream.Train(1).Row)
	slices.Sort(all)
	slices.Sort(want)
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("the past of step 2 is not steps 0 and 1: %d rows, want %d (%v)", len(all), len(want), err)
	}
	b.Settings.MMDSamples = heldOut
	fresh, _, _, err := b.with(named("raw")).sampledPast(t.Context(), 2)
	if err != nil || len(fresh) != len(want) || slices.Min(fresh) < 600 {
		t.Errorf("%d held-out images from row %d on, %v; want %d of the test set, from row 600 on",
			len(fresh), slices.Min(fresh), err, len(want))
	}
}

// TestMeasureOfLoss: fitting g alone reports the held-out loss that a training with it reports, and
// nothing where no g is fitted.
func TestMeasureOfLoss(t *testing.T) {
	s := gaussianSettings()
	h := newHost(t, "go")
	for _, series := range []string{"ours", "standard"} {
		step := losses(newRun(t, h, s, series, 0, measureLoss))
		alone, err := step(t.Context(), 2)
		demand.NoError(t, err)
		trained, err := newRun(t, h, s, series, 0, "").step(t.Context(), 2)
		demand.NoError(t, err)
		if a, b := metric(t, alone, measureLoss), metric(t, trained, measureLoss); a != b || a < .3 || a > .8 {
			t.Errorf("%s: the loss is %v alone and %v in a training", series, a, b)
		}
		if rows, err := step(t.Context(), 0); err != nil || len(rows) > 0 {
			t.Errorf("%s: step 0 reports %v, %v", series, rows, err)
		}
	}
	if err := s.CheckSeries("everything", measureLoss); err == nil {
		t.Error("a learner without g has a loss")
	}
}
