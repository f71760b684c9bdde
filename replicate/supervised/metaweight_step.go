package supervised

import (
	"math"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// problem is the loop's Problem. Params: theta of the classifier, then V. Slots: velocities of
// the trainable theta, first and second moments of V. Data: the pool. Feeds: row and label of a
// training batch, row and label of a meta batch.
func (t *metaTrainer) problem() loop.Problem {
	return loop.Problem{Name: "Meta-Weight-Net", Step: t.step, Data: 1, Feeds: 4,
		Params: slices.Concat(t.model.Params, t.v),
		Slots:  slices.Concat(loop.Pick(t.model.Params, t.trained), t.v, t.v)}
}

// step builds one update (Shu et al. 2019, Algorithm 1), see metaTrainer.
func (t *metaTrainer) step(state, data, feeds []*Node, step, rate *Node) (loss *Node, next []*Node) {
	n, p, k := len(t.model.Params), len(t.v), len(t.trained)
	theta, v, velocity, m, u := state[:n], state[n:n+p], state[n+p:n+p+k], state[n+p+k:n+p+k+p], state[n+p+k+p:]
	pool, row, label, metaRow, metaLabel := data[0], feeds[0], feeds[1], feeds[2], feeds[3]

	s := net.Bind(pool.Graph(), t.model.Params, theta, true)
	losses := t.model.Losses(s, pool, row, label)
	grads := loop.AddDecay(v, t.metaGradient(theta, v, losses, pool, metaRow, metaLabel, rate), t.cfg.MetaDecay)
	v, m, u = loop.Adam(v, grads, m, u, step, Scalar(pool.Graph(), dtypes.Float32, t.cfg.MetaRate)) // u: second moments

	trainable := loop.Pick(theta, t.trained)
	fixed := StopGradient(metaWeights(v, t.v, losses)) // the new V depends on theta through its update
	loss = ReduceAllMean(Mul(fixed, losses))
	grads = loop.AddDecay(trainable, Gradient(loss, trainable...), t.cfg.Decay)
	trainable, velocity = loop.SGD(trainable, grads, velocity, rate, t.cfg.Momentum)
	theta = loop.Replace(s.Updated(t.model.Params, theta), t.trained, trainable)
	return loss, slices.Concat(theta, v, velocity, m, u)
}

// metaGradient is the gradient with respect to V of the mean meta loss at
//
//	theta_hat = theta - rate grad_theta 1/n sum_i V(L_i) L_i(theta),
//
// that is, through the gradient of the trial step. losses: L_i at theta, [batch]. theta_hat is
// linear in the weights V(L_i), so no second derivative of L is needed.
func (t *metaTrainer) metaGradient(theta, v []*Node, losses, pool, metaRow, metaLabel, rate *Node) []*Node {
	trainable := loop.Pick(theta, t.trained)
	trial := ReduceAllMean(Mul(metaWeights(v, t.v, losses), losses))
	hat := make([]*Node, len(trainable))
	for i, grad := range Gradient(trial, trainable...) {
		hat[i] = Sub(trainable[i], Mul(rate, grad))
	}
	s := net.Bind(pool.Graph(), t.model.Params, loop.Replace(theta, t.trained, hat), true)
	return Gradient(ReduceAllMean(t.model.Losses(s, pool, metaRow, metaLabel)), v...)
}

// metaWeights applies V with the values v to losses, which count as constants. losses, result:
// [batch].
func metaWeights(v []*Node, params []net.Param, losses *Node) *Node {
	return metaNetwork(net.Bind(losses.Graph(), params, v, true), StopGradient(losses), params[0].Dims[1])
}

// metaNetwork is V: linear, ReLU, linear, sigmoid. losses, result: [batch].
func metaNetwork(s *net.Scope, losses *Node, hidden int) *Node {
	x := net.Relu(metaLinear(s.In("layer1"), ExpandAxes(losses, -1), hidden))
	return Sigmoid(Squeeze(metaLinear(s.In("layer2"), x, 1), -1))
}

// metaLinear is x W + b. Both start with variance 1/(3 fanIn), as in PyTorch's linear layers (normal
// here, uniform there). With initial biases of 0, V would start as the sigmoid of a linear
// function, since losses are positive. x: [batch, in], result: [batch, out].
func metaLinear(s *net.Scope, x *Node, out int) *Node {
	in := x.Shape().Dim(-1)
	init := net.Initial{Std: math.Sqrt(1 / float64(3*in))}
	return Add(Dot(x, s.Weight("weights", init, in, out)).Product(), ExpandLeftToRank(s.Bias("biases", init, out), 2))
}

// declareV returns the parameters of V.
func declareV(backend compute.Backend, hidden int) ([]net.Param, error) {
	return net.Declare(backend, []shapes.Shape{shapes.Make(dtypes.Float32, 1)},
		func(s *net.Scope, in []*Node) { metaNetwork(s, in[0], hidden) })
}
