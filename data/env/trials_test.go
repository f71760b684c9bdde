package env

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tvps/ci/demand"
)

// rollout runs the present episode from obs and returns all observations and rewards.
func rollout(t testing.TB, e Env, obs []float64, policy func(step int, obs, action []float64)) (rows []float64, sum float64) {
	t.Helper()
	_, m, horizon := e.Sizes()
	action := make([]float64, m)
	rows = slices.Clone(obs)
	for step := range horizon {
		policy(step, obs, action)
		reward, err := e.Step(action, obs)
		demand.NoError(t, err)
		rows, sum = append(append(rows, obs...), reward), sum+reward
	}
	return rows, sum
}

// meanOfTrials returns the mean return of a policy over all trials.
func meanOfTrials(t testing.TB, e Env, policy func(step int, obs, action []float64)) float64 {
	t.Helper()
	n, _, _ := e.Sizes()
	obs, sum := make([]float64, n), 0.
	trials := e.Trials()
	for k := range trials {
		demand.NoError(t, e.ResetTrial(k, obs))
		_, total := rollout(t, e, obs, policy)
		sum += total / float64(len(trials))
	}
	return sum
}

// Every valve in use has two trials, by number, whatever the order of training: the first is a training episode of the
// valve, the second differs from it in the joints only.
func TestClawTrials(t *testing.T) {
	want := []int{2, 7}
	var first [][]float64
	for seed := range int64(2) {
		c := newClaw(t, ClawOptions{Tasks: []int{7, 2}, Seed: seed, Repeat: 1})
		trials := c.Trials()
		if len(trials) != 2*len(want) {
			t.Fatalf("%d trials of the valves %v", len(trials), want)
		}
		for k, trial := range trials {
			valve, obs := want[k/2], make([]float64, clawObs)
			demand.NoError(t, c.ResetTrial(k, obs))
			name := fmt.Sprint("valve-", valve)
			if trial != name || c.now != c.sims[valve] {
				t.Errorf("trial %d is %s, or not with its valve, want %s", k, trial, name)
			}
			checkStart(t, trial, obs, k%2 == 1)
			if seed == 0 {
				first = append(first, slices.Clone(obs))
			} else if !slices.Equal(obs, first[k]) {
				t.Errorf("%s begins differently with another seed", trial)
			}
		}
	}
}

// checkStart checks the first observation of a trial of the claw: a disturbed one has other angles within the limit,
// all else is as in training.
func checkStart(t *testing.T, trial string, obs []float64, disturbed bool) {
	t.Helper()
	most := 0.
	for i := range clawJoints {
		most = max(most, math.Abs(obs[i]-clawStart[i]))
	}
	if most > .1 || (most > .02) != disturbed || (most == 0) == disturbed {
		t.Errorf("%s: the joints are disturbed by %v rad", trial, most)
	}
	rest := append(make([]float64, clawJoints), 1, 0, -math.Pi)
	demand.List(t, obs[clawJoints:], rest, "%s: the rest of the first observation", trial)
}

// A trial has the observations and rewards of a training episode of its task from the same start.
func TestTrialIsTrainingEpisode(t *testing.T) {
	act := func(step int, _, action []float64) { wave(step/3, action) }
	claw := newClaw(t, ClawOptions{Tasks: []int{3, 6}, Repeat: 1})
	obs := make([]float64, clawObs)
	for episode := range 2 {
		claw.Reset(episode, nil, obs)
		trained, _ := rollout(t, claw, obs, act)
		trial := map[int]int{3: 0, 6: 2}[claw.valveOf(episode)]
		claw.ResetTrial(trial, obs)
		if got, _ := rollout(t, claw, obs, act); !slices.Equal(got, trained) {
			t.Errorf("valve %d: the trial is not the training episode", claw.valveOf(episode))
		}
		claw.ResetTrial(trial+1, obs)
		if got, _ := rollout(t, claw, obs, act); slices.Equal(got, trained) {
			t.Errorf("valve %d: the second trial is a copy", claw.valveOf(episode))
		}
	}
}

