package env

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tvps/ci/demand"
)

// play runs an episode with the actions of wave and returns all observations and rewards in
// one slice.
func play(t testing.TB, e Env, episode int) []float64 {
	t.Helper()
	n, _, _ := e.Sizes()
	obs := make([]float64, n)
	demand.NoError(t, e.Reset(episode, rand.New(rand.NewPCG(1, uint64(episode))), obs))
	rows, _ := rollout(t, e, obs, func(step int, _, action []float64) { wave(step/3, action) })
	return rows
}

// An episode does not depend on earlier episodes, not even on one that ended with an error, nor on another robot that
// runs at the same time.
func TestResetIsExact(t *testing.T) {
	fresh := both(t)
	for name, e := range both(t) {
		first := play(t, e, 3)
		play(t, e, 4)
		n, m, _ := e.Sizes()
		for want, bad := range map[string][]float64{"NaN": slices.Repeat([]float64{math.NaN()}, m),
			"must have": make([]float64, m-1), "; it must": make([]float64, m+1)} {
			_, err := e.Step(bad, make([]float64, n))
			demand.Error(t, err, want)
		}
		demand.Error(t, e.ResetTrial(len(e.Trials()), make([]float64, n)), "env: trial", "numbered from 0")
		again := make(chan []float64)
		for _, e := range []Env{e, fresh[name]} {
			go func() { again <- play(t, e, 3) }()
		}
		for range 2 {
			if !slices.Equal(<-again, first) {
				t.Errorf("%s: episode 3 differs the second time or in a new environment", name)
			}
		}
		if slices.Equal(play(t, e, 6), first) {
			t.Errorf("%s: episodes 3 and 6 are the same", name)
		}
	}
}

// An action outside [-1, 1] is clipped, also in the reward.
func TestActionsAreClipped(t *testing.T) {
	for name, e := range both(t) {
		n, m, _ := e.Sizes()
		var rows [2][]float64
		for i, size := range []float64{1, 3} {
			obs, action := make([]float64, n), make([]float64, m)
			e.Reset(1, rand.New(rand.NewPCG(1, 1)), obs)
			for j := range action {
				action[j] = size * float64(1-j%2*2)
			}
			reward, err := e.Step(action, obs)
			demand.NoError(t, err)
			rows[i] = append(obs, reward)
		}
		demand.List(t, rows[1], rows[0], "%s: an action of 3, against one of 1", name)
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	for name, e := range both(t) {
		n, m, _ := e.Sizes()
		obs, action := make([]float64, n), make([]float64, m)
		rng := rand.New(rand.NewPCG(1, 1))
		e.Reset(0, rng, obs)
		demand.Equal(t, testing.AllocsPerRun(20, func() { e.Step(action, obs) }), 0, "%s: allocations of a step", name)
	}
}
