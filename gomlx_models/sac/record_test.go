package sac

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"

	"gonum.org/v1/gonum/stat"
)

// TestOmegaOfReturningTasks: the task returns every 4 episodes, and the observation is N(2 sin(2 pi t / 4), 1). With
// waves of that period g predicts new episodes, and omega is large for the episodes of the same task.
func TestOmegaOfReturningTasks(t *testing.T) {
	mu := func(t int) float64 { return 2 * math.Sin(2*math.Pi*float64(t)/4) }
	cfg := DefaultConfig(1, 1)
	cfg.Hidden, cfg.Batch, cfg.Capacity = 4, 200, 5000
	tinyOmega(&cfg)
	o := cfg.Omega
	o.Updates, o.Time, o.Waves, o.Hidden, o.Layers, o.Rate, o.Batch = 4, propensity.TimePeriods, 3, 16, 3, 3e-3, 128
	a := open(t, backend.Go, cfg, 5, 6)
	gaussian(t, a, 120, 20, mu, a.fitOmega)
	records, err := a.RecordOmega(60)
	demand.NoError(t, err)
	for i, r := range records {
		var similarity []float64
		for _, e := range r.Episodes {
			similarity = append(similarity, -math.Abs(mu(e)-mu(r.Last)))
		}
		if c := stat.Correlation(r.Means, similarity, nil); c < .8 || r.Loss > math.Ln2-.05 {
			t.Errorf("seed %d: correlation %v, loss on new episodes %v", a.seeds[i], c, r.Loss)
		}
	}
	_, weights := drawn(t, a)
	mean, r := 0., records[0]
	for _, w := range weights[:a.cfg.Batch] {
		mean += float64(w) / float64(a.cfg.Batch)
	}
	if math.Abs(mean-r.Mean) > .1 || r.Share >= 1 || r.Spread <= 0 {
		t.Errorf("the record has a mean of %v, share %v, spread %v; a minibatch has a mean of %v",
			r.Mean, r.Share, r.Spread, mean)
	}
}

// TestRecordBeforeAFit: omega is 1 then, and g has the loss of 0.
func TestRecordBeforeAFit(t *testing.T) {
	a := open(t, backend.Go, tiny(tinyOmega), 3, 4)
	fill(t, a, 9, 4)
	records, err := a.RecordOmega(0)
	demand.NoError(t, err)
	r := records[1]
	if r.Mean != 1 || r.Share != 1 || r.Spread != 0 || r.Loss != math.Ln2 || r.Last != -1 || len(r.Means) != 2 {
		t.Errorf("%+v", r)
	}
	_, err = open(t, backend.Go, tiny(), 3).RecordOmega(0)
	demand.Error(t, err, "Config.Omega")
}

// TestTaskWeights: the weights are those of the function, for each seed and the current episode.
func TestTaskWeights(t *testing.T) {
	a := open(t, backend.Go, tiny(), 3, 4)
	fill(t, a, 23, 5) // the current episode is 4
	a.SetTaskWeight(func(seed, T, episode int) float64 { return float64(100*seed + 10*T + episode) })
	at, weights := drawn(t, a)
	for k, w := range weights {
		i, b := k/a.cfg.Batch, k%a.cfg.Batch
		if want := float32(100*i + 40 + at[i][b]/5); w != want {
			t.Errorf("weight %d is %v, not %v", k, w, want)
		}
	}
}
