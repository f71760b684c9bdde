package robots

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/env"
	"tvps/gomlx_models/backend"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// cart is a robot on a line, rewarded for standing at a place that depends on the episode's number.
type cart struct{ at, target float64 }

func (c *cart) Sizes() (observations, actions, horizon int) { return 2, 1, 5 }
func (c *cart) Close()                                      {}
func (c *cart) Rest(action []float64)                       { clear(action) }

// Trials are the three places, each from two starts.
func (c *cart) Trials() []string {
	return []string{"place0", "place0", "place1", "place1", "place2", "place2"}
}

func (c *cart) ResetTrial(trial int, obs []float64) error {
	c.target, c.at = float64(trial/2)-1, .1*float64(trial%2)
	obs[0], obs[1] = c.at, c.target
	return nil
}

func (c *cart) Reset(episode int, rng *rand.Rand, obs []float64) error {
	c.target, c.at = float64(episode%3)-1, .1*rng.NormFloat64()
	obs[0], obs[1] = c.at, c.target
	return nil
}

func (c *cart) Step(action, obs []float64) (float64, error) {
	c.at += action[0]
	obs[0], obs[1] = c.at, c.target
	return -(c.at - c.target) * (c.at - c.target), nil
}

// newEnv is the type of Scenario.New.
type newEnv = func(context.Context, Settings, int64, io.Writer) (env.Env, error)

func newCart(context.Context, Settings, int64, io.Writer) (env.Env, error) { return &cart{}, nil }

// hooked makes carts that call begin when an episode of training or a coming one begins.
func hooked(begin func(seed int64, episode int) error) newEnv {
	return func(_ context.Context, _ Settings, seed int64, _ io.Writer) (env.Env, error) {
		return &hookedCart{begin: func(episode int) error { return begin(seed, episode) }}, nil
	}
}

type hookedCart struct {
	cart
	begin func(episode int) error
}

func (c *hookedCart) Reset(episode int, rng *rand.Rand, obs []float64) error {
	if err := c.begin(episode); err != nil {
		return err
	}
	return c.cart.Reset(episode, rng, obs)
}

// declareCart makes build the environments of jobs that are planned from now on.
func declareCart(build newEnv) {
	scenarios.Entries = slices.DeleteFunc(scenarios.Entries, func(s Scenario) bool { return s.Name == "cart" })
	DeclareScenario(Scenario{Name: "cart", New: build})
}

// carts is a Host on the Go backend, which compiles nothing, with carts as environments.
func carts(t *testing.T) *experiment.Host {
	t.Helper()
	declareCart(newCart)
	return &experiment.Host{Backend: backend.ForTest(t, backend.Go)}
}

// miniature are settings that take a second.
func miniature() Settings {
	return Settings{Scenario: "cart", Horizon: 5, Repeat: 2, Valves: 10, Every: 4,
		Evaluate: EvaluateTasks, EvaluateEpisodes: 3,
		Hidden: 8, Layers: 2, Batch: 8, Gamma: .9, Tau: .05, ActorRate: 3e-3, CriticRate: 3e-3, Alpha: .1, LearnAlpha: true,
		Replay: 60, BurnIn: 10, UpdateEvery: 1,
		ContextHidden: 4, History: 3, GNetwork: "deep", GHidden: 4, GLayers: 4, GRate: 1e-2, GUpdates: 2, GBatch: 16, GEvery: 1,
		Method: "method2", GTime: "fourier", Waves: 2, Clip: "min1",
		Episodes: 16}
}

// agents lists the learners that train.
func agents() []string {
	return slices.DeleteFunc(Learners(), func(name string) bool {
		l, _ := learners.Of(name)
		return l.Reference != nil
	})
}

// jobs plans the runs of a learner.
func jobs(t *testing.T, h *experiment.Host, s Settings, series string, seeds ...int64) []runs.Job {
	t.Helper()
	wanted, err := s.Jobs(h, []string{series}, seeds, MeasureReturn)
	demand.NoError(t, err)
	var out []runs.Job
	for _, w := range wanted {
		out = append(out, w.Job)
	}
	return out
}

// run computes the runs of a learner and returns their rows by seed.
func run(
	t *testing.T, h *experiment.Host, store *runs.Store, s Settings, series string, seeds ...int64,
) map[int64][]runs.Row {
	t.Helper()
	report, err := runs.Execute(t.Context(), store, jobs(t, h, s, series, seeds...), runs.Options{Workers: 2})
	demand.NoError(t, cmp.Or(err, report.Err()))
	out := map[int64][]runs.Row{}
	for _, r := range report.Results {
		out[r.Spec.Seed] = r.Rows
	}
	return out
}

func open(t *testing.T) *runs.Store { return openIn(t, t.TempDir()) }

func openIn(t *testing.T, dir string) *runs.Store {
	t.Helper()
	store, err := runs.Open(dir)
	demand.NoError(t, err)
	return store
}
