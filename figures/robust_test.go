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
	const times = 300
	rng := rand.New(rand.NewPCG(3, 4))
	covered := 0
	for range times {
		values := make([]float64, 30)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		if e := InterquartileMean([][]float64{values}); e.Low <= 0 && 0 <= e.High {
			covered++
		}
	}
	if got := float64(covered) / times; got < .88 || got > .98 {
		t.Errorf("the interval covers %.3f of the time", got)
	}
}
