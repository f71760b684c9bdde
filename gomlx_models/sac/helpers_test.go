package sac

import (
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// agentOf is the configuration of the paper's table, without context and omega.
func agentOf(observations, actions int) Config {
	return Config{Observations: observations, Actions: actions, Hidden: 256, Layers: 2, Batch: 256, Gamma: .99, Tau: .005,
		Capacity: 1e6, BurnIn: 1e4, ActorRate: 3e-4, CriticRate: 3e-4, Alpha: .2, AlphaRate: 3e-4}
}

// tiny is a configuration that the loops of reference_test.go can compute.
func tiny(change ...func(*Config)) Config {
	c := agentOf(3, 2)
	c.Hidden, c.Batch, c.Capacity = 4, 5, 1000
	c.ActorRate, c.CriticRate, c.AlphaRate, c.Gamma, c.Tau = 1e-3, 2e-3, 3e-3, .9, .05
	for _, f := range change {
		f(&c)
	}
	return c
}

func tinyContext(c *Config) { c.Context = &Context{Hidden: 3, History: 4} }
func tinyOmega(c *Config) {
	c.Omega = &Omega{Method: propensity.Method2, Hidden: 5, Layers: 4, Rate: .05, Updates: 6, Batch: 16, Every: 1,
		Clip: propensity.ClipOne, Time: propensity.TimeFourier, Waves: 2}
}
func learnAlpha(c *Config) { c.LearnAlpha = true }

func open(tb testing.TB, engine string, cfg Config, seeds ...int64) *Agent {
	tb.Helper()
	a, err := New(backend.ForTest(tb, engine).Backend, cfg, seeds)
	demand.NoError(tb, err)
	tb.Cleanup(a.Close)
	return a
}

// evaluate runs a graph function once and returns the flat values of its results.
func evaluate(tb testing.TB, fn func(in []*Node) []*Node, args ...any) [][]float32 {
	tb.Helper()
	exec, err := NewExec(backend.ForTest(tb, "").Backend, fn)
	demand.NoError(tb, err)
	defer exec.Finalize()
	out, err := net.RunValues(exec, args...)
	demand.NoError(tb, err)
	return out
}

func flat(tb testing.TB, ts []*tensors.Tensor) [][]float32 {
	tb.Helper()
	v, err := net.FromTensors(ts)
	demand.NoError(tb, err)
	return v
}

// same checks for equal values.
func same[T comparable](tb testing.TB, what string, a, b [][]T) {
	tb.Helper()
	if len(a) != len(b) {
		tb.Fatalf("%s: %d arrays, not %d", what, len(a), len(b))
	}
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			tb.Fatalf("%s: array %d differs", what, i)
		}
	}
}

// bindBias binds an actor of zeros, with the given bias in the last layer.
func bindBias(a *Agent, g *Graph, bias float32) *net.Scope {
	var values []*Node
	for _, p := range a.programs.actor {
		v := Zeros(g, shapeOf(p.Dims...))
		if p.Name == "policy/out/biases" {
			v = AddScalar(v, float64(bias))
		}
		values = append(values, v)
	}
	return net.Bind(g, a.programs.actor, values, false)
}

// fill observes random transitions.
func fill(tb testing.TB, a *Agent, transitions, length int) {
	tb.Helper()
	from := a.Observed()
	for k := from; k < from+transitions; k++ {
		demand.NoError(tb, a.Observe(randomTransitions(a, k, length)))
	}
}

// randomTransitions is transition number k of each seed, in episodes of the given length.
func randomTransitions(a *Agent, k, length int) []Transition {
	return randomStep(a, k, Transition{Episode: k / length, Last: k%length == length-1})
}

// randomStep is transition number k of each seed, in the place of the given one. The observation in which an episode
// ends is not that in which the next one begins.
func randomStep(a *Agent, k int, place Transition) []Transition {
	var ts []Transition
	for _, seed := range a.seeds {
		values := func(n int, what string, k int) []float64 {
			rng, v := random.New(seed, "sac test", what, k), make([]float64, n)
			for i := range v {
				v[i] = float64(float32(rng.NormFloat64()))
			}
			return v
		}
		t, n := place, a.cfg.Observations
		t.Observation, t.Next = values(n, "observation", k), values(n, "observation", k+1)
		t.Action, t.Reward = values(a.cfg.Actions, "action", k), values(1, "reward", k)[0]
		if t.Last || t.Terminal {
			t.Next = values(n, "end", k)
		}
		ts = append(ts, t)
	}
	return ts
}

func update(tb testing.TB, a *Agent) *Metrics {
	tb.Helper()
	m, err := a.Update()
	demand.NoError(tb, err)
	return m
}
