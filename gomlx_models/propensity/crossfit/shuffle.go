package crossfit

import (
	"math"

	"tvps/data/random"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// feature is a function of the rows that is tested.
type feature struct {
	column int                               // that it belongs to; -1: none
	sum    func(s *shuffled, sums []float64) // adds its values to sums, by time
}

// shuffled is a shuffle of the parts.
type shuffled struct {
	moved   []run     // to other places; where shuffles change signs they are as flipped
	flipped []run     // at their own places, with the sign of their chunk
	sign    []float64 // of each chunk
	value   []float64 // of a feature that each shuffle computes, by place
}

// run has neighbouring parts, from..to-1, which come to neighbouring places of one time, and their sign.
type run struct {
	from, to, time int
	sign           float64
}

// features are those of scores.
func features(list []score) []feature {
	var out []feature
	for _, s := range list {
		out = append(out, feature{s.column, moved(s.below)})
	}
	return out
}

// moved sums values that move with the parts. below: of sumsBelow.
func moved(below []float64) func(s *shuffled, sums []float64) {
	return func(s *shuffled, sums []float64) { addRuns(sums, s.moved, below) }
}

// addRuns adds the values of runs to the sums of their times: a run costs a difference, however long it is.
func addRuns(sums []float64, runs []run, below []float64) {
	for _, r := range runs {
		sums[r.time] += r.sign * (below[r.to] - below[r.from])
	}
}

// addTo adds values to the sums of their times. value: by place.
func (t *tester) addTo(sums, value []float64) {
	for i, x := range value {
		sums[t.state[i]] += x
	}
}

// sumsBelow are the sums of the values before each, and of all.
func sumsBelow(v []float64) []float64 {
	return append([]float64{0}, floats.CumSum(make([]float64, len(v)), v)...)
}

// sizes are the statistics of shuffle p, none for 0.
func (t *tester) sizes(list []feature, p int) []float64 {
	s, sums := t.shuffle(p), mat.NewDense(len(list), len(t.share), nil)
	for f, feature := range list {
		feature.sum(s, sums.RawRowView(f))
	}
	if p == 0 {
		sums.Scale(t.edges, sums)
	}
	out := make([]float64, len(list)*len(t.views))
	for at, view := range t.views {
		product := sums
		if view.code != nil {
			product = &mat.Dense{}
			product.Mul(sums, view.code)
		}
		for f := range list {
			for k, x := range product.RawRowView(f) {
				scale := 1.
				if view.code == nil {
					scale = 1 / (t.share[k] * float64(t.parts))
				}
				out[f*len(t.views)+at] += scale * x * x
			}
		}
	}
	for i := range out {
		out[i] = math.Cbrt(out[i])
	}
	return out
}

// shuffle puts the chunks of each entity in random order, and gives each a random sign; for p = 0 they stay.
func (t *tester) shuffle(p int) *shuffled {
	s, rng := &shuffled{value: make([]float64, t.parts)}, random.New(t.seed, "shuffle", p)
	for e, first := range t.entity[:len(t.entity)-1] {
		order := rng.Perm(t.entity[e+1] - first)
		if p == 0 {
			order = xslices.Iota(0, len(order))
		}
		place := t.begin[first]
		for c := range order {
			from, sign := first+order[c], 1.
			for i := t.begin[from]; i < t.begin[from+1]; i++ {
				s.moved = addPart(s.moved, i, t.state[place], 1)
				place++
			}
			if p > 0 {
				sign -= 2 * float64(rng.IntN(2))
			}
			s.sign = append(s.sign, sign)
			for i := t.begin[first+c]; i < t.begin[first+c+1]; i++ {
				s.flipped = addPart(s.flipped, i, t.state[i], sign)
			}
		}
	}
	if t.flips {
		s.moved = s.flipped
	}
	return s
}

// addPart appends a part, to the last run if it continues it.
func addPart(runs []run, part, time int, sign float64) []run {
	last := len(runs) - 1
	if last >= 0 && runs[last].to == part && runs[last].time == time && runs[last].sign == sign {
		runs[last].to++
		return runs
	}
	return append(runs, run{part, part + 1, time, sign})
}
