package sac

import (
	"bytes"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"gonum.org/v1/gonum/stat"
)

// returning fits omega after each episode of a task that returns every 4 episodes: the
// observation is N(2 sin(2 pi t / 4), 1).
func returning(t *testing.T, time propensity.TimeEncoding) (*Agent, []OmegaRecord) {
	t.Helper()
	cfg := DefaultConfig(1, 1)
	cfg.Hidden, cfg.Batch, cfg.Capacity = 4, 200, 5000
	cfg.Omega = DefaultOmega()
	o := cfg.Omega
	o.Time, o.Waves, o.Hidden, o.Layers, o.Rate, o.Batch = time, 3, 16, 3, 3e-3, 128
	a := open(t, "", cfg, 5, 6)
	const times, length = 120, 20
	for k := range times * length {
		var ts []Transition
		for _, seed := range a.seeds {
			rng := random.New(seed, "returning", k)
			s := float32(2*math.Sin(2*math.Pi*float64(k/length)/4) + rng.NormFloat64())
			ts = append(ts, Transition{Observation: []float32{s}, Action: []float32{2*rng.Float32() - 1}, Next: []float32{s},
				Last: k%length == length-1, Episode: k / length})
		}
		if err := a.Observe(ts); err != nil {
			t.Fatal(err)
		}
		if k%length == length-1 {
			if err := a.FitOmega(); err != nil {
				t.Fatal(err)
			}
		}
	}
	records, err := a.RecordOmega(times / 2)
	if err != nil {
		t.Fatal(err)
	}
	return a, records
}

// taskCorrelation is the correlation of the means of omega with minus the distance of means.
func taskCorrelation(r OmegaRecord) float64 {
	mu := func(t int) float64 { return math.Sin(2 * math.Pi * float64(t) / 4) }
	var similarity []float64
	for _, e := range r.Episodes {
		similarity = append(similarity, -math.Abs(mu(e)-mu(r.Last)))
	}
	return stat.Correlation(r.Means, similarity, nil)
}

// TestOmegaOfReturningTasks: with waves of their period g predicts new episodes, and omega is large
// for the episodes of the same task; with Fourier waves alone it does neither.
func TestOmegaOfReturningTasks(t *testing.T) {
	_, fourier := returning(t, propensity.TimeFourier)
	a, found := returning(t, propensity.TimePeriods)
	for i, r := range found {
		if c := taskCorrelation(r); c < .8 || c < taskCorrelation(fourier[i])+.3 {
			t.Errorf("seed %d: correlation %v, with Fourier waves %v", a.seeds[i], c, taskCorrelation(fourier[i]))
		}
		if r.Loss > math.Ln2-.05 || fourier[i].Loss < math.Ln2-.02 {
			t.Errorf("seed %d: loss on new episodes %v, with Fourier waves %v", a.seeds[i], r.Loss, fourier[i].Loss)
		}
	}
	rows, window, noise, at := a.draw()
	weights, err := a.weights(a.array.tensor, rows, at)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.
	for _, w := range flatOf(t, weights)[:a.cfg.Batch] {
		mean += float64(w) / float64(a.cfg.Batch)
	}
	net.Free(append(window, rows, noise, weights)...)
	if math.Abs(mean-found[0].Mean) > .1 || found[0].Share >= 1 || found[0].Spread <= 0 {
		t.Errorf("the record has a mean of %v, share %v, spread %v; a minibatch has a mean of %v",
			found[0].Mean, found[0].Share, found[0].Spread, mean)
	}
}

// TestRecordChangesNothing: an agent that records omega between updates trains to the same bits
// as one that does not, and saves the same checkpoint.
func TestRecordChangesNothing(t *testing.T) {
	train := func(record bool) []byte {
		a := open(t, backend.Go, tiny(tinyOmega), 3, 4)
		for range 3 {
			fill(t, a, 15, 6)
			update(t, a)
			if !record {
				continue
			}
			if _, err := a.RecordOmega(0); err != nil {
				t.Fatal(err)
			}
		}
		return saved(t, a)
	}
	if !bytes.Equal(train(true), train(false)) {
		t.Error("records change the agent")
	}
}

// TestRecordBeforeAFit: omega is 1 then, and g has the loss of 0.
func TestRecordBeforeAFit(t *testing.T) {
	a := open(t, backend.Go, tiny(tinyOmega), 3, 4)
	for _, transitions := range []int{0, 9} {
		fill(t, a, transitions, 4)
		records, err := a.RecordOmega(0)
		if err != nil {
			t.Fatal(err)
		}
		r := records[1]
		if r.Mean != 1 || r.Share != 1 || r.Spread != 0 || r.Loss != math.Ln2 || r.Last != -1 ||
			len(r.Means) != transitions/4 {
			t.Errorf("%d transitions: %+v", transitions, r)
		}
	}
	_, err := open(t, backend.Go, tiny(), 3).RecordOmega(0)
	demand.Error(t, err, "Config.Omega")
}

// TestTaskWeights: the weights are those of the function, for each seed and the current episode;
// with a weight of 1 the agent trains as plain SAC.
func TestTaskWeights(t *testing.T) {
	a := open(t, backend.Go, tiny(), 3, 4)
	fill(t, a, 23, 5) // the current episode is 4
	a.SetTaskWeight(func(seed, T, episode int) float64 { return float64(100*seed + 10*T + episode) })
	rows, window, noise, at := a.draw()
	weights, err := a.weights(a.array.tensor, rows, at)
	if err != nil {
		t.Fatal(err)
	}
	for k, w := range flatOf(t, weights) {
		i, b := k/a.cfg.Batch, k%a.cfg.Batch
		if want := float32(100*i + 40 + at[i][b]/5); w != want {
			t.Errorf("weight %d is %v, not %v", k, w, want)
		}
	}
	net.Free(append(window, rows, noise, weights)...)
	train := func(weight TaskWeight) ([][]float32, []float32) {
		a := open(t, backend.Go, tiny(), 3, 4)
		a.SetTaskWeight(weight)
		fill(t, a, 23, 5)
		m := update(t, a)
		return flat(t, a.state), m.CriticLoss
	}
	plain, loss := train(nil)
	one, _ := train(func(int, int, int) float64 { return 1 })
	same(t, "weight 1", one, plain)
	_, half := train(func(int, int, int) float64 { return .5 })
	for i := range half {
		if math.Abs(float64(2*half[i]-loss[i])) > 1e-5 {
			t.Errorf("seed %d: with a weight of .5 the critic's loss is %v, not half of %v", i, half[i], loss[i])
		}
	}
}
