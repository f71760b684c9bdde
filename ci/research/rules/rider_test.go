package rules

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/replicate/tables/backtest"

	"gonum.org/v1/gonum/floats"
)

// TestBlockWeights: pooling, the last block, exponential forgetting and an autoregressive process have closed forms.
func TestBlockWeights(t *testing.T) {
	const n = 40
	means := func(noise ...float64) *blockMeans {
		m := &blockMeans{}
		for s := range n {
			m.at, m.noise = append(m.at, s), append(m.noise, noise[s%len(noise)])
		}
		return m
	}
	check := func(what string, m *blockMeans, v variogram, want []float64) {
		t.Helper()
		floats.Scale(1/floats.Sum(want), want)
		got, err := m.weights(n, v)
		if err != nil || !floats.EqualApprox(got, want, 1e-9) {
			t.Errorf("%s: weights %v, want %v, error %v", what, got, want, err)
		}
	}
	list := func(of func(age int) float64) (out []float64) {
		for s := range n {
			out = append(out, of(n-1-s))
		}
		return out
	}
	check("no shifts: as many as rows", means(1./100, 1./300), variogram{Memory: 1},
		list(func(age int) float64 { return []float64{300, 100}[age%2] }))
	check("independent shifts: all alike", means(0), variogram{Independent: .2, Memory: 1}, list(func(int) float64 { return 1 }))
	check("a random walk of means without error: the last", means(0), variogram{Scale: .1, Memory: 1},
		list(func(age int) float64 { return max(0, 1-float64(age)) }))
	// A random walk with errors, by the Kalman filter that knows nothing before the first block.
	noise := []float64{.03, .01, .02}
	gain, variance := make([]float64, n), 0.
	for s := range n {
		e := noise[s%3] + .05 // of sampling, and an independent shift
		if s == 0 {
			gain[s], variance = 1, e
			continue
		}
		variance += 2 * .01
		gain[s] = variance / (variance + e)
		variance *= 1 - gain[s]
	}
	kalman := make([]float64, n)
	for s := range n {
		kalman[s] = gain[s]
		for r := s + 1; r < n; r++ {
			kalman[s] *= 1 - gain[r]
		}
	}
	check("the Kalman filter", means(noise...), variogram{Independent: .05, Scale: .01, Memory: 1}, kalman)
	// Exponential smoothing is its limit: q = 2 Scale / error, gain K with K^2 = q (1 - K).
	q := 2 * .3 / .1
	k := (-q + math.Sqrt(q*q+4*q)) / 2
	check("exponential forgetting", means(0), variogram{Independent: .1, Scale: .3, Memory: 1},
		list(func(age int) float64 {
			if age == n-1 {
				return math.Pow(1-k, float64(age)) // what lies before the first block
			}
			return k * math.Pow(1-k, float64(age))
		}))
	// A first-order autoregressive process without errors: rho of the last, and the best estimate of its mean.
	const rho = .7
	check("autoregressive", means(0), variogram{Scale: 1, Memory: rho}, list(func(age int) float64 {
		of := (1 - rho) / (n - (n-2)*rho)
		switch age {
		case 0:
			return rho + (1-rho)*of/(1-rho)
		case n - 1:
			return of
		}
		return (1 - rho) * of
	}))
}

// TestVariogram: the process that made the means is found, and none where there are only sampling errors.
func TestVariogram(t *testing.T) {
	const n, functions = 120, 60
	simulate := func(memory, innovation, independent, noise float64) *blockMeans {
		m, rng := &blockMeans{}, random.New(1, "variogram")
		state := make([]float64, functions)
		for f := range state {
			if memory < 1 {
				state[f] = rng.NormFloat64() * innovation / math.Sqrt(1-memory*memory)
			}
		}
		for s := range n {
			m.at, m.noise, m.of = append(m.at, s), append(m.noise, noise), append(m.of, nil)
			for f := range state {
				state[f] = memory*state[f] + innovation*rng.NormFloat64()
				m.of[s] = append(m.of[s], state[f]+math.Sqrt(independent+noise)*rng.NormFloat64())
			}
		}
		return m
	}
	near := func(what string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	walk := simulate(1, .1, .04, .02).fit()
	near("the memory of a random walk", walk.Memory, 1, 0)
	near("half of its innovations' variance", walk.Scale, .005, .001)
	near("the variance of independent shifts", walk.Independent, .04, .01)
	process := simulate(.7, .3, .1, .05).fit()
	near("the memory", process.Memory, .7, 0)
	near("the variance of the process", process.Scale, .09/(1-.49), .03)
	near("the variance of independent shifts", process.Independent, .1, .03)
	none := simulate(1, 0, 0, .05).fit()
	near("the variance of shifts that are not there", none.at(1), 0, .001)
}

// TestRider: where the rule from x to y turns round in the middle, the later half counts for most; where it does not,
// all rows count alike; a drift of x alone changes nothing.
func TestRider(t *testing.T) {
	const n, blocks = 6000, 30
	shares := func(turn, moves bool) float64 {
		k := &backtest.Task{Step: blocks}
		k.Data.Dim, k.Data.Classes = 2, 2
		rng := random.New(3, "rider")
		for i := range n {
			block := i % 45
			if block >= blocks { // half of the blocks have twice as many rows
				block = 2 * (block - blocks)
			}
			x := rng.NormFloat64()
			if moves {
				x += float64(block) / 10
			}
			centre := 1.5 * map[bool]float64{true: 1}[moves]
			y := int32(0)
			if slope := 1 - 2*map[bool]float64{true: 1}[turn && block >= blocks/2]; rng.Float64() < .5+.1*slope*(x-centre) {
				y = 1
			}
			k.Block, k.Data.X, k.Data.Label = append(k.Block, block), append(k.Data.X, float32(x), rng.Float32()),
				append(k.Data.Label, y)
		}
		lists, err := rider(t.Context(), k)
		demand.NoError(t, err)
		late, even := 0., 0.
		for i, w := range lists[0] {
			w *= n / floats.Sum(lists[0])
			if k.Block[i] >= blocks/2 {
				late += w / n
			}
			if k.Block[i]%2 == 0 {
				even += w / n
			}
		}
		if !turn && !moves && math.Abs(even-2./3) > .04 {
			t.Errorf("the larger blocks, two thirds of the rows, have %v of the weight", even)
		}
		return late
	}
	for _, c := range []struct {
		turn, moves bool
		low, high   float64
	}{{false, false, .47, .56}, {true, false, .9, 1}, {false, true, .47, .62}} {
		if share := shares(c.turn, c.moves); share < c.low || share > c.high {
			t.Errorf("turn %v, x moves %v: the later half has %v of the weight", c.turn, c.moves, share)
		}
	}
}
