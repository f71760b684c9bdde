package propensity

import (
	"math"

	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// Algorithm 2 of the paper, in its order, as functions that build a graph:
//
//	GenerateData     line 5: a sample x with two times t2, t1 and z (Algorithm 1, generate.go)
//	Input, Times     line 7: a minibatch of such rows
//	Config.G         the score g(x, y, t) of Eqs. 8 and 10
//	Config.Loss      line 8: the logistic loss
//	                 line 9: Adam on it, in package loop or in the caller's program
//	Config.LogOmega  its result: log omega = g(x,T) - g(x,t) (Eq. 9)
//
// An Estimator compiles them for streams. Packages crossfit (own tables) and sac (robots) call
// them in programs of their own, where several networks train in one program (batched seeds): then
// all arrays have a leading axis [seeds], and the scope is one of net.Scope.Copies(seeds).

// Input is what g sees of a minibatch besides the times.
type Input struct {
	X     *Node // standardised, [batch, dims...]
	Label *Node // [batch] int32; not read if Config.Classes is 0
}

// G is the score g(x, y, t): Method 1 models p_t(x) = p_0(x) exp(g(x,t)) (Eq. 8),
// Method 2 p_t(x) = p(x) exp(g(x,t)) (Eq. 10). Result: [batch]. It panics on
// settings that Validate or ValidateBatched rejects, and on shapes that do not fit.
func (c Config) G(s *net.Scope, in Input, t Times) *Node {
	return c.Network.spec().build(s, c, in, t)
}

// Loss is the logistic loss of Algorithm 2, line 8: the mean over the minibatch of
// log(1 + exp(-z f)), where f is the logit. z: [batch], +1 or -1. Result: a scalar; for
// batched seeds the loss of each, [seeds].
func (c Config) Loss(s *net.Scope, in Input, t2, t1 Times, z *Node) *Node {
	f := c.logit(s, in, t2, t1)
	return ReduceMean(Softplus(Neg(Mul(z, f))), -1)
}

// logit is f = g(x,t2) - g(x,t1) for Method 1 and f = g(x,t2) for Method 2 (Eq.
// method_2_app); the standard score has no time in g.
func (c Config) logit(s *net.Scope, in Input, t2, t1 Times) *Node {
	if c.Method != Method1 {
		return c.G(s, in, t2)
	}
	axis := t2.batchAxis() // both in one pass, so that a batch normalisation sees them together
	g := c.G(s, in.twice(axis), t2.concatenate(t1))
	n := g.Shape().Dim(axis) / 2
	return Sub(SliceAxis(g, axis, AxisRange(0, n)), SliceAxis(g, axis, AxisRange(n, 2*n)))
}

// twice repeats the minibatch along its axis of samples.
func (in Input) twice(axis int) Input {
	repeat := func(x *Node) *Node {
		if x == nil {
			return nil
		}
		return Concatenate([]*Node{x, x}, axis)
	}
	return Input{X: repeat(in.X), Label: repeat(in.Label)}
}

// LogOmega is log omega(x, y, T, t) = g(x,y,T) - g(x,y,t) (Eq. 9), for graphs that apply the
// weights at once; ClipPolicy.Node makes it a weight. Result: [batch]. It takes for granted that
// every time was drawn equally often; Score.LogOmega corrects for other counts.
func (c Config) LogOmega(s *net.Scope, in Input, T, t Times) *Node {
	return Sub(c.G(s, in, T), c.G(s, in, t))
}

// Loss is the loss of a row on the host, without a draw of z: the mean over z = +1 and z = -1. own and other are g at
// the row's own time and at another one, which scale multiplies.
func (m Method) Loss(own, other, scale float64) float64 {
	if m == Method1 {
		return softplus(scale * (other - own))
	}
	return (softplus(-scale*own) + softplus(scale*other)) / 2
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
