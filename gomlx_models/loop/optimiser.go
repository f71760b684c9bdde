package loop

import (
	"slices"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Adam's constants (Kingma and Ba 2015; the defaults of PyTorch, which the paper used).
const (
	beta1   = .9
	beta2   = .999
	epsilon = 1e-8
)

// Adam builds one step of Adam. grads and the first and second moments m and v have the order
// and shapes of values. step (int32 scalar) is the number of updates before this one, rate
// (float32 scalar) the learning rate. It returns the values and moments after the update.
func Adam(values, grads, m, v []*Node, step, rate *Node) (next, nextM, nextV []*Node) {
	at := ConvertDType(AddScalar(step, 1), dtypes.Float32)
	correct1 := OneMinus(Pow(Scalar(step.Graph(), dtypes.Float32, beta1), at))
	correct2 := OneMinus(Pow(Scalar(step.Graph(), dtypes.Float32, beta2), at))
	next, nextM, nextV = make([]*Node, len(values)), make([]*Node, len(values)), make([]*Node, len(values))
	for i, grad := range grads {
		nextM[i] = Add(MulScalar(m[i], beta1), MulScalar(grad, 1-beta1))
		nextV[i] = Add(MulScalar(v[i], beta2), MulScalar(Mul(grad, grad), 1-beta2))
		denom := AddScalar(Sqrt(Div(nextV[i], correct2)), epsilon)
		next[i] = Sub(values[i], Mul(rate, Div(Div(nextM[i], correct1), denom)))
	}
	return next, nextM, nextV
}

// SGD builds one step of gradient descent with momentum as PyTorch defines it:
//
//	velocity = momentum * velocity + gradient,   value = value - rate * velocity.
//
// rate is a float32 scalar. It returns the values and velocities after the update.
func SGD(values, grads, velocity []*Node, rate *Node, momentum float64) (next, nextVelocity []*Node) {
	next, nextVelocity = make([]*Node, len(values)), make([]*Node, len(values))
	for i, grad := range grads {
		nextVelocity[i] = Add(MulScalar(velocity[i], momentum), grad)
		next[i] = Sub(values[i], Mul(rate, nextVelocity[i]))
	}
	return next, nextVelocity
}

// AddDecay adds decay times the value to each gradient. This is the weight decay of PyTorch's
// SGD and Adam: the gradient of decay/2 times the sum of squared values.
func AddDecay(values, grads []*Node, decay float64) []*Node {
	out := make([]*Node, len(grads))
	for i, grad := range grads {
		out[i] = Add(grad, MulScalar(values[i], decay))
	}
	return out
}

// adamStep returns the Step and Slots of a Problem without a Step: Adam on the trainable
// Params. The slots are the first moments, then the second ones.
func adamStep(problem Problem) (Step, []net.Param) {
	trained := Trainable(problem.Params)
	n, k := len(problem.Params), len(trained)
	moments := Pick(problem.Params, trained)
	step := func(state, data, feeds []*Node, step, rate *Node) (loss *Node, next []*Node) {
		values, m, v := state[:n], state[n:n+k], state[n+k:]
		s := net.Bind(step.Graph(), problem.Params, values, true)
		if problem.RateFactors { // the last feed
			rate, feeds = Mul(rate, feeds[len(feeds)-1]), feeds[:len(feeds)-1]
		}
		loss = problem.Loss(s, data, feeds)
		updated := s.Updated(problem.Params, values)
		wrt := Pick(values, trained)
		next, nextM, nextV := Adam(wrt, Gradient(loss, wrt...), m, v, step, rate)
		return loss, slices.Concat(Replace(updated, trained, next), nextM, nextV)
	}
	return step, slices.Concat(moments, moments)
}

// Trainable lists the positions of the trainable parameters.
func Trainable(params []net.Param) []int {
	var at []int
	for i, p := range params {
		if p.Trainable {
			at = append(at, i)
		}
	}
	return at
}

// Pick returns the elements of list at the given positions; nil of a nil list.
func Pick[T any](list []T, at []int) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(at))
	for j, i := range at {
		out[j] = list[i]
	}
	return out
}

// Replace returns a copy of list with the elements of values at the given positions.
func Replace[T any](list []T, at []int, values []T) []T {
	out := slices.Clone(list)
	for j, i := range at {
		out[i] = values[j]
	}
	return out
}
