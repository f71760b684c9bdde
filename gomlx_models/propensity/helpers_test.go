package propensity

import (
	"context"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// open returns the named backend ("" for XLA).
func open(tb testing.TB, name string) compute.Backend { return backend.ForTest(tb, name).Backend }

// gaussian draws counts[t] samples of N(mu(t), 1) for each time t = 0, 1, ...
func gaussian(seed int64, mu func(t float64) float64, counts ...int) Data {
	d := Data{Dim: 1}
	rng := random.New(seed, "propensity test", "gaussian")
	for t, n := range counts {
		for range n {
			d.X = append(d.X, float32(mu(float64(t))+rng.NormFloat64()))
			d.Time = append(d.Time, float64(t))
		}
	}
	return d
}

// equal is n repeated for each of the times.
func equal(times, n int) []int { return slices.Repeat([]int{n}, times) }

// exactLog is log p_T(x_i)/p_{t_i}(x_i) of every sample of a gaussian stream.
func exactLog(d Data, mu func(t float64) float64, T float64) []float64 {
	out := make([]float64, len(d.X))
	for i, x := range d.X {
		out[i] = logNormal(float64(x)-mu(T)) - logNormal(float64(x)-mu(d.Time[i]))
	}
	return out
}

// logNormal is the log density of N(0, 1).
func logNormal(x float64) float64 { return distuv.UnitNormal.LogProb(x) }

func linear(t float64) float64 { return .1 * t }

func periodic(t float64) float64 { return math.Sin(2 * math.Pi * t / 10) }

// fit fits g and returns log omega at T; it fails the test on an error.
func fit(tb testing.TB, d Data, cfg Config, T float64) []float64 {
	tb.Helper()
	f, err := Fit(context.Background(), open(tb, ""), d, cfg, 0)
	demand.NoError(tb, err)
	defer f.Close()
	logs, err := f.LogOmega(context.Background(), T)
	demand.NoError(tb, err)
	return logs
}

// agreement compares estimates with exact values: correlation and root mean square
// difference.
func agreement(got, want []float64) (correlation, rms float64) {
	return stat.Correlation(got, want, nil), floats.Distance(got, want, 2) / math.Sqrt(float64(len(got)))
}

// slope is the least squares factor c of got = c want.
func slope(got, want []float64) float64 { return floats.Dot(got, want) / floats.Dot(want, want) }
