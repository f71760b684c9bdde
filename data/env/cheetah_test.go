package env

import (
	"math"
	"math/rand/v2"
	"testing"

	"tvps/ci/demand"
)

// Wind and target of some episodes, computed by hand: 10 sin(0.2 i), 1.5 + 1.5 sin(0.5 i).
func TestCheetahTasks(t *testing.T) {
	c := newCheetah(t, CheetahOptions{})
	for episode, want := range map[int]struct{ wind, target float64 }{
		0: {0, 1.5}, 1: {1.98669, 2.21914}, 8: {9.99574, 0.36480}, 24: {-9.96165, 0.69514},
	} {
		wind, target := c.conditions(episode)
		if math.Abs(wind-want.wind) > 1e-5 || math.Abs(target-want.target) > 1e-5 {
			t.Errorf("episode %d: wind %v, target %v", episode, wind, target)
		}
	}
	if n, m, horizon := c.Sizes(); n != 17 || m != 6 || horizon != 50 {
		t.Error(n, m, horizon)
	}
}

// The observation has all positions but x and all velocities; the noise is the documented one.
func TestCheetahReset(t *testing.T) {
	c := newCheetah(t, CheetahOptions{})
	obs, rng := make([]float64, 17), rand.New(rand.NewPCG(3, 4))
	var widest, squared float64
	const episodes = 500
	for i := range episodes {
		demand.NoError(t, c.Reset(i, rng, obs))
		for k := range 8 {
			widest = max(widest, math.Abs(obs[k]))
			if obs[k] != c.sim.QPos[k+1] {
				t.Fatalf("position %d of the observation is not that of the simulation", k)
			}
		}
		for k := range 9 {
			squared += obs[8+k] * obs[8+k] / (9 * episodes)
			if obs[8+k] != c.sim.QVel[k] {
				t.Fatalf("velocity %d of the observation is not that of the simulation", k)
			}
		}
	}
	if widest > 0.1 || widest < 0.0999 {
		t.Errorf("the largest position is %v, want nearly 0.1", widest)
	}
	if sd := math.Sqrt(squared); math.Abs(sd-0.1) > 0.003 { // 4 standard errors are .0042 / sqrt 2
		t.Errorf("the velocities have the standard deviation %v, want 0.1", sd)
	}
}
