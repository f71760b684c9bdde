package figures

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestInterquartileMean(t *testing.T) {
	for _, c := range []struct {
		strata [][]float64
		mean   float64
	}{
		{[][]float64{{1, 2, 3, 100}}, 2.5},
		{[][]float64{{5, 1, 3}}, 3}, // fewer than four: all of them
		{[][]float64{{1, 2}, {3, 1000}, {-50, 2}, {2, 2}}, 2},
		{[][]float64{{7}}, 7},
	} {
		e := InterquartileMean(c.strata)
		if math.Abs(e.Mean-c.mean) > 1e-12 || e.N != len(c.strata[0]) || e.Low > e.Mean || e.High < e.Mean {
			t.Errorf("%v: %+v, want the mean %v", c.strata, e, c.mean)
		}
	}
	if e := InterquartileMean(nil); e != (Estimate{}) {
		t.Errorf("nothing: %+v", e)
	}
}

// Values are drawn within a stratum: two strata far apart, each without spread, leave none.
func TestInterquartileMeanIsStratified(t *testing.T) {
	if e := InterquartileMean([][]float64{{0, 0, 0, 0}, {10, 10, 10, 10}}); e.Low != 5 || e.High != 5 {
		t.Errorf("%+v, want 5 without spread", e)
	}
}

// With 30 normal values the interval holds the true mean about as often as it says.
func TestInterquartileMeanCoverage(t *testing.T) {
	middle := func(values []float64) Estimate { return InterquartileMean([][]float64{values}) }
	if got := coverage(300, 30, normal, middle); got < .88 || got > .98 {
		t.Errorf("the interval covers %.3f of the time", got)
	}
}

func TestVarianceRatio(t *testing.T) {
	a, b := [][]float64{{1, 10}, {3, 14}}, [][]float64{{0, 0}, {0, 2}, {0, 4}} // variances 2, 8 and 0, 4
	if e := VarianceRatio(a, b)(Level); math.Abs(e.Mean-math.Log(5/2.)) > 1e-12 || e.N != 2 || !(e.Low < e.Mean) ||
		math.Abs(e.High+e.Low-2*e.Mean) > 1e-9 {
		t.Errorf("%+v", e)
	}
	if e := VarianceRatio(a[:1], b)(Level); e != (Estimate{N: 1}) {
		t.Errorf("one seed: %+v", e)
	}
	if e := VarianceRatio(a, [][]float64{{1, 2}, {1, 2}})(Level); e != (Estimate{}) {
		t.Errorf("without variance: %+v", e)
	}
}

// TestVarianceRatioCoverage: what the comment of VarianceRatio says of it. Seeds have two steps that go together.
func TestVarianceRatioCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	group := func(n int, of scatter) [][]float64 {
		out := make([][]float64, n)
		for i := range out {
			v := of(r)
			out[i] = []float64{v, v}
		}
		return out
	}
	for _, c := range []struct {
		name        string
		of          scatter
		n           int
		least, most float64
	}{
		{"normal", normal, 3, .96, 1}, {"normal", normal, 5, .96, 1}, {"normal", normal, 10, .9, .99},
		{"exponential", exponential, 10, .86, .97},
	} {
		got := covered(150, func() (Estimate, float64) {
			return VarianceRatio(group(c.n, c.of), group(c.n, c.of))(Level), 0
		})
		t.Logf("%s, n = %d: %.3f", c.name, c.n, got)
		if got < c.least || got > c.most {
			t.Errorf("%s, %d seeds: the coverage is %.3f", c.name, c.n, got)
		}
	}
}

func TestImprovement(t *testing.T) {
	for _, c := range []struct {
		a, b      []float64
		mean, low float64 // low by a search over a grid of probabilities, in Python
	}{
		{[]float64{3, 4}, []float64{1, 2}, 1, .385636},
		{[]float64{1, 2, 3}, []float64{2}, .5, .091833},
		{[]float64{1, 3, 5, 7}, []float64{2, 4, 6, 8}, .375, .116121},
	} {
		e := Improvement(c.a, c.b)
		if math.Abs(e.Mean-c.mean) > 1e-12 || e.N != len(c.a) || math.Abs(e.Low-c.low) > 1e-5 || e.High > 1 {
			t.Errorf("%v above %v: %+v, want %v from %v", c.a, c.b, e, c.mean, c.low)
		}
		mirrored := Improvement(c.b, c.a)
		if math.Abs(mirrored.Low-(1-e.High)) > 1e-9 || math.Abs(mirrored.High-(1-e.Low)) > 1e-9 {
			t.Errorf("%+v is no mirror of %+v", mirrored, e)
		}
	}
}

// TestImprovementCoverage: of the probability .76 that one of ten normal values with mean 1 is above one with mean 0.
func TestImprovementCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	a, b := make([]float64, 10), make([]float64, 10)
	got := covered(2000, func() (Estimate, float64) {
		for i := range a {
			a[i], b[i] = 1+r.NormFloat64(), r.NormFloat64()
		}
		return Improvement(a, b), .5 * math.Erfc(-1/2.) // Phi(1 / sqrt 2)
	})
	if got < .93 || got > .98 {
		t.Errorf("the coverage is %.3f", got)
	}
}
