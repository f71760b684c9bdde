package crossfit

import (
	"context"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
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

// TestRedraws: redrawn outcomes depend on x as the real ones do, and most of them differ.
func TestRedraws(t *testing.T) {
	d := xDrift(1, 2000, false)
	o, rows, table := prepared(t, d, DefaultConfig())
	samples, chunk := o.samples(d, rows.at, Joint), evenly(2000, 100)
	data, err := o.redraws(context.Background(), table, samples, chunk, 1)
	demand.NoError(t, err)
	var real float64
	for p, redrawn := range data {
		ones, changed := [2]float64{}, 0.
		for i, s := range redrawn {
			if x := d.X[2*s.row]; s.label == 1 && x > 0 {
				ones[1]++
			} else if s.label == 1 {
				ones[0]++
			}
			if s.label != samples[i].label {
				changed += 1 / float64(len(samples))
			}
		}
		share := ones[1] / (ones[0] + ones[1])
		if p == 0 {
			real = share
			continue
		}
		// The standard error of a share of 1,000 rows is .014. Without x half of the rows would change.
		if math.Abs(share-real) > .06 || changed < .2 || changed > .4 {
			t.Errorf("redraw %d: %.3f of class 1 have x > 0, really %.3f; %.3f of the rows have another class", p, share, real,
				changed)
		}
	}
}

// TestCutBins: an outcome's own quantile gives the outcome back, under any model; equal outcomes share a bin.
func TestCutBins(t *testing.T) {
	rng := random.New(1, "bins")
	for _, classes := range []int{1, 2, 40, 1000} {
		value := make([]float64, 500)
		for i := range value {
			value[i] = float64(rng.IntN(classes))
		}
		c := cutBins(value, rng)
		if len(c.sorted) > outcomeBins {
			t.Errorf("%d bins", len(c.sorted))
		}
		at := map[float64]int32{}
		for i, v := range value {
			logits := make([]float32, outcomeBins)
			for b := range logits {
				logits[b] = float32(3 * rng.NormFloat64())
			}
			if got := c.value(c.quantile(i, logits), logits); got != v {
				t.Fatalf("%d values: %v came back as %v", classes, v, got)
			}
			if b, seen := at[v]; seen && b != c.of[i] {
				t.Fatalf("%v is in bins %d and %d", v, b, c.of[i])
			}
			at[v] = c.of[i]
			if !slices.Contains(c.sorted[c.of[i]], v) {
				t.Fatalf("%v is not in its bin", v)
			}
		}
	}
}
