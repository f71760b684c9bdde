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
	return propensity.Config{Method: o.Method, Network: cmp.Or(o.Network, propensity.Deep),
		Hidden: o.Hidden, Layers: o.Layers, Time: o.Time, Frequencies: o.Waves, Clip: o.Clip}
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

// fitted is what a fit of g depends on besides the parameters, in the graph (omegaFit).
type fitted struct{ last, mean, scale *Node }

// fittedOf reads the tensors of lastFitTensors.
func fittedOf(in []*Node) fitted { return fitted{in[0], in[1], in[2]} }

// fitTensors is how many tensors lastFitTensors returns.
const fitTensors = 3

// times are numbers of episodes, [seeds, batch].
func (f fitted) times(t *Node) propensity.Times {
	return propensity.Continuous(t, f.last)
}

// fitGraph is one update of Algorithm 2, lines 8 and 9: Adam on the logistic loss of a
// minibatch of triplets.
func (p *programs) fitGraph(in []*Node) []*Node {
	step, steps, t2, t1, z := in[0], in[1], in[2], in[3], in[4]
	fit, g := fittedOf(in[5:]), in[5+fitTensors:]
	x := p.xOf(steps, fit)
	n, trained := len(p.g), loop.Trainable(p.g)
	k := len(trained)
	values := g[:n]
	s := net.Bind(x.Graph(), p.g, values, true)
	loss := p.cfg.Omega.g().Loss(s.Copies(p.seeds), propensity.Input{X: x},
		fit.times(t2), fit.times(t1), z)
	averages := s.Updated(p.g, values)
	start := parameters{loop.Pick(values, trained), g[n : n+k], g[n+k:]}
	next := descend(s, start, loss, step, p.cfg.Omega.Rate)
	return slices.Concat([]*Node{loss}, loop.Replace(averages, trained, next.values), next.m, next.v)
}

// weighGraph is omega of a minibatch (Eq. 9), [seeds, batch].
func (p *programs) weighGraph(in []*Node) []*Node {
	return []*Node{p.cfg.Omega.Clip.Node(p.logOmega(in))}
}

// logOmega is log omega of transitions without a clip, [seeds, batch].
func (p *programs) logOmega(in []*Node) *Node {
	steps, t, fit, g := in[0], in[1], fittedOf(in[2:]), in[2+fitTensors:]
	s := net.Bind(steps.Graph(), p.g, g, false).Copies(p.seeds)
	times := fit.times(t)
	return p.cfg.Omega.g().LogOmega(s, propensity.Input{X: p.xOf(steps, fit)}, times.Last(), times)
}

// xOf is what g sees of transitions: (action, observation), standardised.
func (p *programs) xOf(steps *Node, fit fitted) *Node {
	c := p.cfg
	x := Concatenate([]*Node{lastAxis(steps, 0, c.Actions), lastAxis(steps, c.Actions+1, c.stepWidth())}, -1)
	return Div(Sub(x, fit.mean), fit.scale)
}

// fitOmega fits g to the replay by M updates (Algorithm 2), each on a minibatch of triplets
// (Algorithm 1). T becomes each seed's last finished episode, or its current one if Every is
// 0. Update calls it when omegaDue says so. Before the updates it records g's
// loss on the new episodes (RecordOmega).
func (a *Agent) fitOmega() error {
	o := a.cfg.Omega
	next := make([]omegaFit, len(a.seeds))
	for i, r := range a.replay {
		episodes := r.eligible(o.Every == 0)
		next[i].Episode = episodes[len(episodes)-1].Number
		next[i].Mean, next[i].Scale = r.Moments.standard()
	}
	if err := a.testNew(next); err != nil {
		return err
	}
	a.lastFit = next
	for range o.Updates {
		if err := a.fitOnce(); err != nil {
			return err
		}
	}
	return nil
}

// omegaFit is what g was last fitted for: the time T, -1 before the first fit, and mean and scale
// of its inputs.
type omegaFit struct {
	Episode     int
	Mean, Scale []float32
}

