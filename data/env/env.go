// Package env has the robots of the paper's Figures 2, 10 and 11 (Section 3.2): a
// Half-Cheetah in a changing wind and a three-fingered D'Claw that turns ten valves, both
// in MuJoCo. Their tasks change from episode to episode and are not told to the agent.
//
// The robots' models are the official ones, fetched from the pinned wheels of gymnasium
// and robel; wind, valves, rewards and tasks are this package's.
package env

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"tvps/data/env/mujoco"
)

// Env is a robot whose task changes from episode to episode. It is not for concurrent
// use; several may run at once, each on its own goroutine.
type Env interface {
	// Sizes returns the lengths of an observation and of an action, and the number of
	// steps of an episode.
	Sizes() (observation, action, horizon int)

	// Reset begins an episode. Its task follows from its number (from 0), its noise from
	// rng. It fills obs. What happened before leaves no trace.
	Reset(episode int, rng *rand.Rand, obs []float64) error

	// Step applies an action, cut to [-1, 1], and fills obs with what is seen after it. An
	// action that is not a number or a simulation that breaks is an error; then only Reset
	// may follow. It allocates nothing.
	Step(action, obs []float64) (reward float64, err error)

	// Task says in words what an episode is about.
	Task(episode int) string

	// Close frees the simulation.
	Close()
}

// Options adjusts where the models come from. The zero value is silent and uses the
// user's cache folder, the network where something is missing there.
type Options struct {
	Log      io.Writer // progress of downloads; nil for none
	CacheDir string    // "" for artifact.CacheDir
	NoFetch  bool      // never download: what is missing is an error
}

func (o Options) library(ctx context.Context) (*mujoco.Library, error) {
	return mujoco.Open(ctx, mujoco.Options{Log: o.Log, CacheDir: o.CacheDir, NoFetch: o.NoFetch})
}

// clip copies an action into to, cut to [-1, 1].
func clip(to, action []float64) error {
	if len(action) != len(to) {
		return fmt.Errorf("the action has %d numbers instead of %d", len(action), len(to))
	}
	for i, a := range action {
		if a != a {
			return fmt.Errorf("number %d of the action is NaN", i)
		}
		to[i] = min(max(a, -1), 1)
	}
	return nil
}

// checkObs refuses an observation of another length.
func checkObs(obs []float64, want int) error {
	if len(obs) != want {
		return fmt.Errorf("there is room for %d numbers of an observation instead of %d", len(obs), want)
	}
	return nil
}
