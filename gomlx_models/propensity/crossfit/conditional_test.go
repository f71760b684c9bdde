package crossfit

import (
	"math"
	"testing"

	"tvps/data/random"

	"github.com/gomlx/gomlx/support/xslices"
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

// TestFewRows: a class that x tells nothing of does not drift given x, though the functions of x fit few rows well.
func TestFewRows(t *testing.T) {
	const tables = 100
	for _, c := range []struct{ rows, times int }{{10, 10}, {20, 20}, {40, 10}} {
		called := 0
		for seed := range int64(tables) {
			rng := random.New(seed, "few rows", c.rows)
			d := Table{Dim: 4, Classes: 2}
			for i := range c.rows {
				row := [4]float32{float32(rng.NormFloat64())}
				row[1+rng.IntN(3)] = 1 // one of three categories
				d.X, d.Label = append(d.X, row[:]...), append(d.Label, int32(rng.IntN(2)))
				d.Time = append(d.Time, float64(i*c.times/c.rows))
			}
			rows := sortRows(d, xslices.Iota(0, d.Dim))
			_, rows.x = shapeOf(d)
			k := newTester(d, rows, nil, periods("", rows.times), 99, seed)
			if k.test(t.Context(), k.rule(d, k.numbers(d, rows)), 0).P <= .05 {
				called++
			}
		}
		t.Logf("%+v: P <= .05 in %d of %d", c, called, tables)
		if called > 12 { // of 100 at probability .05 more come in 0.1% of cases
			t.Errorf("%+v: P <= .05 in %d of %d tables without drift", c, called, tables)
		}
	}
}
