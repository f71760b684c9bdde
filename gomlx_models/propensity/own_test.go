package propensity

import (
	"context"
	"math"
	"os"
	"testing"
	"time"

	"tvps/data/random"
)

// noDrift draws n rows of dim values and a label of two classes, at so many times.
func noDrift(seed int64, n, dim, times int) OwnData {
	rng := random.New(seed, "own test", "no drift")
	d := OwnData{Data: Data{Dim: dim}, Classes: 2}
	for i := range n {
		for range dim {
			d.X = append(d.X, float32(rng.NormFloat64()))
		}
		d.Label = append(d.Label, int32(rng.IntN(2)))
		d.Time = append(d.Time, float64(i%times))
	}
	return d
}

func init() { trendColumn = os.Getenv("TREND") != "0" }

func fitOwn(tb testing.TB, d OwnData, cfg OwnConfig, seed int64) *Own {
	tb.Helper()
	begin := time.Now()
	o, err := FitOwn(context.Background(), open(tb, ""), d, cfg, seed)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(o.Close)
	for kind, f := range map[Kind]*Diagnostics{Joint: o.Joint, Covariate: o.Covariate} {
		if f != nil {
			tb.Logf("%s: %d updates of %+v, held-out loss %.4f +- %.4f, scale %.2f, candidates %.4f, %v", kind, f.Updates, f.Chosen,
				f.HeldOut, f.HeldOutError, f.Scale, f.Candidates, time.Since(begin).Round(time.Millisecond))
			if n := f.Null; n != nil {
				tb.Logf("null: drift %v, p %.2f, loss %.4f, null %.4f +- %.4f, share %.3f, null %.3f", n.Drift, n.P, n.Loss,
					n.LossMean, n.LossSpread, n.Share, n.ShareMean)
			}
		}
	}
	return o
}

func weigh(tb testing.TB, o *Own, T float64, options WeightOptions) *OwnWeights {
	tb.Helper()
	w, err := o.Weights(context.Background(), T, options)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func TestOwnNoDrift(t *testing.T) {
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	share, called := 0.0, 0
	for seed := range seeds {
		cfg := DefaultOwn()
		cfg.Kinds = []Kind{Joint}
		o := fitOwn(t, noDrift(int64(seed), 2000, 5, 20), cfg, int64(seed))
		w := weigh(t, o, 19, WeightOptions{Kind: Joint, Clip: ClipNone})
		rmse := 0.0
		for _, v := range w.LogOmega {
			rmse += v * v / float64(len(w.LogOmega))
		}
		t.Logf("share %.3f, rmse %.3f", w.Share, math.Sqrt(rmse))
		if rmse > .2*.2 {
			t.Errorf("seed %d: the rmse of log omega is %.3f, above .2", seed, math.Sqrt(rmse))
		}
		share += w.Share / float64(seeds)
		if o.Joint.Null.Drift {
			called++
		}
	}
	t.Logf("mean share %.3f, drift called in %d of %d", share, called, seeds)
	if share < .95 || called > 0 {
		t.Errorf("without drift the mean effective share is %.3f and drift is called in %d of %d seeds", share, called, seeds)
	}
}

func TestOwnGaussian(t *testing.T) {
	for _, raw := range []bool{false, true} {
		draw := func(seed int64, n int) OwnData { // the mean goes from 0 to 2
			d := OwnData{Data: gaussian(seed, func(float64) float64 { return 0 }, n)}
			rng := random.New(seed, "times")
			for i := range d.Time {
				if d.Time[i] = 1e9 + 19e5*rng.Float64(); !raw {
					d.Time[i] = 1e9 + 1e5*float64(rng.IntN(20))
				}
				d.X[i] += float32((d.Time[i] - 1e9) / 1e6)
			}
			return d
		}
		d := draw(1, 4000)
		o := fitOwn(t, d, DefaultOwn(), 0)
		fresh := draw(2, 4000)
		fresh.Time = append(fresh.Time[:0:0], fresh.Time...)
		_, T := o.Times()
		for i := range fresh.Time {
			fresh.Time[i] = math.Min(math.Max(fresh.Time[i], o.first), T)
		}
		w, err := o.WeightsOf(context.Background(), fresh, T, WeightOptions{Kind: Joint, Clip: ClipNone})
		if err != nil {
			t.Fatal(err)
		}
		mu := func(t float64) float64 { return (t - 1e9) / 1e6 }
		want := exactLog(fresh.Data, mu, T)
		correlation, rms := agreement(w.LogOmega, want)
		m := 0.0
		for _, v := range w.LogOmega {
			m += math.Exp(v) / float64(len(want))
		}
		t.Logf("raw %v: correlation %.3f, rms %.3f, slope %.3f, mean omega %.3f, notes %q", raw, correlation, rms,
			slope(w.LogOmega, want), m, o.Notes)
	}
}
