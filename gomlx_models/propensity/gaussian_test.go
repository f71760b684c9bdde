package propensity

import (
	"context"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"

	"gonum.org/v1/gonum/stat"
)

// TestGaussianRatio fits (x, t) of 20 times and compares log omega with the exact
// log p_T(x)/p_t(x), on a slow drift for every time encoding and on two periods of a
// sine for those that can represent it.
func TestGaussianRatio(t *testing.T) {
	demand.Slow(t)
	for _, c := range []struct {
		name  string
		mu    func(float64) float64
		times []TimeEncoding
	}{
		{"linear", linear, []TimeEncoding{TimeScalar}},
		{"periodic", periodic, []TimeEncoding{TimeOneHot, TimeEmbedding, TimeFourier}},
	} {
		d := gaussian(1, c.mu, equal(20, 500)...)
		want := exactLog(d, c.mu, 19)
		for _, time := range c.times {
			for _, method := range []Method{Method1, Method2} {
				if !demand.Nightly && (method == Method1) != (time == TimeFourier || time == TimeEmbedding) {
					continue
				}
				cfg := DefaultConfig()
				cfg.Method, cfg.Time = method, time
				if time != TimeScalar { // which is slow
					cfg.Updates = 500
				}
				got := fit(t, d, cfg, 19)
				correlation, rms := agreement(got, want)
				_, nothing := agreement(make([]float64, len(want)), want)
				t.Logf("%s %s %s: correlation %.3f, RMS error %.3f (of a constant 0: %.3f), slope %.3f",
					c.name, method, time, correlation, rms, nothing, slope(got, want))
				if correlation < .96 || rms > .3*nothing || math.Abs(slope(got, want)-1) > .2 {
					t.Errorf("%s %s %s does not find the ratio", c.name, method, time)
				}
			}
		}
	}
}

// TestCosineSchedule: at a rate that falls to 0, less of the minibatches' noise is left in g.
func TestCosineSchedule(t *testing.T) {
	demand.Slow(t)
	for i, want := range []float64{1, (2 + math.Sqrt2) / 4, .5, (2 - math.Sqrt2) / 4} {
		if got := ScheduleCosine.Factor(i, 4); math.Abs(got-want) > 1e-12 {
			t.Errorf("factor of update %d of 4: %v, want %v", i, got, want)
		}
	}
	d := gaussian(3, periodic, equal(20, 200)...)
	want := exactLog(d, periodic, 19)
	errors := map[Schedule]float64{}
	for _, schedule := range Schedules() {
		cfg := DefaultConfig()
		cfg.Time, cfg.LearningRate, cfg.Updates, cfg.Schedule = TimeFourier, 1e-2, 300, schedule
		_, errors[schedule] = agreement(fit(t, d, cfg, 19), want)
	}
	t.Log(errors)
	if errors[ScheduleCosine] > .9*errors[ScheduleConstant] {
		t.Errorf("root mean squared errors of log omega: %v", errors)
	}
}

// TestTwoTimes: with two times the negatives of Method 2 come from the other time alone, so
// that g is log p_t - log p_s and log omega is twice the exact one. With Method 1 it is exact.
func TestTwoTimes(t *testing.T) {
	demand.Slow(t)
	mu := func(t float64) float64 { return t } // 0 and 1
	d := gaussian(3, mu, 8000, 8000)
	want := exactLog(d, mu, 1)
	for method, factor := range map[Method]float64{Method1: 1, Method2: 2} {
		cfg := DefaultConfig()
		cfg.Method, cfg.Updates = method, 500
		got := fit(t, d, cfg, 1)
		correlation, _ := agreement(got, want)
		t.Logf("%s: slope %.3f, correlation %.3f", method, slope(got, want), correlation)
		if correlation < .97 || math.Abs(slope(got, want)/factor-1) > .15 {
			t.Errorf("%s: log omega is %.3f times the exact one, not %v (correlation %.3f)",
				method, slope(got, want), factor, correlation)
		}
	}
}

func still(float64) float64 { return 1 }

