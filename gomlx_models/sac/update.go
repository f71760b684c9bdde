package sac

import (
	"math"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// parameters are the arrays of a network with Adam's first and second moments.
type parameters struct{ values, m, v []*Node }

// variables is everything that an update changes. All arrays have a leading axis [seeds].
type variables struct {
	actor, critic, alpha parameters
	target               []*Node // as critic.values
}

// minibatch holds transitions in the graph.
type minibatch struct {
	observation, next *Node // [seeds, batch, observations]
	action            *Node // [seeds, batch, actions]
	reward, terminal  *Node // [seeds, batch]
	before, after     *Node // the context's steps at s and at s', [seeds, history, batch, step]; or nil
}

// Metrics are the numbers of the latest update, for each seed.
type Metrics struct {
	CriticLoss []float32 // Eq. 16, summed over both Q functions
	ActorLoss  []float32
	Q          []float32 // mean of Q1 and Q2 over the minibatch
	Entropy    []float32 // mean of -log pi
	Alpha      []float32 // before the update
	Omega      []float32 // mean weight
}

// update is one step of Soft Actor-Critic (Haarnoja et al. 2018) with the critic's loss
// weighted by omega (Section 3.2, Eq. 16 of the paper). noise: [2, seeds, batch,
// actions]; omega: [seeds, batch], 1 for plain SAC; step: int32 scalar, the number of
// updates before this one. The losses of the seeds are summed, so that each seed has
// the gradient of its own loss. Result: the variables afterwards, and Metrics as [fields, seeds].
func (p *programs) update(v variables, b minibatch, noise, omega, step *Node) (variables, *Node) {
	c := p.cfg
	bind := func(params []net.Param, values []*Node) *net.Scope {
		return net.Bind(omega.Graph(), params, values, true)
	}
	coefficient := bind(p.alpha, v.alpha.values)
	alpha := p.alphaOf(coefficient, omega) // [seeds, 1]

	// y = r + gamma (1 - d) [min_j Q'_j(s', a') - alpha log pi(a'|s')], a' ~ pi(.|s')
	actor := bind(p.actor, v.actor.values)
	nextAction, nextLogProb := p.act(actor, b.next, b.after, Squeeze(Slice(noise, AxisElem(0)), 0))
	nextQ := ReduceMin(p.value(bind(p.critic, v.target), b.next, nextAction, b.after), 1)
	soft := Sub(nextQ, Mul(alpha, nextLogProb))
	y := Add(b.reward, MulScalar(Mul(OneMinus(b.terminal), soft), c.Gamma))

	// Eq. 16: 1/|B| sum of omega (Q_j(s, a) - y)^2, for both j. y is a constant here:
	// it depends on actor and target network alone.
	critic := bind(p.critic, v.critic.values)
	q := p.value(critic, b.observation, b.action, b.before)
	diff := Sub(q, ExpandAxes(y, 1))
	criticLoss := ReduceSum(ReduceMean(Mul(ExpandAxes(omega, 1), Mul(diff, diff)), -1), -1)
	v.critic = descend(critic, v.critic, criticLoss, step, c.CriticRate)

	// Actor: 1/|B| sum of alpha log pi(a|s) - min_j Q_j(s, a), a ~ pi(.|s), with the new Q.
	actor, critic = bind(p.actor, v.actor.values), bind(p.critic, v.critic.values) // passes of their own
	action, logProb := p.act(actor, b.observation, b.before, Squeeze(Slice(noise, AxisElem(1)), 0))
	actionQ := ReduceMin(p.value(critic, b.observation, action, b.before), 1)
	actorLoss := ReduceMean(Sub(Mul(alpha, logProb), actionQ), -1)
	v.actor = descend(actor, v.actor, actorLoss, step, c.ActorRate)

	// Entropy coefficient: 1/|B| sum of -alpha (log pi(a|s) + target), target = -actions.
	if c.LearnAlpha {
		gap := StopGradient(AddScalar(logProb, -float64(c.Actions)))
		alphaLoss := ReduceMean(Neg(Mul(alpha, gap)), -1)
		v.alpha = descend(coefficient, v.alpha, alphaLoss, step, c.AlphaRate)
	}

	// Target network: psi' <- tau psi + (1 - tau) psi'.
	target := make([]*Node, len(v.target))
	for i, psi := range v.critic.values {
		target[i] = Add(MulScalar(psi, c.Tau), MulScalar(v.target[i], 1-c.Tau))
	}
	v.target = target

	return v, Stack([]*Node{criticLoss, actorLoss, ReduceMean(q, 1, 2), Neg(ReduceMean(logProb, -1)),
		Squeeze(alpha, -1), ReduceMean(omega, -1)}, 0)
}

// descend is one step of Adam on the sum over seeds of a loss of shape [seeds]. s is the pass that
// computed the loss.
func descend(s *net.Scope, l parameters, loss, step *Node, rate float64) parameters {
	if len(l.values) == 0 {
		return l
	}
	grads := s.Gradient(ReduceAllSum(loss), l.values...)
	next, m, v := loop.Adam(l.values, grads, l.m, l.v, step, Scalar(step.Graph(), dtypes.Float32, rate))
	for i, x := range next {
		next[i] = StopGradient(x) // the gradient of the next loss does not pass through this update
	}
	return parameters{next, m, v}
}

// act draws actions of the policy, with their log-probabilities. observation: [seeds,
// batch, observations], steps: [seeds, history, batch, step] or nil, noise: [seeds, batch,
// actions]. Results: [seeds, batch, actions] and [seeds, batch].
func (p *programs) act(s *net.Scope, observation, steps, noise *Node) (action, logProb *Node) {
	mean, logStd := p.actorNet(s, observation, steps)
	return squash(mean, logStd, noise)
}

// value is Q1 and Q2. action: [seeds, batch, actions], result: [seeds, 2, batch].
func (p *programs) value(s *net.Scope, observation, action, steps *Node) *Node {
	s = s.Copies(p.seeds) // Q1 and Q2 share their context
	return p.cfg.twinQ(s, p.cfg.join(s, steps, observation, action))
}

// actorNet is the actor of every seed. Actor and critic have a context each, trained by their
// own loss.
func (p *programs) actorNet(s *net.Scope, observation, steps *Node) (mean, logStd *Node) {
	s = s.Copies(p.seeds)
	return p.cfg.policy(s, p.cfg.join(s, steps, observation))
}

// alphaNet is the entropy coefficient, exp of a learned number for each seed.
func (p *programs) alphaNet(s *net.Scope) *Node {
	return Exp(s.Copies(p.seeds).Bias("log", net.Constant(math.Log(p.cfg.Alpha)), 1))
}

// alphaOf is the entropy coefficient, learned or fixed, [seeds, 1].
func (p *programs) alphaOf(s *net.Scope, like *Node) *Node {
	if p.cfg.LearnAlpha {
		return p.alphaNet(s)
	}
	return AddScalar(ZerosLike(SliceAxis(like, -1, AxisRange(0, 1))), p.cfg.Alpha)
}

// minibatch splits what Agent.draw draws.
func (c Config) minibatch(samples, window *Node) minibatch {
	at := 0
	part := func(n int) *Node {
		at += n
		return lastAxis(samples, at-n, at)
	}
	b := minibatch{action: part(c.Actions), reward: Squeeze(part(1), -1), observation: part(c.Observations),
		next: part(c.Observations), terminal: Squeeze(part(1), -1)}
	if window != nil {
		h := window.Shape().Dim(1) - 1
		b.before = SliceAxis(window, 1, AxisRange(0, h))
		b.after = SliceAxis(window, 1, AxisRange(1, h+1))
	}
	return b
}

// list is the variables in the order in which a compiled program takes and returns them.
func (v variables) list() []*Node {
	return slices.Concat(v.actor.values, v.critic.values, v.alpha.values, v.target,
		v.actor.m, v.critic.m, v.alpha.m, v.actor.v, v.critic.v, v.alpha.v)
}

// unlist is the inverse of list.
func (p *programs) unlist(nodes []*Node) (v variables) {
	take := func(params []net.Param) []*Node {
		head := nodes[:len(params)]
		nodes = nodes[len(params):]
		return head
	}
	v.actor.values, v.critic.values, v.alpha.values = take(p.actor), take(p.critic), take(p.alpha)
	v.target = take(p.critic)
	v.actor.m, v.critic.m, v.alpha.m = take(p.actor), take(p.critic), take(p.alpha)
	v.actor.v, v.critic.v, v.alpha.v = take(p.actor), take(p.critic), take(p.alpha)
	return v
}
