package propensity

import (
	"math"
	"testing"

	"tvps/ci/demand"
)

// TestHeldOutLoss: of two times, every method's loss on new samples is that of the exact log ratio, computed from the
// densities, and log 2 before any training.
func TestHeldOutLoss(t *testing.T) {
	mu := func(t float64) float64 { return t }
	fitted, held := gaussian(1, mu, 2000, 2000), gaussian(2, mu, 1500, 1500)
	exact := 0.0
	for i, x := range held.X {
		own, other := held.Time[i], 1-held.Time[i]
		exact += softplus(logNormal(float64(x)-other)-logNormal(float64(x)-own)) / float64(len(held.X))
	}
	demand.Slow(t)
	samples, times := samplesOf(fitted, 2)
	heldSamples, _ := samplesOf(held, 2)
	for _, method := range Methods() {
		cfg := quick()
		cfg.Method, cfg.Updates, cfg.Batch = method, 500, 256
		e := newEstimatorOn(t, "go", fitted, 2, cfg)
		score, err := e.Fit(t.Context(), samples, times, 0)
		demand.NoError(t, err)
		x, err := e.pool.Rows(held.X)
		demand.NoError(t, err)
		loss, err := score.Loss(t.Context(), x, heldSamples, 3)
		if err != nil || math.Abs(loss-exact) > .005 || exact > .6 {
			t.Errorf("%s: loss %.4f, exact %.4f, %v", method, loss, exact, err)
		}
		e.cfg.Updates = 0
		if score, err = e.Fit(t.Context(), samples, times, 0); err != nil {
			t.Fatal(err)
		}
		if loss, err = score.Loss(t.Context(), e.pool.X, samples, 3); err != nil || math.Abs(loss-math.Ln2) > 1e-9 {
			t.Errorf("%s: loss %v before training, %v", method, loss, err)
		}
		_, err = score.Loss(t.Context(), x, Samples{}, 3)
		demand.Error(t, err, "no samples")
		_, err = score.Loss(t.Context(), x, samples, 3)
		demand.Error(t, err, "row 3000", "pool of 3000")
	}
}