// TestNoShift: without drift the weights are near 1, although the times have different numbers
// of samples.
func TestNoShift(t *testing.T) {
	demand.Slow(t)
	d := gaussian(4, still, 2000, 500, 2000, 500, 2000, 500, 2000, 500, 2000, 500)
	for _, method := range []Method{Method2, Method1} {
		if method == Method1 && !demand.Nightly {
			continue
		}
		cfg := DefaultConfig()
		cfg.Method, cfg.Updates = method, 500
		w := ClipNone.Weights(fit(t, d, cfg, 9))
		mean, sd := stat.PopMeanStdDev(w, nil)
		share := EffectiveSampleSize(w) / float64(len(w))
		t.Logf("%s: mean %.3f, deviation %.3f, effective share %.3f", method, mean, sd, share)
		if math.Abs(mean-1) > .1 || sd > .25 || share < .95 {
			t.Errorf("%s: weights without a shift have mean %.3f, deviation %.3f, effective share %.3f",
				method, mean, sd, share)
		}
	}
}

// TestStandardScore compares log beta with the exact ratio of the mixture of the
// current times to that of the past ones.
func TestStandardScore(t *testing.T) {
	demand.Slow(t)
	mu := func(t float64) float64 { return .15 * t }
	d := gaussian(5, mu, equal(20, 300)...)
	for _, window := range []int{2, 10} {
		if window == 10 && !demand.Nightly {
			continue
		}
		cfg := DefaultConfig()
		cfg.Method, cfg.Window = Standard, window
		got := fit(t, d, cfg, 19)
		var past, exact []float64
		for i, x := range d.X {
			if d.Time[i] >= float64(20-window) {
				if got[i] != 0 {
					t.Fatalf("a current sample has log beta %v", got[i])
				}
				continue
			}
			past = append(past, got[i])
			exact = append(exact, logMixture(x, mu, 20-window, 20)-logMixture(x, mu, 0, 20-window))
		}
		correlation, rms := agreement(past, exact)
		t.Logf("window %d: correlation %.3f, RMS error %.3f, slope %.3f", window, correlation, rms, slope(past, exact))
		if correlation < .96 || rms > .4 {
			t.Errorf("window %d: correlation %.3f and RMS error %.3f with the exact log ratio", window, correlation, rms)
		}
	}
}

// TestLogMixture compares the score with log p_T / sum_s n_s/N p_s, exactly, for times of different numbers of samples.
// Its mean over the samples is about 1, and samples at one place have one weight, whenever they were drawn.
func TestLogMixture(t *testing.T) {
	counts := equal(20, 300)
	counts[3], counts[19] = 900, 150
	d := gaussian(6, periodic, counts...)
	f, err := Fit(context.Background(), open(t, ""), d, DefaultConfig(), 0)
	demand.NoError(t, err)
	defer f.Close()
	got, err := f.Score.LogMixture(context.Background(), f.samples, 19)
	demand.NoError(t, err)
	want := make([]float64, len(got))
	for i, x := range d.X {
		all := 0.0
		for s, n := range counts {
			all += float64(n) / float64(len(got)) * math.Exp(logNormal(float64(x)-periodic(float64(s))))
		}
		want[i] = logNormal(float64(x)-periodic(19)) - math.Log(all)
	}
	correlation, rms := agreement(got, want)
	_, nothing := agreement(make([]float64, len(want)), want)
	mean := stat.Mean(ClipNone.Weights(got), nil)
	t.Logf("correlation %.3f, RMS error %.3f (of a constant 0: %.3f), mean %.3f", correlation, rms, nothing, mean)
	if correlation < .95 || rms > .35*nothing || math.Abs(mean-1) > .1 {
		t.Errorf("correlation %.3f, RMS error %.3f and mean %.3f", correlation, rms, mean)
	}
	samples := f.samples
	samples.Time = make([]int32, len(got))
	again, err := f.Score.LogMixture(context.Background(), samples, 19)
	demand.NoError(t, err)
	if !slices.Equal(again, got) {
		t.Error("the score depends on the time at which a sample was drawn")
	}
}

// logMixture is the log density at x of the times from..to-1 together.
func logMixture(x float32, mu func(float64) float64, from, to int) float64 {
	sum := 0.0
	for t := from; t < to; t++ {
		sum += math.Exp(logNormal(float64(x) - mu(float64(t))))
	}
	return math.Log(sum / float64(to-from))
}

