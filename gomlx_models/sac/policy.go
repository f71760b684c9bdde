package sac

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// The logarithm of the policy's standard deviation is clamped to this range, as in
// Haarnoja et al. (2018) and Stable-Baselines3. (CleanRL maps it by tanh to [-5, 2].)
const (
	minLogStd = -20
	maxLogStd = 2
)

// squash draws an action of the policy a = tanh(u), u = mean + exp(logStd) noise with
// noise ~ N(0, 1), and returns it with its log-probability,
//
//	log pi(a) = sum_i [ log N(u_i; mean_i, std_i) - log(1 - tanh(u_i)^2) ].
//
// mean, logStd, noise: [..., actions]; results: [..., actions] and [...].
func squash(mean, logStd, noise *Node) (action, logProb *Node) {
	u := Add(mean, Mul(Exp(logStd), noise))
	normal := AddScalar(Add(MulScalar(Mul(noise, noise), .5), logStd), .5*math.Log(2*math.Pi))
	return Tanh(u), Neg(ReduceSum(Add(normal, logSlope(u)), -1))
}

// logSlope is log(1 - tanh(u)^2) = 2 (log 2 - u - log(1 + exp(-2u))), which stays finite
// and exact when tanh(u) rounds to 1.
func logSlope(u *Node) *Node {
	return MulScalar(Sub(AddScalar(Neg(u), math.Ln2), Softplus(MulScalar(u, -2))), 2)
}
