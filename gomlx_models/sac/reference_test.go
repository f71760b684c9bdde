package sac

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
)

// This file is an agent in float64 loops, with gradients by finite differences. It shares
// nothing with the graphs except the names of the parameters.

// refNet holds the arrays of one network of one seed.
type refNet struct {
	names  []string
	values map[string][]float64
}

// refVariables is the state of one seed.
type refVariables struct {
	actor, critic, target, alpha refNet
	moments                      map[string]refNet // actor/m, critic/v, ...
}

// seedNet reads one seed's arrays from the front of a list and returns the remaining list.
func seedNet(tb testing.TB, params []net.Param, list [][]float32, seed int) (refNet, [][]float32) {
	n := refNet{values: map[string][]float64{}}
	for i, p := range params {
		size := p.Size() / p.Dims[0]
		n.names = append(n.names, p.Name)
		for _, v := range list[i][seed*size : (seed+1)*size] {
			n.values[p.Name] = append(n.values[p.Name], float64(v))
		}
	}
	return n, list[len(params):]
}

func snapshot(tb testing.TB, a *Agent, seed int) refVariables {
	p, list := a.programs, flat(tb, a.state)
	v := refVariables{moments: map[string]refNet{}}
	take := func(params []net.Param) (n refNet) {
		n, list = seedNet(tb, params, list, seed)
		return n
	}
	v.actor, v.critic, v.alpha, v.target = take(p.actor), take(p.critic), take(p.alpha), take(p.critic)
	for _, moment := range []string{"m", "v"} {
		v.moments["actor/"+moment] = take(p.actor)
		v.moments["critic/"+moment] = take(p.critic)
		v.moments["alpha/"+moment] = take(p.alpha)
	}
	return v
}

// networks are all arrays: networks, and Adam's moments of their gradients.
func (v refVariables) networks() map[string]refNet {
	all := maps.Clone(v.moments)
	all["actor"], all["critic"], all["target"], all["alpha"] = v.actor, v.critic, v.target, v.alpha
	return all
}

// dense is x W + b of copy number k of a layer.
func (n refNet) dense(name string, x []float64, out, k int) []float64 {
	w, b := n.values[name+"/weights"][k*len(x)*out:], n.values[name+"/biases"][k*out:]
	y := make([]float64, out)
	for o := range y {
		y[o] = b[o]
		for i, v := range x {
			y[o] += v * w[i*out+o]
		}
	}
	return y
}

