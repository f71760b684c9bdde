package sac

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
)

// TestOmegaOneIsPlainSAC: an agent whose g is never fitted, and one whose g stays 0 because
// its learning rate is 0, train to the same bits as one without omega.
func TestOmegaOneIsPlainSAC(t *testing.T) {
	train := func(change ...func(*Config)) (*Agent, [][]float32) {
		a := open(t, backend.Go, tiny(change...), 3, 4)
		var out [][]float32
		for range 4 {
			fill(t, a, 15, 6)
			m := update(t, a)
			out = append(out, m.CriticLoss, m.ActorLoss, m.Q, m.Entropy, m.Omega)
		}
		return a, append(out, flat(t, a.state)...)
	}
	_, plain := train()
	still, fitted := train(tinyOmega, func(c *Config) { c.Omega.Rate = 0 })
	same(t, "rate 0", fitted, plain)
	if still.gUpdates == 0 {
		t.Error("g was never fitted")
	}
	_, unfitted := train(tinyOmega, func(c *Config) { c.Omega.Updates = 0 })
	same(t, "M = 0", unfitted, plain)
}

// gaussian fills a replay with episodes whose observation is N(mean(t), 1) in episode t, and calls end after each.
func gaussian(t *testing.T, a *Agent, episodes, length int, mean func(t int) float64, end func() error) {
	t.Helper()
	for k := range episodes * length {
		var ts []Transition
		for _, seed := range a.seeds {
			observation := func(k int) []float64 {
				return []float64{mean(k/length) + random.New(seed, "gaussian", k).NormFloat64()}
			}
			action := 2*random.New(seed, "gaussian action", k).Float64() - 1
			ts = append(ts, Transition{Observation: observation(k), Action: []float64{action}, Next: observation(k + 1),
				Last: k%length == length-1, Episode: k / length})
		}
		demand.NoError(t, a.Observe(ts))
		if k%length == length-1 {
			demand.NoError(t, end())
		}
	}
}

// drawn is a minibatch: the numbers of its transitions by seed, and their weights.
func drawn(t *testing.T, a *Agent) (at [][]int, weights []float32) {
	t.Helper()
	inputs, at := a.draw()
	omega, err := a.weights(at)
	demand.NoError(t, err)
	defer net.Free(append(inputs, omega)...)
	return at, flatOf(t, omega)
}

// TestOmegaOfAKnownDrift: g learns log omega of a drifting Gaussian, which for Method 1 is
// log p_T(s) - log p_t(s), and for Method 2 the difference of log p_t(s) - log mean over
// the other times of p: with three times that is much sharper (see package propensity).
func TestOmegaOfAKnownDrift(t *testing.T) {
	const times, length = 3, 1000
	logP := func(s float64, t int) float64 { return -math.Pow(s-.5*float64(t), 2) / 2 }
	deviation := func(s float64, t int) float64 {
		others := 0.
		for u := range times {
			if u != t {
				others += math.Exp(logP(s, u)) / (times - 1)
			}
		}
		return logP(s, t) - math.Log(others)
	}
	for _, c := range []struct {
		method  propensity.Method
		network propensity.Network
		exact   func(s float64, t int) float64
	}{
		{propensity.Method1, "", logP}, {propensity.Method2, "", deviation}, {propensity.Method1, propensity.FC3, logP},
		{propensity.Method1, propensity.MLP, logP},
	} {
		cfg := agentOf(1, 1)
		cfg.Batch = 500
		tinyOmega(&cfg)
		o := cfg.Omega
		o.Method, o.Network, o.Clip, o.Updates = c.method, c.network, propensity.ClipNone, 300
		o.Rate, o.Waves, o.Hidden, o.Batch = 2e-3, 2, 16, 256
		a := open(t, backend.Go, cfg, 5)
		gaussian(t, a, times, length, func(t int) float64 { return .5 * float64(t) }, func() error { return nil })
		demand.NoError(t, a.fitOmega())
		at, got := drawn(t, a)
		for i, r := range a.replay {
			miss, spread := 0., 0.
			number := r.numbers(nil, at[i])
			for b, k := range at[i] {
				s := float64(r.row(k)[2]) // action, reward, observation
				want := c.exact(s, times-1) - c.exact(s, int(number[b]))
				miss += math.Pow(math.Log(float64(got[i*cfg.Batch+b]))-want, 2)
				spread += want * want
			}
			if miss/spread > .1 {
				t.Errorf("%s %s, seed %d: the error of log omega has %.2f of the exact one's sum of squares",
					c.method, c.network, a.seeds[i], miss/spread)
			}
		}
	}
}

// TestOmegaIsFittedEveryNEpisodes counts the updates of g and checks T.
func TestOmegaIsFittedEveryNEpisodes(t *testing.T) {
	for _, c := range []struct{ every, updates, last int }{
		{1, 4 * 6, 4}, // after episodes 1, 2, 3, 4; episode 0 alone has no other time to compare with
		{2, 2 * 6, 3}, // after 1 and 3
		{0, 22 * 6, 5},
	} {
		a := open(t, backend.Go, tiny(tinyOmega, func(c2 *Config) { c2.Omega.Every = c.every }), 1, 2)
		for range 27 { // five episodes of 5 steps, and two steps of the sixth
			fill(t, a, 1, 5)
			update(t, a)
		}
		if a.gUpdates != c.updates || a.lastFit[1].Episode != c.last {
			t.Errorf("every %d: %d updates of g and T = %d, not %d and %d",
				c.every, a.gUpdates, a.lastFit[1].Episode, c.updates, c.last)
		}
	}
}