// TestLiteralReading: with 200 minibatches of 512 at 1e-4 g learns almost nothing.
func TestLiteralReading(t *testing.T) {
	d := gaussian(1, periodic, equal(20, 500)...)
	want := exactLog(d, periodic, 19)
	cfg := DefaultConfig()
	cfg.Updates, cfg.LearningRate = 200, 1e-4
	got := fit(t, d, cfg, 19)
	_, size := agreement(got, make([]float64, len(got)))
	_, exact := agreement(want, make([]float64, len(got)))
	t.Logf("log omega has size %.3f (exact %.3f), slope %.3f", size, exact, slope(got, want))
	if size > .2*exact || slope(got, want) > .2 {
		t.Errorf("log omega has size %.3f, exactly %.3f, and slope %.3f: the negative control learned",
			size, exact, slope(got, want))
	}
}

// TestTimeBetween asks a Fourier g for a time without samples.
func TestTimeBetween(t *testing.T) {
	demand.Slow(t)
	d := gaussian(6, linear, equal(20, 300)...)
	for i := range d.Time { // leaves a gap: 0..9, then 12..21
		if d.Time[i] > 9 {
			d.Time[i] += 2
			d.X[i] += .2
		}
	}
	cfg := DefaultConfig()
	cfg.Time, cfg.Frequencies, cfg.Updates = TimeFourier, 2, 500
	got := fit(t, d, cfg, 10.5)
	correlation, rms := agreement(got, exactLog(d, linear, 10.5))
	t.Logf("correlation %.3f, RMS error %.3f", correlation, rms)
	if correlation < .95 {
		t.Errorf("at a time between, log omega has correlation %.3f with the exact one", correlation)
	}
}

// TestLabelShift: y ~ q_t, and x given y does not change. Log omega is then
// log q_T(y)/q_t(y), whatever x is; for Method 2 it is that method's optimum (see the package
// comment).
func TestLabelShift(t *testing.T) {
	demand.Slow(t)
	const times, n = 6, 3000
	q := func(time, y int) float64 { // from (.6 .3 .1) to (.1 .3 .6)
		u := float64(time) / (times - 1)
		return []float64{.6, .3, .1}[y]*(1-u) + []float64{.1, .3, .6}[y]*u
	}
	d := labelled(times, n, q)
	for _, method := range []Method{Method1, Method2} {
		cfg := DefaultConfig()
		cfg.Method, cfg.Classes, cfg.Updates = method, 3, 500
		got := fit(t, d, cfg, times-1)
		want := make([]float64, len(got))
		for i, y := range d.Label {
			g := func(time int) float64 { return labelScore(method, q, times, time, int(y)) }
			want[i] = g(times-1) - g(int(d.Time[i]))
		}
		correlation, rms := agreement(got, want)
		t.Logf("%s: correlation %.3f, RMS error %.3f, slope %.3f", method, correlation, rms, slope(got, want))
		if correlation < .96 || rms > .25 {
			t.Errorf("%s: correlation %.3f and RMS error %.3f with the exact log ratio of the labels", method, correlation, rms)
		}
	}
}

// labelScore is what g converges to under label shift, up to a constant.
func labelScore(method Method, q func(time, y int) float64, times, time, y int) float64 {
	if method == Method1 {
		return math.Log(q(time, y))
	}
	others := 0.0
	for s := range times {
		if s != time {
			others += q(s, y) / float64(times-1)
		}
	}
	return math.Log(q(time, y) / others)
}

// labelled draws labels by systematic sampling from q, and x in 3 dimensions around y.
func labelled(times, n int, q func(time, y int) float64) Data {
	d := Data{Dim: 3}
	noise := gaussian(8, still, times*n*d.Dim).X
	for time := range times {
		for i := range n {
			u, y := (float64(i)+.5)/float64(n), 0
			for sum := q(time, 0); u > sum; sum += q(time, y) {
				y++
			}
			for j := range d.Dim {
				v := noise[len(d.X)]
				if j == y {
					v += 2
				}
				d.X = append(d.X, v)
			}
			d.Label, d.Time = append(d.Label, int32(y)), append(d.Time, float64(time))
		}
	}
	return d
}
