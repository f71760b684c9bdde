package sac

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
)

// TestActSeesTheHistoryOfTheEpisode compares Act with the float64 policy on the steps of
// the current episode, also just after an episode's end, for the agent's own rollout and
// for another one that starts in the middle.
func TestActSeesTheHistoryOfTheEpisode(t *testing.T) {
	a := open(t, backend.Go, tiny(tinyContext), 3, 9)
	shake(t, a)
	other := a.NewRollout("evaluation")
	var all [][]Transition
	for k := range 12 {
		now := randomTransitions(a, k, 6)
		observations := [][]float64{now[0].Observation, now[1].Observation}
		acts := map[string]func([][]float64, Mode) ([][]float64, error){"training": a.Act, "evaluation": other.Act}
		for name, act := range acts {
			got, err := act(observations, Mean)
			demand.NoError(t, err)
			for i := range a.seeds {
				var seen []Transition
				for j, ts := range all {
					if name == "training" || j >= 8 {
						seen = append(seen, ts[i])
					}
				}
				steps := refHistory(a.cfg, append(seen, now[i]), len(seen), 0)
				want, _ := snapshot(t, a, i).actor.policy(a.cfg, observations[i], steps, []float64{0, 0})
				demand.Floats(t, fmt.Sprintf("%s, step %d, seed %d", name, k, i), rounded(nil, got[i]), want, 1e-5)
			}
		}
		demand.NoError(t, a.Observe(now))
		if k >= 8 {
			other.Remember(now)
		}
		all = append(all, now)
	}
}

// TestModes: the mean is reproducible and draws nothing; samples scatter around it as the
// policy says; the burn-in is uniform on [-1, 1].
func TestModes(t *testing.T) {
	a := open(t, backend.Go, tiny(), 3)
	shake(t, a)
	observation := [][]float64{{1, -.5, .3}}
	v := snapshot(t, a, 0)
	out := v.actor.mlp(a.cfg, "policy", observation[0], 4, 0)
	const draws = 3000
	sum, square, uniform, below := 0., 0., 0., 0
	for range draws {
		s, err := a.Act(observation, Sample)
		demand.NoError(t, err)
		u := math.Atanh(s[0][0])
		sum, square = sum+u/draws, square+u*u/draws
		r, err := a.Act(observation, Uniform)
		demand.NoError(t, err)
		uniform += r[0][1] * r[0][1] / draws
		if r[0][0] < -.5 {
			below++
		}
	}
	std := math.Exp(out[2])
	if math.Abs(sum-out[0]) > 4*std/math.Sqrt(draws) || math.Abs(math.Sqrt(square-sum*sum)/std-1) > .06 {
		t.Errorf("samples have mean %v and deviation %v, not %v and %v", sum, math.Sqrt(square-sum*sum), out[0], std)
	}
	if math.Abs(uniform-1./3) > .02 || math.Abs(float64(below)/draws-.25) > .04 {
		t.Errorf("uniform actions have a mean square of %v, and %d of %d below -.5", uniform, below, draws)
	}
	acts := a.rollout.acts
	if _, err := a.Act(observation, Mean); err != nil || a.rollout.acts != acts {
		t.Errorf("the mean consumed random numbers (%v)", err)
	}
}

// TestBatchedSeedsAreSeedsAlone compares three batched seeds with three programs of one seed.
// On the Go backend the bits are equal. XLA sums in another order when shapes differ, and Adam
// makes a step for any gradient, however small; there the test compares the gradients of one
// update.
func TestBatchedSeedsAreSeedsAlone(t *testing.T) {
	seeds := []int64{3, 1, 4}
	for _, c := range []struct {
		backend string
		cfg     Config
		updates int
		alone   []int // which of the seeds
		tol     float64
	}{
		{backend.Go, tiny(learnAlpha, tinyContext, tinyOmega), 5, []int{0, 1, 2}, 0},
		{backend.Default, tiny(), 1, []int{1}, 1e-6},
	} {
		run := func(seeds ...int64) (*Agent, [][]float64) {
			a := open(t, c.backend, c.cfg, seeds...)
			episodes(t, a, 30)
			actions, err := a.Act(slices.Repeat([][]float64{{.1, .2, .3}}, len(seeds)), Sample)
			demand.NoError(t, err)
			for range c.updates {
				update(t, a)
			}
			return a, actions
		}
		batched, together := run(seeds...)
		for _, i := range c.alone {
			seed := seeds[i]
			one, alone := run(seed)
			demand.Floats(t, "actions", rounded(nil, together[i]), alone[0], c.tol)
			got, want := snapshot(t, batched, i), snapshot(t, one, 0)
			for _, part := range []string{"actor/m", "critic/m", "alpha/m", "actor/v", "critic/v", "alpha/v"} {
				for _, array := range got.moments[part].names {
					demand.Floats(t, fmt.Sprintf("%q: seed %d, %s %s", c.backend, seed, part, array),
						rounded(nil, got.moments[part].values[array]), want.moments[part].values[array], c.tol)
				}
			}
		}
	}
}

