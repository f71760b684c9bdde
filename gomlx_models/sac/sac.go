// Package sac is Soft Actor-Critic (Haarnoja et al. 2018) for the paper's experiments in
// reinforcement learning (Section 3.2, Figures 2, 10 and 11): optionally with a recurrent
// context (Fakoor et al. 2020), and with the critic's loss weighted by the time-varying
// propensity score omega (Eq. 16).
//
// An Agent trains batched seeds: several seeds in one compiled program. Every array of
// parameters has a leading axis [seeds], and each seed has its own replay and random
// numbers, so that it learns what it would learn alone, except for rounding: XLA may round
// differently for another number of seeds. The caller owns the environments:
//
//	agent, err := sac.New(backend, config, []int64{0, 1, 2})
//	for {
//		actions, err := agent.Act(observations, sac.Sample)
//		... step the environments ...
//		err = agent.Observe(transitions)
//		metrics, err := agent.Update()
//	}
//
// The replay lies in the host's memory, which grows as it fills, and has each observation once:
// 96 MB per seed for a million transitions of Half-Cheetah. An update sends its minibatch.
//
// update.go holds the algorithm in reading order, omega.go when and on what g is fitted (g
// itself is in package propensity), and replay.go the replay.
package sac

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
)

// Agent is Soft Actor-Critic for batched seeds. It is not safe for concurrent use.
type Agent struct {
	cfg      Config
	seeds    []int64
	programs *programs
	replay   []*replay // of each seed
	rollout  *Rollout  // in which it trains

	state    []*tensors.Tensor // variables, in the order of variables.list
	g        []*tensors.Tensor // parameters and moments of g
	lastFit  []omegaFit        // of each seed
	fresh    [][]freshLoss     // of each seed, at every fit for a new episode
	updates  int               // updates of the critic so far
	gUpdates int               // updates of g so far
	closed   bool
}

// New makes an agent for each of the seeds; each starts and learns as it would alone.
// Errors: an impossible setting, no seeds, a shape that GoMLX refuses.
// Close it when it is no longer needed.
func New(backend compute.Backend, cfg Config, seeds []int64) (*Agent, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if len(seeds) == 0 {
		return nil, errors.New("sac: there are no seeds; give one or more")
	}
	cfg, seeds = cfg.canonical(), slices.Clone(seeds)
	p, err := newPrograms(backend, cfg, len(seeds))
	if err != nil {
		return nil, err
	}
	a := &Agent{cfg: cfg, seeds: seeds, programs: p, fresh: make([][]freshLoss, len(seeds))}
	for range seeds {
		r := newReplay(cfg)
		a.replay = append(a.replay, r)
		mean, scale := r.Moments.standard()
		a.lastFit = append(a.lastFit, omegaFit{Episode: -1, Mean: mean, Scale: scale})
	}
	a.rollout = a.NewRollout("train")
	a.start()
	return a, nil
}

// start draws the initial networks. The target network is a copy of the critic.
func (a *Agent) start() {
	p := a.programs
	draw := func(params []net.Param, name string) []*tensors.Tensor {
		return net.InitSeeds(params, a.seeds, "sac", name).Tensors(params)
	}
	a.state = slices.Concat(draw(p.actor, "actor"), draw(p.critic, "critic"), draw(p.alpha, "alpha"),
		draw(p.critic, "critic"))
	for range 2 { // first and second moments
		for _, params := range [][]net.Param{p.actor, p.critic, p.alpha} {
			a.state = append(a.state, zeros(params)...)
		}
	}
	trained := loop.Pick(p.g, loop.Trainable(p.g))
	a.g = append(append(draw(p.g, "omega"), zeros(trained)...), zeros(trained)...)
}

// zeros are arrays of the parameters' shapes.
func zeros(params []net.Param) []*tensors.Tensor {
	out := make([]*tensors.Tensor, len(params))
	for i, q := range params {
		out[i] = tensors.FromShape(shapeOf(q.Dims...))
	}
	return out
}

// Close frees the compiled programs and the arrays.
func (a *Agent) Close() {
	a.closed = true
	net.Free(a.state...)
	net.Free(a.g...)
	a.programs.close()
}

// Observed is the number of transitions of each seed so far.
func (a *Agent) Observed() int { return a.replay[0].Total }

// Act returns an action for the current observation of each seed's environment.
// observations: [seeds][Observations], result: [seeds][Actions], in [-1, 1]. Other sizes are an error.
func (a *Agent) Act(observations [][]float64, mode Mode) ([][]float64, error) {
	return a.rollout.Act(observations, mode)
}

