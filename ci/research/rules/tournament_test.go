package rules

import (
	"math"
	"testing"

	"tvps/data/random"
	"tvps/replicate/tables/backtest"

	"gonum.org/v1/gonum/stat"
)

// windowMean is rollingMean from the values themselves, as the paper writes it: windows k = 1, 2, ... of the last
// blocks.
func windowMean(blocks [][]float64) float64 {
	t := len(blocks)
	var mean, bound []float64
	for k := 1; k <= t; k++ {
		var u []float64
		for _, b := range blocks[t-k:] {
			u = append(u, b...)
		}
		m, sd := stat.Mean(u, nil), 0.
		if len(u) > 1 {
			sd = stat.StdDev(u, nil)
		}
		mean, bound = append(mean, m), append(bound, sd*math.Sqrt(2*math.Log(2/.1)/float64(len(u))))
	}
	best, least := 0, math.Inf(1)
	for k := range mean {
		phi := 0.
		for i := range k + 1 {
			phi = max(phi, math.Abs(mean[k]-mean[i])-bound[k]-bound[i])
		}
		if phi+bound[k] < least {
			best, least = k, phi+bound[k]
		}
	}
	return mean[best]
}

// TestRollingMean: the same as from the values; without drift nearly all of them count, after a jump none from before.
func TestRollingMean(t *testing.T) {
	for seed := range int64(60) {
		rng := random.New(seed, "rolling")
		n := 2 + rng.IntN(30)
		jump := 0
		if seed%2 == 1 {
			jump = rng.IntN(n)
		}
		var blocks [][]float64
		var sum, squares, rows []float64
		for i := range n {
			var b []float64
			s, q := 0., 0.
			for range 5 + rng.IntN(60) {
				v := rng.NormFloat64()
				if i < jump {
					v += 50
				}
				if seed%3 == 2 {
					v += .1 * float64(i)
				}
				b, s, q = append(b, v), s+v, q+v*v
			}
			blocks = append(blocks, b)
			sum, squares, rows = append(sum, s), append(squares, q), append(rows, float64(len(b)))
		}
		got := rollingMean(sum, squares, rows)
		if want := windowMean(blocks); math.Abs(got-want) > 1e-9 {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
		if seed%3 < 2 && math.Abs(got) > 2 {
			t.Errorf("seed %d: %v, with the values before a jump of 50", seed, got)
		}
	}
	// Windows of 1 and 4 blocks with one value in each: the longer one has the smaller error.
	if got := rollingMean([]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}); got != 1 {
		t.Errorf("the mean of ones is %v", got)
	}
}

// TestTournament: the best of five wins from every place of the list, and after a turn the one that is best now, though
// another has the lowest loss of all blocks.
func TestTournament(t *testing.T) {
	lives := []float64{1, 2, 4, 8, 16}
	play := func(blocks int, loss func(life float64, block int) float64) backtest.Weighting {
		var list []backtest.Weighting
		p := &backtest.Past{Measure: "loss"}
		for _, life := range lives {
			list = append(list, backtest.Weighting{HalfLife: life})
		}
		for block := range blocks {
			values := map[string]float64{}
			for i, a := range list {
				values["loss: "+a.String()] = loss(a.HalfLife, block)
				for _, b := range list[i+1:] {
					d := loss(a.HalfLife, block) - loss(b.HalfLife, block)
					values[squareOf(a, b)] = d*d + .01
				}
			}
			p.Blocks, p.Rows = append(p.Blocks, values), append(p.Rows, 50)
		}
		return winner(list, p)
	}
	for _, best := range lives {
		if got := play(12, func(life float64, _ int) float64 { return math.Abs(life-best) / 16 }); got.HalfLife != best {
			t.Errorf("%v is best, %s wins", best, got)
		}
	}
	turned := play(24, func(life float64, block int) float64 {
		if block < 20 {
			return life
		}
		return -life / 4
	})
	if turned.HalfLife != 16 {
		t.Errorf("%s wins after the turn", turned)
	}
	if got := play(0, nil); got.HalfLife != 16 {
		t.Errorf("%s before any block", got)
	}
}
