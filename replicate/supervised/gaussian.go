package supervised

import (
	"fmt"

	"tvps/data/gaussian"
	"tvps/replicate/experiment"
)

// openGaussian simulates the drifting Gaussian of Section 3.1.2 or the periodic one of Figure 5.
func openGaussian(_ *experiment.Host, s Settings) Source {
	cfg := gaussian.Paper()
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

// checkGaussian tells whether settings that concern the Gaussian alone are possible.
func checkGaussian(s Settings) error {
	if s.TestN < 1 {
		return fmt.Errorf("setting test-n=%d: the Gaussian is tested on new draws, so it must be at least 1", s.TestN)
	}
	return nil
}