// TestLoneAgentKeepsItsBits: one seed by itself has the weights that it had when this test was written, bit for bit on
// the Go backend and amd64. A change of the program that rounds differently changes every stored run of one seed: renew
// the number on purpose alone, with the version of the protocol in package robots.
func TestLoneAgentKeepsItsBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the products of sums differently")
	}
	a := open(t, backend.Go, tiny(learnAlpha, tinyContext, tinyOmega), 3)
	episodes(t, a, 30)
	for range 5 {
		update(t, a)
	}
	hash := fnv.New64a()
	for _, values := range slices.Concat(flat(t, a.state), flat(t, a.g)) {
		for _, v := range values {
			fmt.Fprintf(hash, "%08x", math.Float32bits(v))
		}
	}
	demand.Equal(t, fmt.Sprintf("%016x", hash.Sum64()), "b3b919e96322d232", "the weights have the hash")
}

func TestAgentRejects(t *testing.T) {
	b := backend.ForTest(t, backend.Go).Backend
	for want, c := range map[string]struct {
		seeds  []int64
		change func(*Config)
	}{
		"there are no seeds":              {nil, learnAlpha},
		"capacity is 0":                   {[]int64{1}, func(c *Config) { c.Capacity = 0 }},
		"batch is -1":                     {[]int64{1}, func(c *Config) { c.Batch = -1 }},
		"observations is 0":               {[]int64{1}, func(c *Config) { c.Observations = 0 }},
		"history of the context is 0":     {[]int64{1}, func(c *Config) { c.Context = &Context{Hidden: 1} }},
		"alpha is -1; it must be":         {[]int64{1}, func(c *Config) { c.Alpha, c.LearnAlpha = -1, true }},
		"critic rate is NaN":              {[]int64{1}, func(c *Config) { c.CriticRate = math.NaN() }},
		"gamma is 2 and tau 0.05":         {[]int64{1}, func(c *Config) { c.Gamma = 2 }},
		"omega batch is 0":                {[]int64{1}, func(c *Config) { tinyOmega(c); c.Omega.Batch = 0 }},
		"alpha is 0":                      {[]int64{1}, func(c *Config) { c.Alpha, c.LearnAlpha = 0, true }},
		"omega layers is 1":               {[]int64{1}, func(c *Config) { tinyOmega(c); c.Omega.Layers = 1 }},
		`time encoding "x" is not one`:    {[]int64{1}, func(c *Config) { tinyOmega(c); c.Omega.Time = "x" }},
		`method "standard" is not one of`: {[]int64{1}, func(c *Config) { tinyOmega(c); c.Omega.Method = "standard" }},
		`encoding "onehot" is not one of`: {[]int64{1}, func(c *Config) {
			tinyOmega(c)
			c.Omega.Time = propensity.TimeOneHot
		}},
	} {
		cfg := tiny(c.change)
		_, err := New(b, cfg, c.seeds)
		demand.Error(t, err, "sac: ", want)
	}
	seeds := []int64{1, 2}
	a := open(t, backend.Go, tiny(), seeds...)
	if seeds[0] = 9; a.seeds[0] != 1 {
		t.Error("the agent has the caller's seeds")
	}
	rejects := func(want string, change func(t *Transition)) {
		t.Helper()
		ts := randomTransitions(a, a.Observed(), 4)
		change(&ts[1])
		demand.Error(t, a.Observe(ts), "sac: transition 1", want)
	}
	_, err := a.Update()
	demand.Error(t, err, "sac: there are no transitions")
	fill(t, a, 4, 4) // an episode
	rejects("1 of the action, not 3, 3 and 2", func(t *Transition) { t.Action = t.Action[1:] })
	rejects("of episode 0, after one of episode 0", func(t *Transition) { t.Episode = 0 })
	fill(t, a, 1, 4)
	rejects("of episode 2, after one of episode 1", func(t *Transition) { t.Episode = 2 })
	demand.Error(t, a.Observe(randomTransitions(a, 5, 4)[1:]), "sac: 1 transitions for 2 seeds")
	if a.Observed() != 5 {
		t.Errorf("%d transitions, not 5", a.Observed())
	}
	_, err = a.Act([][]float64{{1, 2}, {1, 2, 3, 4}}, Sample)
	demand.Error(t, err, "sac: observation 0 has 2 values, not 3")
	_, err = a.RecordOmega(0)
	demand.Error(t, err, "sac: the agent has no omega")
	closed, err := New(b, tiny(), []int64{1})
	demand.NoError(t, err)
	closed.Close()
	for _, f := range []func() error{
		func() error { _, err := closed.Update(); return err },
		func() error { _, err := closed.Act([][]float64{{1, 2, 3}}, Uniform); return err },
	} {
		demand.Error(t, f(), "sac: used after Close")
	}
}

// TestDivergenceIsAnError: the largest float32 as reward makes the loss infinite.
func TestDivergenceIsAnError(t *testing.T) {
	a := open(t, backend.Go, tiny(), 1, 2)
	ts := randomTransitions(a, 0, 10)
	ts[1].Reward = math.MaxFloat32
	demand.NoError(t, a.Observe(ts))
	_, err := a.Update()
	demand.Error(t, err, "of seed 2 became +Inf after 1 updates", "lower the learning rates")
}