func (n refNet) mlp(c Config, name string, x []float64, out, k int) []float64 {
	for l := range c.Layers {
		x = n.dense(fmt.Sprintf("%s/layer%d", name, l+1), x, c.Hidden, k)
		for i := range x {
			x[i] = max(0, x[i])
		}
	}
	return n.dense(name+"/out", x, out, k)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// gru follows PyTorch's documentation of torch.nn.GRU.
func (n refNet) gru(c Config, steps [][]float64) []float64 {
	if c.Context == nil {
		return nil
	}
	hidden := c.Context.Hidden
	h := make([]float64, hidden)
	for _, step := range steps {
		x, u := n.dense("gru/input", step, 3*hidden, 0), n.dense("gru/state", h, 3*hidden, 0)
		next := make([]float64, hidden)
		for i := range h {
			r, z := sigmoid(x[i]+u[i]), sigmoid(x[hidden+i]+u[hidden+i])
			next[i] = (1-z)*math.Tanh(x[2*hidden+i]+r*u[2*hidden+i]) + z*h[i]
		}
		h = next
	}
	return h
}

// policy draws an action with its log-probability from its definition.
func (n refNet) policy(c Config, observation []float64, steps [][]float64, noise []float64) (
	action []float64, logProb float64) {
	out := n.mlp(c, "policy", slices.Concat(observation, n.gru(c, steps)), 2*c.Actions, 0)
	for i, e := range noise {
		std := math.Exp(min(2, max(-20, out[c.Actions+i])))
		u := out[i] + std*e
		action = append(action, math.Tanh(u))
		logProb += -e*e/2 - math.Log(std*math.Sqrt(2*math.Pi)) - math.Log(1-math.Tanh(u)*math.Tanh(u))
	}
	return action, logProb
}

func (n refNet) q(c Config, observation, action []float64, steps [][]float64) [2]float64 {
	x := slices.Concat(observation, action, n.gru(c, steps))
	return [2]float64{n.mlp(c, "q", x, 1, 0)[0], n.mlp(c, "q", x, 1, 1)[0]}
}

// refSample is a transition with its histories, the weight omega and the two noises.
type refSample struct {
	s, a, next       []float64
	reward, terminal float64
	before, after    [][]float64
	omega            float64
	noise            [2][]float64
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}

// refMinibatch computes one seed's minibatch from the list of all its transitions.
func refMinibatch(c Config, all []Transition, at []int, noise []float32, seed, seeds int,
	omega []float64) []refSample {
	var out []refSample
	for b, i := range at {
		t := all[i]
		r := refSample{s: t.Observation, a: t.Action, next: t.Next, reward: t.Reward, omega: omega[b]}
		if t.Terminal {
			r.terminal = 1
		}
		for k := range r.noise {
			from := ((k*seeds+seed)*c.Batch + b) * c.Actions
			r.noise[k] = wide(noise[from : from+c.Actions])
		}
		if c.Context != nil {
			r.before = refHistory(c, all, i, len(all)-c.Capacity)
			r.after = append(r.before[1:len(r.before):len(r.before)], refStep(t))
		}
		out = append(out, r)
	}
	return out
}

func refStep(t Transition) []float64 {
	return slices.Concat(t.Action, []float64{t.Reward}, t.Observation)
}

// refHistory lists the steps before transition i in its episode, zeros in front. Numbers
// below oldest are overwritten.
func refHistory(c Config, all []Transition, i, oldest int) [][]float64 {
	out := make([][]float64, c.Context.History)
	for k := range out {
		out[k] = make([]float64, c.stepWidth())
	}
	for k := 1; k <= c.Context.History; k++ {
		j := i - k
		if j < max(0, oldest) || all[j].Last || all[j].Terminal || all[j].Episode != all[i].Episode {
			break
		}
		out[c.Context.History-k] = refStep(all[j])
	}
	return out
}

// refGradient is the gradient of a loss by central differences, by name. If the loss does not
// depend on a value, as after an inactive unit, it is exactly 0: Adam would amplify a rounding
// error.
func refGradient(n refNet, loss func() float64) map[string][]float64 {
	const h, rounding = 1e-6, 1e-8
	out := map[string][]float64{}
	for _, name := range n.names {
		values := n.values[name]
		for i, v := range values {
			values[i] = v + h
			up := loss()
			values[i] = v - h
			slope := (up - loss()) / (2 * h)
			if math.Abs(slope) < rounding {
				slope = 0
			}
			out[name] = append(out[name], slope)
			values[i] = v
		}
	}
	return out
}

// descend is one step of Adam in place.
func (v *refVariables) descend(what string, n refNet, step int, rate float64, loss func() float64) {
	grads := refGradient(n, loss)
	m, s := v.moments[what+"/m"].values, v.moments[what+"/v"].values
	t := float64(step + 1)
	for name, grad := range grads {
		for i, g := range grad {
			m[name][i] = .9*m[name][i] + .1*g
			s[name][i] = .999*s[name][i] + .001*g*g
			deviation := math.Sqrt(s[name][i]/(1-math.Pow(.999, t))) + 1e-8
			n.values[name][i] -= rate * m[name][i] / (1 - math.Pow(.9, t)) / deviation
		}
	}
}

// update is one step of Soft Actor-Critic, and returns the losses.
func (v *refVariables) update(c Config, batch []refSample, step int) (criticLoss, actorLoss float64) {
	n := float64(len(batch))
	alpha := c.Alpha
	if c.LearnAlpha {
		alpha = math.Exp(v.alpha.values["log"][0])
	}
	y := make([]float64, len(batch))
	for b, x := range batch {
		a, logProb := v.actor.policy(c, x.next, x.after, x.noise[0])
		q := v.target.q(c, x.next, a, x.after)
		y[b] = x.reward + c.Gamma*(1-x.terminal)*(min(q[0], q[1])-alpha*logProb)
	}
	critic := func() (loss float64) {
		for b, x := range batch {
			q := v.critic.q(c, x.s, x.a, x.before)
			loss += x.omega * ((q[0]-y[b])*(q[0]-y[b]) + (q[1]-y[b])*(q[1]-y[b])) / n
		}
		return loss
	}
	criticLoss = critic()
	v.descend("critic", v.critic, step, c.CriticRate, critic)
	meanLogProb := 0.
	actor := func() (loss float64) {
		for _, x := range batch {
			a, logProb := v.actor.policy(c, x.s, x.before, x.noise[1])
			q := v.critic.q(c, x.s, a, x.before)
			loss += (alpha*logProb - min(q[0], q[1])) / n
		}
		return loss
	}
	for _, x := range batch {
		_, logProb := v.actor.policy(c, x.s, x.before, x.noise[1])
		meanLogProb += logProb / n
	}
	actorLoss = actor()
	v.descend("actor", v.actor, step, c.ActorRate, actor)
	if c.LearnAlpha {
		v.descend("alpha", v.alpha, step, c.AlphaRate, func() float64 {
			return -math.Exp(v.alpha.values["log"][0]) * (meanLogProb - float64(c.Actions))
		})
	}
	for name, psi := range v.critic.values {
		for i := range psi {
			v.target.values[name][i] = c.Tau*psi[i] + (1-c.Tau)*v.target.values[name][i]
		}
	}
	return criticLoss, actorLoss
}

// refOmega is omega of one seed's transitions under the agent's current g.
func refOmega(tb testing.TB, a *Agent, seed int, transitions []Transition) []float64 {
	o := a.cfg.Omega
	n, _ := seedNet(tb, a.programs.g, flat(tb, a.g), seed)
	now := a.lastFit[seed]
	g := func(t Transition, time float64) float64 {
		x := slices.Concat(t.Action, t.Observation)
		for i := range x {
			x[i] = (x[i] - float64(now.Mean[i])) / float64(now.Scale[i])
		}
		x = append(x, refEncode(o, time, float64(now.Episode))...)
		for l := range o.Layers - 1 {
			name := fmt.Sprintf("layer%d", l+1)
			x = n.dense(name, x, o.Hidden, 0)
			for i := range x {
				v := n.values
				standard := (x[i] - v[name+"/mean"][i]) / math.Sqrt(v[name+"/variance"][i]+1e-5)
				x[i] = max(0, standard*v[name+"/scale"][i]+v[name+"/offset"][i])
			}
		}
		return n.dense("out", x, 1, 0)[0]
	}
	out := make([]float64, len(transitions))
	for i, t := range transitions {
		out[i] = o.Clip.Omega(g(t, float64(now.Episode)) - g(t, float64(t.Episode)))
	}
	return out
}

func refEncode(o *Omega, t, now float64) (out []float64) {
	switch o.Time {
	case propensity.TimeScalar:
		return []float64{2*t/max(1, now) - 1}
	case propensity.TimeFourier:
		for k := 1; k <= o.Waves; k++ {
			out = append(out, math.Sin(math.Pi*float64(k)*t/max(1, now)), math.Cos(math.Pi*float64(k)*t/max(1, now)))
		}
	case propensity.TimePeriods:
		for k := range o.Waves {
			period := math.Pow(2, 2+10*float64(k)/float64(o.Waves-1))
			out = append(out, math.Sin(2*math.Pi*t/period), math.Cos(2*math.Pi*t/period))
		}
	}
	return out
}

// flatOf is the flat content of a tensor.
func flatOf(tb testing.TB, t *tensors.Tensor) []float32 { return flat(tb, []*tensors.Tensor{t})[0] }
