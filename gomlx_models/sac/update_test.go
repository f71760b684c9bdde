package sac

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
)

// episodes observes count transitions in episodes of changing lengths, some of which end
// in a terminal state, and returns them for each seed.
func episodes(tb testing.TB, a *Agent, count int) [][]Transition {
	tb.Helper()
	all := make([][]Transition, len(a.seeds))
	number, step := 0, 0
	for k := range count {
		step++
		last := step == 3+number%5
		ts := randomStep(a, k, Transition{Episode: number, Last: last, Terminal: last && number%3 == 1})
		for i := range ts {
			all[i] = append(all[i], ts[i])
		}
		demand.NoError(tb, a.Observe(ts))
		if last {
			number, step = number+1, 0
		}
	}
	return all
}

// TestUpdateAgainstLoops compares three updates of two seeds with the float64 loops of
// reference_test.go: losses, gradients (by Adam's moments), parameters, target and alpha.
// The replay has wrapped around, so that some histories are truncated.
func TestUpdateAgainstLoops(t *testing.T) {
	for _, v := range []struct {
		name    string
		backend string
		change  []func(*Config)
	}{
		{"sac", backend.Go, nil},
		{"learned alpha", backend.Go, []func(*Config){learnAlpha}},
		{"context", backend.Go, []func(*Config){tinyContext}},
		{"omega", backend.Go, []func(*Config){tinyOmega}},
		{"omega, scalar time, no clip", backend.Go, []func(*Config){tinyOmega, func(c *Config) {
			c.Omega.Time, c.Omega.Clip, c.Omega.Method = propensity.TimeScalar, propensity.ClipNone, propensity.Method1
		}}},
		{"all of it on XLA", "", []func(*Config){tinyContext, learnAlpha, tinyOmega, func(c *Config) {
			c.Omega.Time, c.Context.History = propensity.TimePeriods, 2
		}}},
	} {
		t.Run(v.name, func(t *testing.T) {
			cfg := tiny(v.change...)
			cfg.Capacity = 21
			a := open(t, v.backend, cfg, 7, 8)
			shake(t, a)
			all := episodes(t, a, 40)
			if cfg.Omega != nil {
				demand.NoError(t, a.fitOmega())
			}
			moved := 0.
			for range 3 {
				moved = max(moved, compareUpdate(t, a, all))
			}
			if cfg.Omega != nil && moved < .02 {
				t.Errorf("omega differs from 1 by %v at most: nothing was compared", moved)
			}
		})
	}
}

// shake moves all parameters, targets too. At the start the target is the critic, and biases
// are 0, so that the input of a ReLU may be exactly 0, where its gradient is not defined.
func shake(tb testing.TB, a *Agent) {
	tb.Helper()
	rng := random.New(0, "shake")
	for i, v := range flat(tb, a.state)[:len(a.programs.actor)+2*len(a.programs.critic)+len(a.programs.alpha)] {
		for j := range v {
			v[j] += .1 * float32(rng.NormFloat64())
		}
		old := a.state[i]
		a.state[i] = tensors.FromFlatDataAndDimensions(v, old.Shape().Dimensions...)
		net.Free(old)
	}
}

// compareUpdate makes one update, by the agent and in loops, and returns the largest distance
// of a weight of the minibatch from 1.
func compareUpdate(t *testing.T, a *Agent, all [][]Transition) (moved float64) {
	t.Helper()
	inputs, at := a.draw()
	normal := flatOf(t, inputs[1])
	net.Free(inputs...)
	step := a.updates
	var want []refVariables
	var losses [][2]float64
	for k := range a.seeds {
		omega := slices.Repeat([]float64{1}, a.cfg.Batch)
		if a.cfg.Omega != nil {
			var drawn []Transition
			for _, i := range at[k] {
				drawn = append(drawn, all[k][i])
			}
			omega = refOmega(t, a, k, drawn)
		}
		for _, w := range omega {
			moved = max(moved, math.Abs(w-1))
		}
		v := snapshot(t, a, k)
		critic, actor := v.update(a.cfg, refMinibatch(a.cfg, all[k], at[k], normal, k, len(a.seeds), omega), step)
		want, losses = append(want, v), append(losses, [2]float64{critic, actor})
	}
	m := update(t, a)
	for k := range a.seeds {
		demand.Floats(t, "losses", []float32{m.CriticLoss[k], m.ActorLoss[k]}, losses[k][:], 1e-4)
		got := snapshot(t, a, k)
		for part, n := range got.networks() {
			for _, name := range n.names {
				demand.Floats(t, fmt.Sprintf("update %d, seed %d, %s %s", step, k, part, name),
					rounded(nil, n.values[name]), want[k].networks()[part].values[name], 1e-5)
			}
		}
	}
	return moved
}
