package propensity

import (
	"math"
	"slices"
	"testing"

	"tvps/data/random"
)

// noisy is a signal of several values: white noise, plus in value 1 waves of the given periods.
func noisy(seed int64, times, values int, amplitude float64, periods ...float64) [][]float64 {
	rng := random.New(seed, "periodogram")
	out := make([][]float64, times)
	for t := range out {
		out[t] = make([]float64, values)
		for d := range out[t] {
			out[t][d] = 5 + rng.NormFloat64()
		}
		for j, p := range periods {
			out[t][1] += amplitude * math.Sin(2*math.Pi*float64(t)/p+float64(j))
		}
	}
	return out
}

// TestPeriodogramFindsPeriods: periods that are no Fourier frequency are found to a small part
// of a cycle over all times, also where rows are missing.
func TestPeriodogramFindsPeriods(t *testing.T) {
	for _, times := range []int{150, 400} {
		signal := noisy(1, times, 6, 1.5, 31.4, 12.6)
		for i := 10; i < times; i += 13 {
			signal[i] = nil
		}
		got := Periodogram(signal, nil, 4, nil)
		for _, want := range []float64{2 * math.Pi / 31.4, 2 * math.Pi / 12.6} {
			near := func(w float64) bool { return math.Abs(w-want)*float64(times) < 2*math.Pi/10 }
			if !slices.ContainsFunc(got[:2], near) {
				t.Errorf("%d times: frequencies %.4f, without %.4f", times, got, want)
			}
		}
		if got[2] != 0 || got[3] != 0 {
			t.Errorf("%d times: waves that do not exist: %.4f", times, got)
		}
	}
}

// TestPeriodogramOfNoise: white noise has a wave in about 1% of all signals, and a constant none.
func TestPeriodogramOfNoise(t *testing.T) {
	waves := 0
	for seed := range int64(200) {
		if Periodogram(noisy(seed, 60, 5, 0), nil, 3, nil)[0] != 0 {
			waves++
		}
	}
	if waves > 8 { // the probability is below 1% if the level is 2%, as the finer grid may make it
		t.Errorf("%d of 200 signals of noise have a wave", waves)
	}
	still := make([][]float64, 50)
	for i := range still {
		still[i] = []float64{.1, 1e9 / 3}
	}
	if got := Periodogram(still, nil, 2, nil); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("a constant has waves %v", got)
	}
	if got := Periodogram(noisy(1, 7, 2, 9, 3), nil, 2, nil); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("7 times have waves %v", got)
	}
}

// TestPeriodogramKeepsPlaces: a wave that was known keeps its place, whatever its power.
func TestPeriodogramKeepsPlaces(t *testing.T) {
	signal := noisy(2, 300, 3, 2, 20, 7)
	free := Periodogram(signal, nil, 3, nil)
	known := []float64{0, free[1] + .001, free[0] - .001}
	if got := Periodogram(signal, nil, 3, known); got[1] != free[1] || got[2] != free[0] || got[0] != 0 {
		t.Errorf("places %v after %v, found %v", got, known, free)
	}
	if got := Periodogram(signal, nil, 3, []float64{1, 2, 3}); !slices.Equal(got, free) {
		t.Errorf("places %v with other known waves, not %v", got, free)
	}
}

// TestPeriodogramInDrift: a period whose power is far below that of a drift is found in what the
// drift's waves leave, and nothing is where there is none. Without them the drift takes the places.
func TestPeriodogramInDrift(t *testing.T) {
	const times = 300
	signal := noisy(3, times, 4, 1, 20)
	still := noisy(4, times, 4, 0)
	for i := range times {
		u := float64(i) / times
		for d := range 4 {
			signal[i][d] += 40 * (1 - math.Exp(-4*u))
			still[i][d] += 40 * (1 - math.Exp(-4*u))
		}
	}
	drift := halfCycles(8)
	got := Periodogram(signal, drift, 2, nil)
	if math.Abs(got[0]-2*math.Pi/20)*times > 2*math.Pi/10 || got[1] != 0 {
		t.Errorf("frequencies %.4f in a drift, want %.4f alone", got, 2*math.Pi/20)
	}
	if got := Periodogram(signal, nil, 2, nil); math.Abs(got[0]-2*math.Pi/20) < .1 || math.Abs(got[1]-2*math.Pi/20) < .1 {
		t.Errorf("frequencies %.4f without the drift's waves: the test shows nothing", got)
	}
	if got := Periodogram(still, drift, 2, nil); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("a drift alone has waves %.4f", got)
	}
	if got := Periodogram(signal[:37], drift, 2, nil); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("fewer times than the fit needs have waves %.4f", got)
	}
}
