package propensity

import (
	"math"
	"slices"
	"testing"

	"tvps/data/labelshift"
	"tvps/data/random"
)

// wideStream is a label shift with features of many dimensions: x = B h,
// h ~ N(m_y + c_t e, I), with as many factors h as the features of a deep network have and
// overlapping class means m_y. If the center c is 0, the distribution of x given y does not
// change.
type wideStream struct {
	Data
	shift  labelshift.Shift
	center func(t int) float64
	along  []float64 // (h - m_y) e of each sample
}

const (
	wideDims    = 2048
	wideFactors = 64
	wideTimes   = 16
	wideSamples = 150 // per time
)

func newWideStream(center func(t int) float64) *wideStream {
	w := &wideStream{Data: Data{Dim: wideDims}, center: center,
		shift: labelshift.Shift{Classes: 10, Interval: 6, Reading: labelshift.Listing}}
	rng := random.New(1, "propensity test", "wide")
	normal := func(n int, sd float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = sd * rng.NormFloat64()
		}
		return out
	}
	mixing := normal(wideFactors*wideDims, 1)
	means := normal(10*wideFactors, 3/math.Sqrt(2*wideFactors)) // at a distance of 3
	for t := range wideTimes {
		_, labels := w.shift.Draw(1, "train", t, wideSamples, slices.Repeat([][]int32{{0}}, 10))
		for _, y := range labels {
			h := normal(wideFactors, 1)
			h[0] += center(t)
			w.along = append(w.along, h[0])
			x := make([]float32, wideDims)
			for i, m := range means[int(y)*wideFactors:][:wideFactors] {
				for j, b := range mixing[i*wideDims:][:wideDims] {
					x[j] += float32((m + h[i]) * b)
				}
			}
			w.X, w.Label, w.Time = append(w.X, x...), append(w.Label, int32(y)), append(w.Time, float64(t))
		}
	}
	return w
}

// exact is log omega(x, y; T, t) at the last time, and the part of it that depends on y alone.
func (w *wideStream) exact() (all, label []float64) {
	const T = wideTimes - 1
	for i, y := range w.Label {
		t := int(w.Time[i])
		label = append(label, w.shift.LogRatio(int(y), T, t))
		all = append(all, label[i]+logNormal(w.along[i]-w.center(T))-logNormal(w.along[i]-w.center(t)))
	}
	return all, label
}

// wideConfig is a small version of the paper's g for CLEAR.
func wideConfig(join Join) Config {
	cfg := DefaultConfig()
	cfg.Network, cfg.Hidden, cfg.Classes, cfg.Join, cfg.Updates, cfg.Batch = FC3, 32, 10, join, 500, 256
	return cfg
}

// weightError is the mean over times of the absolute error of the mean of min(omega, 1).
func (w *wideStream) weightError(got, want []float64) (off float64) {
	a, b := byTime(ClipOne.Weights(got), w.Time, wideTimes), byTime(ClipOne.Weights(want), w.Time, wideTimes)
	for t := range a {
		off += math.Abs(a[t]-b[t]) / wideTimes
	}
	return off
}

// TestLabelIsHeardInWideFeatures: log omega is log q_T(y)/q_t(y), whatever x is. g must learn
// it with JoinEven, and must not with JoinFirst: otherwise JoinEven would not be needed.
func TestLabelIsHeardInWideFeatures(t *testing.T) {
	slow(t)
	w := newWideStream(func(int) float64 { return 0 })
	want, _ := w.exact()
	_, nothing := agreement(make([]float64, len(want)), want)
	for join, learns := range map[Join]bool{JoinEven: true, JoinFirst: false} {
		if !nightly && !learns {
			continue
		}
		got := fit(t, w.Data, wideConfig(join), wideTimes-1)
		correlation, rms := agreement(got, want)
		off := w.weightError(got, want)
		t.Logf("%s: correlation %.3f, RMS error %.3f (of a constant 0: %.3f), slope %.3f, error of the mean weight %.3f",
			join, correlation, rms, nothing, slope(got, want), off)
		if (correlation > .9 && rms < .45*nothing && off < .12) != learns {
			t.Errorf("join %s: correlation %.3f, RMS error %.3f of %.3f, error of the mean weight %.3f; g should learn: %v",
				join, correlation, rms, nothing, off, learns)
		}
	}
}

// TestDriftIsHeardInWideFeatures: if x drifts within its class, JoinEven estimates omega better
// than the exact ratio of the labels does.
func TestDriftIsHeardInWideFeatures(t *testing.T) {
	if !nightly {
		t.Skip("a simulation of TestLabelIsHeardInWideFeatures' kind; TVPS_NIGHTLY=1 runs it")
	}
	slow(t)
	w := newWideStream(func(t int) float64 { return 1.5 * math.Sin(2*math.Pi*float64(t)/15) })
	cfg := wideConfig(JoinEven)
	cfg.LearningRate = 1e-2 // g learns more slowly from x
	got := fit(t, w.Data, cfg, wideTimes-1)
	want, label := w.exact()
	correlation, rms := agreement(got, want)
	byLabel, labelError := agreement(label, want)
	t.Logf("correlation %.3f, RMS error %.3f, slope %.3f (exact for labels alone: %.3f, %.3f)",
		correlation, rms, slope(got, want), byLabel, labelError)
	if correlation < .8 || correlation < byLabel+.05 || rms > .85*labelError {
		t.Errorf("correlation %.3f and RMS error %.3f; the labels alone give %.3f and %.3f",
			correlation, rms, byLabel, labelError)
	}
}