// fitOnce makes one update of g, on a minibatch that it draws from the replay.
func (a *Agent) fitOnce() error {
	o := a.cfg.Omega
	var drawn triplets
	for i, r := range a.replay {
		rng := random.New(a.seeds[i], "sac", "triplets", a.gUpdates)
		at, time := r.byEpisode(rng, o.Batch, o.Every == 0)
		drawn.at = append(drawn.at, at)
		episodes := r.eligible(o.Every == 0)
		for _, triplet := range propensity.GenerateData(rng, time, len(episodes)) {
			drawn.add(episodes[triplet.T2], episodes[triplet.T1], triplet.Z)
		}
	}
	inputs := append(a.inputs(drawn), a.lastFitTensors()...)
	defer net.Free(inputs...)
	out, err := net.Run(a.programs.fitting, int32(a.gUpdates), inputs, a.g)
	if err != nil {
		return fmt.Errorf("sac: cannot fit omega: %w", err)
	}
	net.Free(a.g...)
	a.g = out[1:]
	a.gUpdates++
	_, err = a.losses(out[0], "the logistic loss of omega", "lower Omega.Rate")
	return err
}

// triplets are samples for g: the numbers of the transitions of each seed, and of all of them times and sign.
type triplets struct {
	at        [][]int
	t2, t1, z []float32
}

func (s *triplets) add(t2, t1 episode, z float32) {
	s.t2, s.t1, s.z = append(s.t2, float32(t2.Number)), append(s.t1, float32(t1.Number)), append(s.z, z)
}

// inputs are the steps, times and signs of triplets, [seeds, batch, ...].
func (a *Agent) inputs(s triplets) []*tensors.Tensor {
	out := []*tensors.Tensor{a.steps(s.at)}
	for _, values := range [][]float32{s.t2, s.t1, s.z} {
		out = append(out, tensors.FromFlatDataAndDimensions(values, len(s.at), len(s.at[0])))
	}
	return out
}

// times are the numbers of the episodes of transitions of each seed, [seeds, batch].
func (a *Agent) times(at [][]int) *tensors.Tensor {
	var t []float32
	for i, r := range a.replay {
		t = r.numbers(t, at[i])
	}
	return tensors.FromFlatDataAndDimensions(t, len(at), len(at[0]))
}

// runG runs a program of g, which has one result.
func (a *Agent) runG(program *Exec, inputs ...*tensors.Tensor) (*tensors.Tensor, error) {
	fit := a.lastFitTensors()
	defer net.Free(fit...)
	out, err := net.Run(program, inputs, fit, a.g[:len(a.programs.g)])
	if err != nil {
		return nil, fmt.Errorf("sac: cannot evaluate omega: %w", err)
	}
	return out[0], nil
}

// lastFitTensors are T [seeds, 1], and the mean and scale of g's inputs [seeds, 1, width].
func (a *Agent) lastFitTensors() []*tensors.Tensor {
	n, width := len(a.seeds), a.cfg.Actions+a.cfg.Observations
	var last, mean, scale []float32
	for _, fit := range a.lastFit {
		last, mean, scale = append(last, float32(fit.Episode)), append(mean, fit.Mean...), append(scale, fit.Scale...)
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(last, n, 1),
		tensors.FromFlatDataAndDimensions(mean, n, 1, width), tensors.FromFlatDataAndDimensions(scale, n, 1, width)}
}

// weights returns the weights of a minibatch of the replay, [seeds, batch]; 1 for plain SAC
// and before the first fit. It runs a separate
// program, so that the update's program is the same with and without omega.
func (a *Agent) weights(at [][]int) (*tensors.Tensor, error) {
	if a.cfg.Omega == nil || a.gUpdates == 0 {
		return tensors.FromScalarAndDimensions(float32(1), len(at), a.cfg.Batch), nil
	}
	steps, times := a.steps(at), a.times(at)
	defer net.Free(steps, times)
	return a.runG(a.programs.weighing, steps, times)
}

// omegaDue tells whether g is to be fitted before the next update: if Every is 0 always,
// otherwise once every seed has finished Every episodes since the last fit. Each seed must
// have two eligible episodes: with fewer there is no other time to compare with.
func (a *Agent) omegaDue() bool {
	if a.cfg.Omega == nil || a.cfg.Omega.Updates == 0 {
		return false
	}
	for i, r := range a.replay {
		episodes := r.eligible(a.cfg.Omega.Every == 0)
		if n := len(episodes); n < 2 || episodes[n-1].Number < a.lastFit[i].Episode+a.cfg.Omega.Every {
			return false
		}
	}
	return true
}
