package propensity

import (
	"context"
	"math"
	"os"
	"testing"

	"tvps/data/random"
	"tvps/gomlx_models/backend/backendtest"

	"github.com/gomlx/compute"
)

// open returns the named backend ("" for XLA).
func open(tb testing.TB, name string) compute.Backend { return backendtest.Open(tb, name).Backend }

// slow skips a test of several seconds under -short, and runs it next to others.
func slow(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for several seconds")
	}
	t.Parallel()
}

// nightly tells whether the tests also train what tells little more: all combinations, and more seeds.
var nightly = os.Getenv("TVPS_NIGHTLY") == "1"

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
func equal(times, n int) []int {
	out := make([]int, times)
	for i := range out {
		out[i] = n
	}
	return out
}

// exactLog is log p_T(x_i)/p_{t_i}(x_i) of every sample of a gaussian stream.
func exactLog(d Data, mu func(t float64) float64, T float64) []float64 {
	out := make([]float64, len(d.X))
	for i, x := range d.X {
		out[i] = logNormal(float64(x)-mu(T)) - logNormal(float64(x)-mu(d.Time[i]))
	}
	return out
}

// logNormal is the log density of N(0, 1).
func logNormal(x float64) float64 { return -x*x/2 - math.Log(2*math.Pi)/2 }

// phi is the distribution function of N(0, 1).
func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func linear(t float64) float64 { return .1 * t }

func periodic(t float64) float64 { return math.Sin(2 * math.Pi * t / 10) }

// fit fits g and returns log omega at T; it fails the test on an error.
func fit(tb testing.TB, d Data, cfg Config, T float64) []float64 {
	tb.Helper()
	f, err := Fit(context.Background(), open(tb, ""), d, cfg, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	logs, err := f.LogOmega(context.Background(), T)
	if err != nil {
		tb.Fatal(err)
	}
	return logs
}

// agreement compares estimates with exact values: correlation and root mean square
// difference.
func agreement(got, want []float64) (correlation, rms float64) {
	n := float64(len(got))
	var a, b, aa, bb, ab, dd float64
	for i := range got {
		a, b = a+got[i], b+want[i]
		aa, bb, ab = aa+got[i]*got[i], bb+want[i]*want[i], ab+got[i]*want[i]
		dd += (got[i] - want[i]) * (got[i] - want[i])
	}
	return (n*ab - a*b) / math.Sqrt((n*aa-a*a)*(n*bb-b*b)), math.Sqrt(dd / n)
}

// slope is the least squares factor c of got = c want.
func slope(got, want []float64) float64 {
	var ab, bb float64
	for i := range got {
		ab, bb = ab+got[i]*want[i], bb+want[i]*want[i]
	}
	return ab / bb
}
