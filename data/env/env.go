// Package env simulates the robots of the paper's Figures 2, 10 and 11 (Section 3.2) in
// MuJoCo: a Half-Cheetah in a changing wind, and a three-fingered D'Claw that turns ten
// valves. The task changes from episode to episode and is not part of the observation.
//
// The robots' models are the official ones, fetched from pinned wheels of gymnasium and
// robel. Wind, valves, rewards and task sequences are implemented here.
package env

import (
	"fmt"
	"math/rand/v2"
)

// Env is a robot whose task changes from episode to episode. It is not safe for concurrent
// use, but several may run in parallel, each on its own goroutine.
type Env interface {
	// Sizes returns the lengths of an observation and of an action, and the number of steps
	// per episode.
	Sizes() (observation, action, horizon int)

	// Reset begins an episode and writes its first observation to obs. The task depends on
	// the number of the episode (from 0), the noise on rng, and nothing on earlier episodes.
	Reset(episode int, rng *rand.Rand, obs []float64) error

	// Step applies an action, clipped to [-1, 1], and writes the next observation to obs. It
	// fails if the action has a NaN or the wrong length, or the simulation diverges; then the next call must be
	// Reset. It allocates no memory.
	Step(action, obs []float64) (reward float64, err error)

	// Trials lists the trials, which are the episodes of an evaluation: the name of each one's task, such as "valve-3",
	// which is part of a metric's name. Each task has its fixed starts, which follow each other. Trials are the same for
	// every seed and learner.
	Trials() (tasks []string)

	// ResetTrial begins a trial, with the observations and rewards of a training episode of its task. Its start depends
	// on nothing else.
	ResetTrial(trial int, obs []float64) error

	// Rest writes the action with which the robot does nothing.
	Rest(action []float64)

	// Close frees the simulation.
	Close()
}

// clip copies an action to to, clipped to [-1, 1].
func clip(to, action []float64) error {
	if len(action) != len(to) {
		return fmt.Errorf("an action of %d values; it must have %d", len(action), len(to))
	}
	for i, a := range action {
		if a != a {
			return fmt.Errorf("value %d of the action is NaN", i)
		}
		to[i] = min(max(a, -1), 1)
	}
	return nil
}
