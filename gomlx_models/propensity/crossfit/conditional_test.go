package crossfit

import (
	"math"

	"tvps/data/random"
)

// xDrift draws n rows of two values whose first mean goes from -1 to 1 over 20 times, and a class or a target by one
// rule: a logistic one; a target that depends on x nonlinearly, with noise that grows with x.
func xDrift(seed int64, n int, target bool) Table {
	rng := random.New(seed, "own test", "x drift")
	d := Table{Dim: 2}
	for i := range n {
		t := float64(i % 20)
		x, z := -1+t/9.5+rng.NormFloat64(), rng.NormFloat64()
		d.X, d.Time = append(d.X, float32(x), float32(z)), append(d.Time, t)
		if target {
			d.Target = append(d.Target, 50+10*(math.Sin(2*x)+x*z+.3*math.Exp(x/2)*rng.NormFloat64()))
			continue
		}
		y := int32(0)
		if rng.Float64() < 1/(1+math.Exp(-1.5*x+z)) {
			y = 1
		}
		d.Label, d.Classes = append(d.Label, y), 2
	}
	return d
}

// autoregressive draws n rows, each at its own time, of three values that are autoregressive of coefficient .9, as is
// their outcome's noise. Nothing drifts.
func autoregressive(seed int64, n int, target bool) Table {
	rng := random.New(seed, "own test", "autoregressive")
	d := Table{Dim: 3}
	state := make([]float64, 4)
	for i := range n {
		for j := range state {
			state[j] = .9*state[j] + math.Sqrt(1-.81)*rng.NormFloat64()
			if j < 3 {
				d.X = append(d.X, float32(state[j]))
			}
		}
		d.Time = append(d.Time, float64(i))
		y := state[0] + state[3]
		if target {
			d.Target = append(d.Target, y)
			continue
		}
		label := int32(0)
		if y > 0 {
			label = 1
		}
		d.Label, d.Classes = append(d.Label, label), 2
	}
	return d
}

// turningTarget is a target whose rule turns round: y = slope(t) x + noise.
func turningTarget(seed int64, n int) Table {
	d := ruleDrift(seed, n)
	rng := random.New(seed, "own test", "turning target")
	d.Label, d.Classes = nil, 0
	for i, t := range d.Time {
		d.Target = append(d.Target, ruleSlope(t)*float64(d.X[2*i])+rng.NormFloat64())
	}
	return d
}

// turningProduct has classes that tell whether two values have the same sign; from the middle of the time on, whether
// they have not. Neither value alone says anything of the class.
func turningProduct(seed int64, n int) Table {
	d := ruleDrift(seed, n)
	for i, t := range d.Time {
		same := d.X[2*i]*d.X[2*i+1] > 0
		d.Label[i] = map[bool]int32{true: 1}[same == (t < 10)]
	}
	return d
}
