package streams

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %.9g, want %.9g within %g", what, got, want, tolerance)
	}
}

// The closed form equals the paper's recursion, in which d changes sign at t = Turn and
// every 50 steps after it.
func TestMeanEqualsRecursion(t *testing.T) {
	for _, turn := range []int{50, 49, 1} {
		c := PaperGaussian()
		c.Turn = turn
		mu, d := 0.5, 1.0
		for step := 1; step <= 400; step++ {
			mu += d / 10
			near(t, "mu", c.Mean(step), mu, 1e-11)
			if step%50 == turn%50 {
				d = -d
			}
		}
	}
}

func TestPeriodicMean(t *testing.T) {
	c := Gaussian{N: 2000, Mu0: 0.5, Period: 5, Amplitude: 2}
	for _, similar := range []int{84, 79, 74, 69} {
		near(t, "mu", c.Mean(similar), c.Mean(99), 0)
	}
	near(t, "mu_0", c.Mean(0), 0.5, 0)
	near(t, "mu_1", c.Mean(1), 2.402113032590307, 1e-12) // .5 + 2 sin 72°
	for other := 95; other < 99; other++ {
		if math.Abs(c.Mean(other)-c.Mean(99)) < 0.5 {
			t.Errorf("mu at %d is %g, within 0.5 of mu at 99; want a larger difference", other, c.Mean(other))
		}
	}
}

func TestDraw(t *testing.T) {
	c := PaperGaussian()
	c.N = 40000
	for _, step := range []int{0, 50, 160} {
		x, y := c.Draw(3, "train", step)
		if len(x) != c.N || len(y) != c.N {
			t.Fatalf("%d x and %d y, want %d of each", len(x), len(y), c.N)
		}
		mu := c.Mean(step)
		var sum, square, cube, ones float64
		for i := range x {
			z := float64(x[i]) - mu
			sum, square, cube = sum+z, square+z*z, cube+z*z*z
			if (float64(x[i]) > mu) != (y[i] == 1) || y[i] != 0 && y[i] != 1 {
				t.Fatalf("x = %g has label %d, mu is %g", x[i], y[i], mu)
			}
			ones += float64(y[i])
		}
		n := float64(c.N) // tolerances of 4.5 standard errors
		near(t, "mean", sum/n, 0, 4.5/math.Sqrt(n))
		near(t, "variance", square/n, 1, 4.5*math.Sqrt(2/n))
		near(t, "third moment", cube/n, 0, 4.5*math.Sqrt(15/n))
		near(t, "share of label 1", ones/n, 0.5, 4.5*math.Sqrt(0.25/n))
	}
}

// ownSamples fails the test unless each seed, part and step has its own samples, the same at every call.
func ownSamples[T comparable](t *testing.T, draw func(seed int64, part string, step int) ([]T, []int32)) {
	t.Helper()
	base, labels := draw(0, "train", 7)
	if again, sameLabels := draw(0, "train", 7); !slices.Equal(base, again) || !slices.Equal(labels, sameLabels) {
		t.Error("two calls with the same arguments differ")
	}
	seed, _ := draw(1, "train", 7)
	part, _ := draw(0, "test", 7)
	step, _ := draw(0, "train", 8)
	for changed, other := range map[string][]T{"seed": seed, "part": part, "step": step} {
		if slices.Equal(other, base) {
			t.Errorf("changing the %s does not change the samples", changed)
		}
	}
}

func TestDrawStreams(t *testing.T) {
	c := PaperGaussian()
	flat := c
	flat.Drift = 0 // so that only the random numbers differ
	ownSamples(t, flat.Draw)
	x, _ := c.Draw(0, "train", 7)
	want := []float32{0.21126115, 0.87603396, 0.36153567}
	demand.List(t, x[:3], want, "the first samples, on which every figure depends")
}

// integrate integrates f over [-20, 30] by the midpoint rule. Every mean is a cell boundary.
func integrate(f func(x float64) float64) float64 {
	const step = 1e-3
	sum := 0.0
	for i := range 50000 {
		sum += f(-20+(float64(i)+0.5)*step) * step
	}
	return sum
}

func density(c Gaussian, x float64, t int) float64 {
	z := x - c.Mean(t)
	return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
}

// The mean over p_t of omega(x) is 1. That of omega(x, y) is the probability under p_T of
// the x that have the same label at both times, 1/2 + Phi(-D). The mean of min(omega, 1) is
// 1 - TV.
func TestLogRatioNormalises(t *testing.T) {
	c := PaperGaussian()
	for _, pair := range [][2]int{{10, 7}, {7, 10}, {50, 40}, {60, 60}, {30, 60}} {
		T, s := pair[0], pair[1]
		mean := func(omega func(x float64) float64) float64 {
			return integrate(func(x float64) float64 { return density(c, x, s) * omega(x) })
		}
		omegaX := func(x float64) float64 { return math.Exp(c.logRatioX(x, T, s)) }
		omega := func(x float64) float64 { return math.Exp(c.LogRatio(x, label(x, c.Mean(s)), T, s)) }
		near(t, "mean of omega(x)", mean(omegaX), 1, 1e-6)
		d := math.Abs(c.Mean(T) - c.Mean(s))
		near(t, "mean of omega(x, y)", mean(omega), 0.5+math.Erfc(d/math.Sqrt2)/2, 1e-6)
		clipped := func(x float64) float64 { return min(1, omega(x)) }
		near(t, "mean of min(omega(x, y), 1)", mean(clipped), 1-c.TV(T, s), 1e-6)
	}
}

func TestLogRatio(t *testing.T) {
	c := PaperGaussian() // means: 0.5 at 0, 1.5 at 10
	near(t, "log ratio", c.LogRatio(2, 1, 10, 0), 1, 1e-12)
	near(t, "log ratio back", c.LogRatio(2, 1, 0, 10), -1, 1e-12)
	near(t, "log ratio of a time to itself", c.LogRatio(2, 1, 7, 7), 0, 0)
	for _, test := range []struct {
		x    float64
		y    int32
		want int
	}{
		{1, 1, -1},  // y is the label at 0, not at 10
		{1, 0, 1},   // y is the label at 10, not at 0
		{2, 0, -1},  // y is the label at neither
		{-1, 1, -1}, // y is the label at neither
	} {
		if got := c.LogRatio(test.x, test.y, 10, 0); !math.IsInf(got, test.want) {
			t.Errorf("x = %g, y = %d: %g, want infinity of sign %d", test.x, test.y, got, test.want)
		}
	}
	// A sample drawn at step t has the label of its x at t, although x is rounded to float32.
	x, y := c.Draw(0, "train", 33)
	for i := range x {
		if r := c.LogRatio(float64(x[i]), y[i], 50, 33); math.IsInf(r, 1) || math.IsNaN(r) {
			t.Fatalf("x = %g, y = %d: log ratio %g", x[i], y[i], r)
		}
	}
}

// TestRisk: of the samples of a later step the best classifier of a step gets half the total variation wrong.
func TestRisk(t *testing.T) {
	c := PaperGaussian()
	c.N = 100_000
	x, y := c.Draw(0, "test", 60)
	wrong := 0.
	for i := range x {
		if (float64(x[i]) > c.Mean(50)) != (y[i] == 1) {
			wrong++
		}
	}
	if share, want := wrong/float64(c.N), c.TV(50, 60)/2; math.Abs(share-want) > 4*math.Sqrt(want/float64(c.N)) {
		t.Errorf("%g of the samples are wrong, the risk is %g", share, want)
	}
}
