package continual

import (
	"context"
	"fmt"
	"slices"

	"tvps/gomlx_models/propensity"
	"tvps/replicate/protocol"

	"github.com/gomlx/gomlx/core/tensors"
)

// Simulated is the source of samples that are drawn, not loaded: vectors with labels. Draw must depend on its arguments
// only.
type Simulated struct {
	Settings     Settings
	Dim, Classes int
	// Draw returns n samples of step t, x: [n * Dim], labels: [n]. part is "train" or "test".
	Draw func(seed int64, part string, t, n int) (x []float32, labels []int32)
	// LogRatio is the closed form of log p_T(x, y) / p_t(x, y), x: [Dim]; nil if there is none.
	LogRatio func(x []float32, label int32, T, t int) float64
}

// About is empty: the samples are simulated.
func (Simulated) About() protocol.Source { return protocol.Source{} }

// Identity is empty: the settings say everything.
func (Simulated) Identity(int64) (map[string]string, error) { return nil, nil }

// Stream draws all samples of the seed, once for each engine.
func (src Simulated) Stream(_ context.Context, e *Engine, seed int64) (*Stream, error) {
	groups := slices.Concat([]string{"stream"}, src.Settings.scenario().Groups)
	return e.Stream(fmt.Sprint(seed, src.Settings.of(groups...)), func() (*Stream, error) { return src.draw(seed) })
}

// draw draws the samples of a seed. The pool holds N training samples of each of the steps 0 to Steps - 1, then TestN
// test samples of each of the steps 1 to Steps.
func (src Simulated) draw(seed int64) (*Stream, error) {
	s := src.Settings
	var x []float32
	var labels []int32
	for t := range s.Steps {
		xs, ys := src.Draw(seed, "train", t, s.N)
		x, labels = append(x, xs...), append(labels, ys...)
	}
	for t := range s.Steps {
		xs, ys := src.Draw(seed, "test", t+1, s.TestN)
		x, labels = append(x, xs...), append(labels, ys...)
	}
	rows := s.Steps * (s.N + s.TestN)
	if len(labels) != rows || len(x) != rows*src.Dim {
		return nil, fmt.Errorf("scenario %s draws %d values and %d labels for %d samples of %d values",
			s.Scenario, len(x), len(labels), rows, src.Dim)
	}
	block := func(from, n int) Samples {
		out := Samples{Row: make([]int32, n), Label: labels[from : from+n]}
		for i := range out.Row {
			out.Row[i] = int32(from + i)
		}
		return out
	}
	pool := tensors.FromFlatDataAndDimensions(x, rows, src.Dim)
	stream := &Stream{
		Classes: src.Classes,
		Pool:    pool,
		X:       x,
		// x enters g as it is: its scale is that of the problem, and no sample of the future changes it.
		GPool: &propensity.Pool{X: pool, Mean: make([]float32, src.Dim), Scale: slices.Repeat([]float32{1}, src.Dim)},
		Train: func(t int) Samples { return block(t*s.N, s.N) },
		Test:  func(t int) Samples { return block(s.Steps*s.N+(t-1)*s.TestN, s.TestN) },
	}
	if src.LogRatio != nil {
		stream.LogRatio = func(row, label int32, T, t int) float64 {
			return src.LogRatio(x[int(row)*src.Dim:int(row+1)*src.Dim], label, T, t)
		}
	}
	return stream, nil
}
