package sac

import (
	"fmt"
	"math"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// score is g(s, a, t): fully connected layers with batch normalisation and ReLU. The last
// one starts at 0, so that omega starts at 1. x: action and observation, standardised,
// time: encoded, [seeds, batch, ...]. Result: [seeds, batch].
func (o Omega) score(s *net.Scope, x, time *Node) *Node {
	h := Concatenate([]*Node{x, time}, -1)
	for i := range o.Layers - 1 {
		in := s.In(fmt.Sprint("layer", i+1))
		h = net.Relu(net.BatchNorm(in, net.Dense(in, h, o.Hidden, net.He), net.BatchStatistics))
	}
	return Squeeze(net.Dense(s.In("out"), h, 1, func(int) net.Initial { return net.Constant(0) }), -1)
}

// encode turns numbers of episodes into what g sees of them. t: [seeds, batch], now:
// [seeds, 1]. Result: [seeds, batch, width].
func (o Omega) encode(t, now *Node) *Node {
	share := Div(t, MaxScalar(now, 1))
	var waves []*Node
	add := func(phase *Node) { waves = append(waves, Sin(phase), Cos(phase)) }
	switch o.Time {
	case TimeScalar:
		waves = []*Node{AddScalar(MulScalar(share, 2), -1)}
	case TimeFourier:
		for k := range o.Waves {
			add(MulScalar(share, math.Pi*float64(k+1)))
		}
	case TimePeriods:
		for _, period := range o.periods() {
			add(MulScalar(t, 2*math.Pi/period))
		}
	}
	return Stack(waves, -1)
}

// periods are those of TimePeriods.
func (o Omega) periods() []float64 {
	out := make([]float64, o.Waves)
	for k := range out {
		out[k] = 4 * math.Pow(1024, float64(k)/float64(max(1, o.Waves-1)))
	}
	return out
}

// fit is one update of Algorithm 2: Adam on the mean of log(1 + exp(-z f)), with f =
// g(x,t2) - g(x,t1) (Method 1, line 8) or f = g(x,t2) (Method 2, Eq. method_2_app).
// x: [seeds, batch, actions+observations]; t2, t1, z: [seeds, batch]; now: [seeds, 1].
func (p *programs) fit(l learned, x, t2, t1, z, now, step *Node) (learned, *Node) {
	o := p.cfg.Omega
	s := net.Bind(x.Graph(), p.g, l.values, true)
	var f *Node
	if o.Method == propensity.Method2 {
		f = o.score(s.Copies(p.seeds), x, o.encode(t2, now))
	} else { // both times in one pass, so that the batch normalisation sees them together
		both := o.score(s.Copies(p.seeds), Concatenate([]*Node{x, x}, 1), o.encode(Concatenate([]*Node{t2, t1}, 1), now))
		f = Sub(SliceAxis(both, 1, AxisRange(0, o.Batch)), SliceAxis(both, 1, AxisRange(o.Batch, 2*o.Batch)))
	}
	loss := ReduceMean(Softplus(Neg(Mul(z, f))), -1)
	updated := s.Updated(p.g, l.values)
	trained := loop.Trainable(p.g)
	wrt := learned{loop.Pick(l.values, trained), l.m, l.v}
	next := descend(loop.Pick(p.g, trained), wrt, loss, step, o.Rate)
	return learned{loop.Replace(updated, trained, next.values), next.m, next.v}, loss
}

// weigh is omega(s,a,T,t) = exp(g(s,a,T) - g(s,a,t)) (Eq. omegaformula), clipped. x:
// [seeds, batch, actions+observations], t: [seeds, batch], now: [seeds, 1]. Result:
// [seeds, batch].
func (p *programs) weigh(values []*Node, x, t, now *Node) *Node {
	o := p.cfg.Omega
	s := net.Bind(x.Graph(), p.g, values, false).Copies(p.seeds)
	present := o.score(s, x, o.encode(Add(ZerosLike(t), now), now))
	return Exp(MinScalar(Sub(present, o.score(s, x, o.encode(t, now))), o.Clip.Limit()))
}

// standardised is what g sees of (action, observation): minus mean, over scale, both
// [seeds, 1, actions+observations].
func standardised(x, mean, scale *Node) *Node { return Div(Sub(x, mean), scale) }

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

// xOf is (action, observation) of transitions. store: the array, rows: [seeds, batch].
func (p *programs) xOf(store, rows *Node) *Node {
	c, steps := p.cfg, gather(store, rows, p.cfg.stepWidth())
	return Concatenate([]*Node{lastAxis(steps, 0, c.Actions), lastAxis(steps, c.Actions+1, c.stepWidth())}, -1)
}
