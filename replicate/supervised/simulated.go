package supervised

import (
	"context"
	"fmt"
	"slices"

	"tvps/data/streams"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"

	"github.com/gomlx/gomlx/core/tensors"
)

// Simulated is the source of samples that are drawn, not loaded: vectors with labels. Draw must depend on its arguments
// only.
type Simulated struct {
	Settings     Settings
	Dim, Classes int
	// Draw returns n samples of step t, x: [n * Dim], labels: [n]. part is "train", "test" or "validation".
	Draw func(seed int64, part string, t, n int) (x []float32, labels []int32)
	// LogRatio is the closed form of log p_T(x, y) / p_t(x, y), x: [Dim]; nil if there is none.
	LogRatio func(x []float32, label int32, T, t int) float64
}

// About is empty: the samples are simulated.
func (Simulated) About() experiment.Source { return experiment.Source{} }

// Identity is empty: the settings say everything.
func (Simulated) Identity(int64) (map[string]string, error) { return nil, nil }

// Stream draws all samples of the seed, once for each engine.
func (src Simulated) Stream(_ context.Context, e *Engine, seed int64) (*Stream, error) {
	groups := slices.Concat([]string{"stream"}, src.Settings.scenario().Groups)
	key := fmt.Sprint(seed, experiment.Identity(src.Settings, groups...))
	return experiment.Memoize(&e.memo, key, func() (*Stream, error) { return src.draw(seed) })
}

// draw draws the samples of a seed. The pool holds N training samples of each of the steps 0 to Steps - 1, then TestN
// test samples of each of the steps 1 to Steps.
func (src Simulated) draw(seed int64) (*Stream, error) {
	s := src.Settings
	x, labels := src.part(seed, "train", 0, s.N)
	testX, testLabels := src.part(seed, "test", 1, s.TestN)
	x, labels = append(x, testX...), append(labels, testLabels...)
	heldX, held := src.part(seed, "validation", 0, validationN)
	for _, p := range []struct{ values, labels, want int }{
		{len(x), len(labels), s.Steps * (s.N + s.TestN)}, {len(heldX), len(held), s.Steps * validationN},
	} {
		if p.labels != p.want || p.values != p.want*src.Dim {
			return nil, fmt.Errorf("scenario %s draws %d values and %d labels for %d samples of %d values",
				s.Scenario, p.values, p.labels, p.want, src.Dim)
		}
	}
	pool := tensors.FromFlatDataAndDimensions(x, len(labels), src.Dim)
	stream := &Stream{
		Classes: src.Classes,
		Pool:    pool,
		X:       x,
		GPool:   asItIs(pool), // its scale is that of the problem, and no sample of the future changes it
		Train:   func(t int) Samples { return block(labels, t*s.N, s.N) },
		Test:    func(t int) Samples { return block(labels, s.Steps*s.N+(t-1)*s.TestN, s.TestN) },

		Validation:  func(t int) Samples { return block(held, t*validationN, validationN) },
		ValidationX: tensors.FromFlatDataAndDimensions(heldX, len(held), src.Dim),
	}
	if src.LogRatio != nil {
		stream.LogRatio = func(row, label int32, T, t int) float64 {
			return src.LogRatio(x[int(row)*src.Dim:int(row+1)*src.Dim], label, T, t)
		}
	}
	return stream, nil
}

// part draws n samples of each of as many steps as the stream has, from the first one on.
func (src Simulated) part(seed int64, name string, first, n int) (x []float32, labels []int32) {
	for t := range src.Settings.Steps {
		xs, ys := src.Draw(seed, name, first+t, n)
		x, labels = append(x, xs...), append(labels, ys...)
	}
	return x, labels
}

// block is n samples whose rows follow each other.
func block(labels []int32, from, n int) Samples {
	out := Samples{Row: make([]int32, n), Label: labels[from : from+n]}
	for i := range out.Row {
		out.Row[i] = int32(from + i)
	}
	return out
}

// asItIs is the pool of a g that sees samples as they are, [rows, dims...].
func asItIs(x *tensors.Tensor) *propensity.Pool {
	size := x.Size() / x.Shape().Dim(0)
	return &propensity.Pool{X: x, Mean: make([]float32, size), Scale: slices.Repeat([]float32{1}, size)}
}

// openGaussian simulates the drifting Gaussian of Section 3.1.2 or the periodic one of Figure 5.
func openGaussian(_ *experiment.Host, s Settings) Source {
	cfg := streams.PaperGaussian()
	cfg.Turn, cfg.Period, cfg.Amplitude = s.Turn, s.Period, s.Amplitude
	return Simulated{
		Settings: s, Dim: 1, Classes: 2,
		Draw: func(seed int64, part string, t, n int) ([]float32, []int32) {
			c := cfg
			c.N = n
			return c.Draw(seed, part, t)
		},
		LogRatio: func(x []float32, label int32, T, t int) float64 { return cfg.LogRatio(float64(x[0]), label, T, t) },
	}
}
