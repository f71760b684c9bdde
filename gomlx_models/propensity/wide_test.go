package propensity

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/streams"
)

// wideStream is a label shift with features of many dimensions: x = B h,
// h ~ N(m_y, I), with as many factors h as the features of a deep network have and overlapping
// class means m_y. The distribution of x given y does not change.
type wideStream struct {
	Data
	shift streams.LabelShift
}

const (
	wideDims    = 2048
	wideFactors = 64
	wideTimes   = 16
	wideSamples = 150 // per time
)

func newWideStream() *wideStream {
	w := &wideStream{Data: Data{Dim: wideDims},
		shift: streams.LabelShift{Classes: 10, Interval: 6, Reading: streams.Listing}}
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

// exact is log omega(x, y; T, t) at the last time, which depends on y alone.
func (w *wideStream) exact() (out []float64) {
	for i, y := range w.Label {
		out = append(out, w.shift.LogRatio(int(y), wideTimes-1, int(w.Time[i])))
	}
	return out
}

// wideConfig is a small version of the paper's g for CLEAR.
func wideConfig(join Join) Config {
	cfg := DefaultConfig()
	cfg.Network, cfg.Hidden, cfg.Classes, cfg.Join, cfg.Updates, cfg.Batch = FC3, 32, 10, join, 500, 256
	return cfg
}

// TestLabelIsHeardInWideFeatures: log omega is log q_T(y)/q_t(y), whatever x is. g must learn
// it with JoinEven, and must not with JoinFirst: otherwise JoinEven would not be needed.
func TestLabelIsHeardInWideFeatures(t *testing.T) {
	demand.Slow(t)
	w := newWideStream()
	want := w.exact()
	_, nothing := agreement(make([]float64, len(want)), want)
	for join, learns := range map[Join]bool{JoinEven: true, JoinFirst: false} {
		if !demand.Nightly && !learns {
			continue
		}
		got := fit(t, w.Data, wideConfig(join), wideTimes-1)
		correlation, rms := agreement(got, want)
		t.Logf("%s: correlation %.3f, RMS error %.3f (of a constant 0: %.3f), slope %.3f", join, correlation, rms, nothing,
			slope(got, want))
		if (correlation > .9 && rms < .45*nothing) != learns {
			t.Errorf("join %s: correlation %.3f, RMS error %.3f of %.3f; g should learn: %v", join, correlation, rms, nothing,
				learns)
		}
	}
}
