package sac

import (
	"cmp"
	"fmt"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// g is the score g(s, a, t) of package propensity under these settings: x is (action,
// observation), standardised, and the time is the number of the episode. Seeds are batched.
func (o Omega) g() propensity.Config {
	return propensity.Config{Method: o.Method, Network: cmp.Or(o.Network, propensity.Deep), Hidden: o.Hidden, Layers: o.Layers,
		Time: o.Time, Frequencies: o.Waves, Clip: o.Clip}
}

// declareG lists g's parameters.
func (p *programs) declareG(backend compute.Backend) ([]net.Param, error) {
	g := p.cfg.Omega.g()
	width := p.cfg.Actions + p.cfg.Observations
	inputs := []shapes.Shape{shapeOf(p.seeds, 2, width), shapeOf(p.seeds, 2), shapeOf(p.seeds, 1)}
	return net.Declare(backend, inputs, func(s *net.Scope, in []*Node) {
		g.G(s.Copies(p.seeds), propensity.Input{X: in[0]}, propensity.Continuous(in[1], in[2]))
	})
}

// fitGraph is one update of Algorithm 2, lines 8 and 9: Adam on the logistic loss of a
// minibatch of triplets.
func (p *programs) fitGraph(in []*Node) []*Node {
	step, x, t2, t1, z, last, g := in[0], p.xOf(in[1], in[2], in[7], in[8]), in[3], in[4], in[5], in[6], in[9:]
	n, trained := len(p.g), loop.Trainable(p.g)
	k := len(trained)
	values := g[:n]
	s := net.Bind(x.Graph(), p.g, values, true)
	loss := p.cfg.Omega.g().Loss(s.Copies(p.seeds), propensity.Input{X: x},
		propensity.Continuous(t2, last), propensity.Continuous(t1, last), z)
	averages := s.Updated(p.g, values)
	start := parameters{loop.Pick(values, trained), g[n : n+k], g[n+k:]}
	next := descend(loop.Pick(p.g, trained), start, loss, step, p.cfg.Omega.Rate)
	return slices.Concat([]*Node{loss}, loop.Replace(averages, trained, next.values), next.m, next.v)
}

// weighGraph is omega of a minibatch (Eq. omegaformula), [seeds, batch].
func (p *programs) weighGraph(in []*Node) []*Node {
	x, t, g := p.xOf(in[0], in[1], in[4], in[5]), propensity.Continuous(in[2], in[3]), in[6:]
	s := net.Bind(x.Graph(), p.g, g, false).Copies(p.seeds)
	return []*Node{p.cfg.Omega.g().Omega(s, propensity.Input{X: x}, t.Last(), t)}
}

// xOf is what g sees of transitions: (action, observation), standardised. array: the
// replay's, rows: [seeds, batch], mean and scale: [seeds, 1, actions+observations].
func (p *programs) xOf(array, rows, mean, scale *Node) *Node {
	c, steps := p.cfg, gather(array, rows, p.cfg.stepWidth())
	x := Concatenate([]*Node{lastAxis(steps, 0, c.Actions), lastAxis(steps, c.Actions+1, c.stepWidth())}, -1)
	return Div(Sub(x, mean), scale)
}

// FitOmega fits g to the replay by M updates (Algorithms 1 and 2), each on a minibatch of
// triplets. The present T becomes each seed's latest finished episode, or, where Every is
// 0, the one under way. It does nothing while a seed has fewer than two such episodes:
// there is no other time to tell apart. Update calls it as often as Every says.
func (a *Agent) FitOmega() error {
	o := a.cfg.Omega
	if o == nil {
		return fmt.Errorf("sac: this agent has no omega; set Config.Omega")
	}
	next := make([]present, len(a.seeds))
	for i, r := range a.replay {
		known := r.known(o.Every == 0)
		if len(known) < 2 || o.Updates == 0 {
			return nil
		}
		mean, scale := r.moments.standard()
		next[i] = present{Episode: known[len(known)-1].Number, Mean: mean, Scale: scale}
	}
	a.present = next
	for range o.Updates {
		if err := a.fitOnce(); err != nil {
			return err
		}
	}
	return nil
}

// present is what g was last fitted for: the time T, -1 before the first fit, and the scale
// of its inputs.
type present struct {
	Episode     int
	Mean, Scale []float32
}

// fitOnce makes one update of g.
func (a *Agent) fitOnce() error {
	o, n := a.cfg.Omega, len(a.seeds)
	array, err := a.store.current()
	if err != nil {
		return err
	}
	rows := make([]int32, n*o.Batch)
	t2, t1, z := make([]float32, n*o.Batch), make([]float32, n*o.Batch), make([]float32, n*o.Batch)
	for i, r := range a.replay {
		rng := random.New(a.seeds[i], "sac", "triplets", a.fits)
		at, time := r.byEpisode(rng, o.Batch, o.Every == 0)
		r.rows(at, rows[i*o.Batch:])
		known := r.known(o.Every == 0)
		for b, triplet := range propensity.GenerateData(rng, time, len(known)) {
			k := i*o.Batch + b
			t2[k], t1[k], z[k] = float32(known[triplet.T2].Number), float32(known[triplet.T1].Number), triplet.Z
		}
	}
	vector := func(v []float32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(v, n, o.Batch) }
	inputs := append([]*tensors.Tensor{tensors.FromFlatDataAndDimensions(rows, n, o.Batch), vector(t2), vector(t1), vector(z)}, a.presentTensors()...)
	defer net.Free(inputs...)
	out, err := net.Run(a.programs.fitting, int32(a.fits), array, inputs, a.g)
	if err != nil {
		return fmt.Errorf("sac: fitting omega: %w", err)
	}
	net.Free(a.g...)
	a.g = out[1:]
	a.fits++
	return a.finite(out[:1], "the logistic loss of omega", "lower Omega.Rate")
}

// presentTensors are T [seeds, 1] and the mean and scale of g's inputs [seeds, 1, width].
func (a *Agent) presentTensors() []*tensors.Tensor {
	n, width := len(a.seeds), a.cfg.Actions+a.cfg.Observations
	var now, mean, scale []float32
	for _, p := range a.present {
		now, mean, scale = append(now, float32(p.Episode)), append(mean, p.Mean...), append(scale, p.Scale...)
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(now, n, 1),
		tensors.FromFlatDataAndDimensions(mean, n, 1, width), tensors.FromFlatDataAndDimensions(scale, n, 1, width)}
}

// weights returns omega of the store's rows of a minibatch, [seeds, batch]: 1 where there is nothing to
// weigh by. It is a program of its own, so that an update with omega = 1 is the very
// program that plain SAC runs.
func (a *Agent) weights(array, rows *tensors.Tensor, at [][]int) (*tensors.Tensor, error) {
	n := len(a.seeds)
	if a.cfg.Omega == nil || a.fits == 0 {
		return tensors.FromScalarAndDimensions(float32(1), n, a.cfg.Batch), nil
	}
	var t []float32
	for i, r := range a.replay {
		t = append(t, r.episodeOf(at[i])...)
	}
	inputs := append([]*tensors.Tensor{tensors.FromFlatDataAndDimensions(t, n, a.cfg.Batch)}, a.presentTensors()...)
	defer net.Free(inputs...)
	out, err := net.Run(a.programs.weighing, array, rows, inputs, a.g[:len(a.programs.g)])
	if err != nil {
		return nil, fmt.Errorf("sac: omega: %w", err)
	}
	return out[0], nil
}

// omegaDue tells whether g is to be fitted before the coming update: at every update, or
// once every seed has finished Every episodes since the last fit.
func (a *Agent) omegaDue() bool {
	if a.cfg.Omega == nil {
		return false
	}
	for i, r := range a.replay {
		known := r.known(a.cfg.Omega.Every == 0)
		if len(known) < 2 || known[len(known)-1].Number < a.present[i].Episode+a.cfg.Omega.Every {
			return false
		}
	}
	return true
}
