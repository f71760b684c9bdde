package continual

import (
	"context"
	"fmt"

	"tvps/data/gaussian"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/protocol"

	"github.com/gomlx/gomlx/core/tensors"
)

// gaussianSource simulates the drifting Gaussian of Section 3.1.2 or the periodic one of Figure 5.
type gaussianSource struct{ settings Settings }

func openGaussian(_ *protocol.Host, _ Scenario, s Settings) Source { return gaussianSource{s} }

// About is empty: the samples are simulated.
func (gaussianSource) About() protocol.Source { return protocol.Source{} }

// Identity is empty: the settings say everything.
func (gaussianSource) Identity(int64) (map[string]string, error) { return nil, nil }

// Stream draws all samples of the seed, once for each engine.
func (src gaussianSource) Stream(_ context.Context, e *Engine, seed int64) (*Stream, error) {
	return e.Stream(fmt.Sprint(seed, src.settings.of("stream", "gaussian")), func() (*Stream, error) {
		return gaussianStream(src.settings, seed), nil
	})
}

// checkGaussian tells whether settings that concern the Gaussian alone are possible.
func checkGaussian(s Settings) error {
	if s.TestN < 1 {
		return fmt.Errorf("setting test-n=%d: the Gaussian is tested on new draws, so it must be at least 1", s.TestN)
	}
	return nil
}

// gaussianStream draws the samples of a seed. The pool holds the training samples of all steps, then the test samples
// of steps 1 to Steps.
func gaussianStream(s Settings, seed int64) *Stream {
	cfg := gaussian.Paper()
	cfg.N, cfg.Steps, cfg.Turn, cfg.Period, cfg.Amplitude = s.N, s.Steps, s.Turn, s.Period, s.Amplitude
	x, labels := drawGaussian(cfg, s.TestN, seed)
	block := func(from, n int) Samples {
		out := Samples{Row: make([]int32, n), Label: labels[from : from+n]}
		for i := range out.Row {
			out.Row[i] = int32(from + i)
		}
		return out
	}
	pool := poolOf(x)
	return &Stream{
		Classes: 2,
		Pool:    pool,
		X:       x,
		// x enters g as it is: its scale is that of the problem, and no sample of the future changes it.
		GPool: &propensity.Pool{X: pool, Mean: []float32{0}, Scale: []float32{1}},
		Train: func(t int) Samples { return block(t*s.N, s.N) },
		Test:  func(t int) Samples { return block(s.Steps*s.N+(t-1)*s.TestN, s.TestN) },
		LogRatio: func(row, label int32, T, t int) float64 {
			return cfg.LogRatio(float64(x[row]), label, T, t)
		},
	}
}

// drawGaussian draws the training samples of all steps, then testN test samples of each of the steps 1 to Steps.
func drawGaussian(cfg gaussian.Config, testN int, seed int64) (x []float32, labels []int32) {
	test := cfg
	test.N = testN
	add := func(c gaussian.Config, part string, t int) {
		xs, ys := c.Draw(seed, part, t)
		x, labels = append(x, xs...), append(labels, ys...)
	}
	for t := range cfg.Steps {
		add(cfg, "train", t)
	}
	for t := range cfg.Steps {
		add(test, "test", t+1)
	}
	return x, labels
}

// poolOf copies values into a tensor of [rows, 1].
func poolOf(x []float32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(x, len(x), 1) }
