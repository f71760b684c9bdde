package sac

import (
	"fmt"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
)

// Mode says how an action is chosen.
type Mode int

const (
	// Sample draws from the policy.
	Sample Mode = iota
	// Mean takes tanh of the policy's mean, for evaluation.
	Mean
	// Uniform draws from [-1, 1], for the burn-in.
	Uniform
)

// Rollout acts with an agent's networks in one environment per seed and, with a context,
// holds the latest steps of the current episodes. The agent has its own for training;
// evaluation episodes run in another one, so that they do not change the training.
type Rollout struct {
	agent *Agent
	name  string
	acts  int           // calls of Act so far
	steps [][][]float32 // the last History steps of each seed's current episode
}

// NewRollout starts episodes; their random numbers depend on the seed and the name.
func (a *Agent) NewRollout(name string) *Rollout {
	return &Rollout{agent: a, name: name, steps: make([][][]float32, len(a.seeds))}
}

// Act returns an action for the current observation of each seed's environment.
// observations: [seeds][Observations], result: [seeds][Actions], in [-1, 1]. Other sizes are an error.
func (r *Rollout) Act(observations [][]float64, mode Mode) ([][]float64, error) {
	c, n := r.agent.cfg, len(r.agent.seeds)
	flat := make([]float32, 0, n*c.Observations)
	if err := r.agent.check("observations", len(observations)); err != nil {
		return nil, err
	}
	for i, o := range observations {
		if len(o) != c.Observations {
			return nil, fmt.Errorf("sac: observation %d has %d values, not %d", i, len(o), c.Observations)
		}
		flat = rounded(flat, o)
	}
	noise := r.noise(mode)
	if mode == Uniform {
		return c.actions(noise), nil
	}
	inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(flat, n, 1, c.Observations),
		tensors.FromFlatDataAndDimensions(noise, n, 1, c.Actions)}
	if c.Context != nil {
		inputs = append(inputs, r.history())
	}
	defer net.Free(inputs...)
	out, err := net.RunValues(r.agent.programs.acting, inputs, r.agent.state[:len(r.agent.programs.actor)])
	if err != nil {
		return nil, fmt.Errorf("sac: %w", err)
	}
	return c.actions(out[0]), nil
}

// actions splits the actions of all seeds.
func (c Config) actions(flat []float32) (out [][]float64) {
	for action := range slices.Chunk(flat, c.Actions) {
		wide := make([]float64, c.Actions)
		for j, v := range action {
			wide[j] = float64(v)
		}
		out = append(out, wide)
	}
	return out
}

// noise draws what the mode needs for the next action: normal numbers, zeros, or the
// actions themselves. Result: [seeds, actions].
func (r *Rollout) noise(mode Mode) []float32 {
	c := r.agent.cfg
	out := make([]float32, len(r.agent.seeds)*c.Actions)
	if mode == Mean {
		return out
	}
	r.acts++
	for i, seed := range r.agent.seeds {
		rng := random.New(seed, "sac", "act", r.name, r.acts)
		for j := range c.Actions {
			if mode == Uniform {
				out[i*c.Actions+j] = 2*rng.Float32() - 1
			} else {
				out[i*c.Actions+j] = float32(rng.NormFloat64())
			}
		}
	}
	return out
}

// Remember appends one transition of each seed to the history that Act sees. Last or
// Terminal empties it.
func (r *Rollout) Remember(transitions []Transition) {
	context := r.agent.cfg.Context
	if context == nil {
		return
	}
	for i, t := range transitions {
		if t.Last || t.Terminal {
			r.steps[i] = nil
			continue
		}
		r.steps[i] = append(r.steps[i], r.agent.cfg.step(t))
		r.steps[i] = r.steps[i][max(0, len(r.steps[i])-context.History):]
	}
}

// history is the context's window, [seeds, history, 1, stepWidth], zero before the start of
// the episode.
func (r *Rollout) history() *tensors.Tensor {
	n, h, w := len(r.steps), r.agent.cfg.Context.History, r.agent.cfg.stepWidth()
	flat := make([]float32, n*h*w)
	for i, steps := range r.steps {
		for k, step := range steps {
			copy(flat[(i*h+h-len(steps)+k)*w:], step)
		}
	}
	return tensors.FromFlatDataAndDimensions(flat, n, h, 1, w)
}