// The mean over the trials is that over the phases of wind and target, for polynomials of wind and target up to degree
// seven in each, and training comes near every trial.
func TestCheetahTrials(t *testing.T) {
	c := newCheetah(t, CheetahOptions{})
	trials := c.Trials()
	const steps = 64
	for i := range 8 {
		for j := range 8 {
			got, want := 0., 0.
			for k := range trials {
				wind, target := gridConditions(k)
				got += math.Pow(wind/10, float64(i)) * math.Pow(target/1.5-1, float64(j)) / float64(len(trials))
			}
			for a := range steps {
				for b := range steps {
					x, y := math.Sin(2*math.Pi*float64(a)/steps), math.Sin(2*math.Pi*float64(b)/steps)
					want += math.Pow(x, float64(i)) * math.Pow(y, float64(j)) / steps / steps
				}
			}
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("the mean of wind^%d target^%d is %v, want %v", i, j, got, want)
			}
		}
	}
	for k, trial := range trials {
		wind, target := gridConditions(k)
		nearest := math.Inf(1)
		for episode := range 126 {
			w, v := c.conditions(episode)
			nearest = min(nearest, math.Hypot((w-wind)/10, (v-target)/1.5))
		}
		if nearest > .2 {
			t.Errorf("no episode is near %s: distance %v of 1", trial, nearest)
		}
	}
	first, second := make([]float64, cheetahObs), make([]float64, cheetahObs)
	demand.NoError(t, c.ResetTrial(3, first))
	wind, target := gridConditions(3)
	if c.wind != wind || c.target != target {
		t.Errorf("the trial has wind %v and target %v", c.wind, c.target)
	}
	plain := newCheetah(t, CheetahOptions{Plain: true})
	demand.List(t, plain.Trials(), []string{"run", "run"}, "trials of the plain task")
	plain.ResetTrial(0, first)
	plain.ResetTrial(1, second)
	if slices.Equal(first, second) {
		t.Error("the plain task's second start is a copy")
	}
}

// Returns of policies that do not learn. In each of 40 steps a claw at rest earns -5 pi, minus what its joints are off.
func TestReferences(t *testing.T) {
	claw := newClaw(t, ClawOptions{})
	rest := func(_ int, _, action []float64) { claw.Rest(action) }
	obs, still := make([]float64, clawObs), 0.
	for valve := range Valves {
		claw.ResetTrial(2*valve, obs)
		_, sum := rollout(t, claw, obs, rest)
		still += sum / Valves
	}
	rng := rand.New(rand.NewPCG(1, 1))
	random := func(_ int, _, action []float64) {
		for i := range action {
			action[i] = 2*rng.Float64() - 1
		}
	}
	succeeded := false
	script := func(step int, obs, action []float64) {
		if near := math.Abs(obs[clawObs-1]) < .1; near != claw.Success() {
			t.Errorf("success is %v at an error of %v", claw.Success(), obs[clawObs-1])
		}
		succeeded = succeeded || claw.Success()
		claw.Script(step, obs, action)
	}
	cheetah := newCheetah(t, CheetahOptions{})
	constant, shaken := 0., 0.
	for range 10 {
		shaken += meanOfTrials(t, cheetah, random) / 10
	}
	for k := range cheetah.Trials() {
		cheetah.ResetTrial(k, make([]float64, cheetahObs))
		constant += cheetah.Constant() / 16
	}
	for what, c := range map[string]struct{ got, want, tolerance float64 }{
		"claw at rest":      {still, -628.8, .5},
		"claw, all trials":  {meanOfTrials(t, claw, rest), -628.8, 3},
		"claw, random":      {meanOfTrials(t, claw, random), -777, 40},
		"claw, script":      {meanOfTrials(t, claw, script), 114, 20},
		"cheetah at rest":   {meanOfTrials(t, cheetah, func(_ int, _, a []float64) { cheetah.Rest(a) }), -76, 3},
		"cheetah, random":   {shaken, -91, 4},
		"cheetah, constant": {constant, -50 * 1.5 * (math.Cos(math.Pi/8) + math.Sin(math.Pi/8)) / 2, 1e-9},
	} {
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("%s earns %v, want %v", what, c.got, c.want)
		}
	}
	if !succeeded {
		t.Error("the script never turns a valve to its target")
	}
}