// Observe puts one transition of each seed into the replay, and into the history that Act sees. Within an episode the
// observation is the Next of the transition before. Errors, which change nothing: another number of transitions or of
// their values, and an Episode that does not increase after a last transition and only then.
func (a *Agent) Observe(transitions []Transition) error {
	if err := a.check("transitions", len(transitions)); err != nil {
		return err
	}
	for i, t := range transitions {
		if err := a.replay[i].check(t); err != nil {
			return fmt.Errorf("sac: transition %d: %w", i, err)
		}
	}
	for i, t := range transitions {
		a.replay[i].add(t)
	}
	a.rollout.Remember(transitions)
	return nil
}

var errClosed = errors.New("sac: used after Close")

// check returns an error for a closed agent, and for another number of things than one of each seed.
func (a *Agent) check(things string, n int) error {
	switch {
	case a.closed:
		return errClosed
	case n != len(a.seeds):
		return fmt.Errorf("sac: %d %s for %d seeds; each needs one", n, things, len(a.seeds))
	}
	return nil
}

// Update makes one update of all networks from a minibatch of each seed's replay. If a fit of
// omega is due, it comes first. Errors: no transitions so far, a loss that is not finite, and those of the backend.
func (a *Agent) Update() (*Metrics, error) {
	if a.closed {
		return nil, errClosed
	}
	if a.Observed() == 0 {
		return nil, errors.New("sac: there are no transitions to learn from; call Observe first")
	}
	if a.omegaDue() {
		if err := a.fitOmega(); err != nil {
			return nil, err
		}
	}
	drawn, at := a.draw()
	defer net.Free(drawn...)
	omega, err := a.weights(at)
	if err != nil {
		return nil, err
	}
	defer net.Free(omega)
	out, err := net.Run(a.programs.updating, int32(a.updates), drawn, omega, a.state)
	if err != nil {
		return nil, fmt.Errorf("sac: %w", err)
	}
	net.Free(a.state...)
	a.state = out[1:]
	a.updates++
	values, err := a.losses(out[0], "the update", "lower the learning rates or scale the rewards")
	if err != nil {
		return nil, err
	}
	row := slices.Collect(slices.Chunk(values, len(a.seeds)))
	return &Metrics{CriticLoss: row[0], ActorLoss: row[1], Q: row[2], Entropy: row[3], Alpha: row[4], Omega: row[5]}, nil
}

// draw draws the minibatch of the next update; the random numbers depend on the seed and the
// number of the update alone. Results: replay.samples [seeds, batch, ...], in one array, since XLA
// rounds a single agent differently if its parts are inputs of their own, noise [2, seeds, batch,
// actions], with context the windows [seeds, history+1, batch, step], and the transitions' numbers.
func (a *Agent) draw() (drawn []*tensors.Tensor, at [][]int) {
	c, n := a.cfg, len(a.seeds)
	half := c.Batch * c.Actions
	noise := make([]float32, 2*n*half)
	var samples, windows []float32
	for i, r := range a.replay {
		rng := random.New(a.seeds[i], "sac", "update", a.updates)
		at = append(at, r.uniform(rng, c.Batch, c.Recent))
		for _, from := range []int{i * half, (n + i) * half} {
			for j := range half {
				noise[from+j] = float32(rng.NormFloat64())
			}
		}
		samples = r.samples(samples, at[i])
		if c.Context != nil {
			windows = r.windows(windows, at[i], c.Context.History)
		}
	}
	drawn = []*tensors.Tensor{tensors.FromFlatDataAndDimensions(samples, n, c.Batch, c.stepWidth()+c.Observations+1),
		tensors.FromFlatDataAndDimensions(noise, 2, n, c.Batch, c.Actions)}
	if c.Context != nil {
		drawn = append(drawn,
			tensors.FromFlatDataAndDimensions(windows, n, c.Context.History+1, c.Batch, c.stepWidth()))
	}
	return drawn, at
}

// steps are the steps of transitions of each seed, [seeds, batch, step].
func (a *Agent) steps(at [][]int) *tensors.Tensor {
	var flat []float32
	for i, r := range a.replay {
		flat = r.steps(flat, at[i])
	}
	return tensors.FromFlatDataAndDimensions(flat, len(at), len(at[0]), a.cfg.stepWidth())
}

// losses are the values of a program's first result, [..., seeds], which it frees. It returns an error for the first
// one that is not finite.
func (a *Agent) losses(t *tensors.Tensor, what, advice string) ([]float32, error) {
	defer net.Free(t)
	values, err := tensors.CopyFlatData[float32](t)
	for i, v := range values {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("sac: %s of seed %d became %v after %d updates; %s",
				what, a.seeds[i%len(a.seeds)], v, a.updates, advice)
		}
	}
	return values, err
}
