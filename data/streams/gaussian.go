// Package streams draws the paper's simulated streams, whose densities are known: Gaussian, and LabelShift over images.
package streams

import (
	"math"

	"tvps/data/random"
)

// Gaussian is the paper's drifting Gaussian stream ("Drifting Gaussian Data"), for steps t >= 0 without an end:
// one-dimensional inputs in two classes whose boundary moves with the mean,
//
//	x_t ~ N(mu_t, 1),  y_t = 1[x_t > mu_t],  mu_t = mu_{t-1} + d/10,  mu_0 = 0.5,
//
// where d is 1 or -1 and changes sign every 50 steps. The quantities that the method estimates have closed forms:
// LogRatio, TV.
type Gaussian struct {
	N     int     // samples per step
	Flip  int     // the drift changes sign every Flip steps,
	Turn  int     // for the first time at t = Turn, 1 to Flip
	Mu0   float64 // mean at t = 0
	Drift float64 // change of the mean from step to step, the paper's d/10

	// A Period above 0 replaces the drift by a sine wave,
	// mu_t = Mu0 + Amplitude sin(2 pi t / Period). Flip, Turn and Drift are then not used. The paper says of
	// Figure 5 only "a periodic shift", and that times 84, 79, 74 and 69 are "the most similar" to time 99. These
	// differ from 99 by multiples of 5, so the period is 5; the sine wave and its amplitude are our choice.
	Period    int
	Amplitude float64
}

// PaperGaussian is the stream of Figure 1a: 2,000 samples a step, sign change every 50 steps.
func PaperGaussian() Gaussian {
	return Gaussian{N: 2000, Flip: 50, Turn: 50, Mu0: 0.5, Drift: 0.1}
}

// Mean returns mu_t for t >= 0. We read the paper's "every 50 time steps" as Turn = 50: the
// mean rises in the 50 moves to t = 1, ..., 50 and falls in the 50 moves to t = 51, ..., 100.
// So the mean of PaperGaussian turns at 5.5 (t = 50, 150) and at 0.5 (t = 100). The other reading,
// Turn = 49, has the mean rise over the 50 steps t = 0, ..., 49.
func (g Gaussian) Mean(t int) float64 {
	if g.Period > 0 {
		return g.Mu0 + g.Amplitude*math.Sin(2*math.Pi*float64(t%g.Period)/float64(g.Period))
	}
	late := g.Flip - g.Turn // by how many moves the first rise is shorter
	phase := (t + late) % (2 * g.Flip)
	return g.Mu0 + g.Drift*float64(min(phase, 2*g.Flip-phase)-late)
}

// Draw returns the N samples of step t: x and y, [N] each. Every (seed, part, t) has its
// own random numbers. The parts are "train" and "test".
func (g Gaussian) Draw(seed int64, part string, t int) (x []float32, y []int32) {
	rng := random.New(seed, "gaussian", part, t)
	mu := g.Mean(t)
	x, y = make([]float32, g.N), make([]int32, g.N)
	for i := range x {
		x[i] = float32(mu + rng.NormFloat64())
		y[i] = label(float64(x[i]), mu)
	}
	return x, y
}

func label(x, mu float64) int32 {
	if x > mu {
		return 1
	}
	return 0
}

// logRatioX returns log p_T(x) / p_t(x) of the inputs alone,
//
//	(mu_T - mu_t) (x - (mu_T + mu_t) / 2).
func (g Gaussian) logRatioX(x float64, T, t int) float64 {
	to, from := g.Mean(T), g.Mean(t)
	return (to - from) * (x - (to+from)/2)
}

// LogRatio returns log p_T(x, y) / p_t(x, y). The label is a function of x and the time:
//
//   - if x has the label y at both T and t, the result is that of x alone, (mu_T - mu_t) (x - (mu_T + mu_t) / 2);
//   - if x does not have it at T, it is -Inf: the sample has weight 0 at T;
//   - if x has it at T but not at t, it is +Inf: step t cannot produce the sample.
func (g Gaussian) LogRatio(x float64, y int32, T, t int) float64 {
	switch {
	case label(x, g.Mean(T)) != y:
		return math.Inf(-1)
	case label(x, g.Mean(t)) != y:
		return math.Inf(1)
	}
	return g.logRatioX(x, T, t)
}

// TV returns the total variation distance of p_T and p_t of (x, y). With D = |mu_T - mu_t| and the standard normal
// distribution function Phi it is 2 Phi(D) - 1. 1 - TV is the mean of min(omega, 1) over p_t: the mean weight of step t
// at time T. The best classifier of step T, 1[x > mu_T], gets TV / 2 of the samples of step t wrong: a quarter of what
// Section 2.1 of the paper allows it at most.
func (g Gaussian) TV(T, t int) float64 { return math.Erf(math.Abs(g.Mean(T)-g.Mean(t)) / math.Sqrt2) }
