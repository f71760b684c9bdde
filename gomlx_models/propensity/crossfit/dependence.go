package crossfit

import (
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/data/statistics"

	"github.com/gomlx/gomlx/support/xslices"
)

// score is a number for each row in time order, of mean 0, condensed to what tests need.
type score struct {
	column  int
	below   []float64   // sums over the parts before each part, see tester, of the means of the parts
	stretch [][]float64 // up to a dozen of contiguous values, of mean 0, that tell how rows depend
	every   float64     // rows of the table for each value
	ofTime  float64     // dependence of the means of times, in rows
}

// Bounds of the tests: parts of rows, and values that are ranked.
const mostParts, leastRanked, mostRanked = 6000, mostParts, 4 << 20

// waves is the number of cosines, of 1/2 to 8 periods over the time, to which columns are compared.
const waves = 16

// columnScores are the scores of the columns of x, of one row of every so many. at: the rows in time order.
func columnScores(d Table, at []int, r *recurrence, rng *rand.Rand) []score {
	every := max(1, min(len(at)/leastRanked, len(at)*d.Dim/mostRanked))
	places := random.Spread(rng, len(at), len(at)/every)
	return scores(places, d.Dim, r, func(i, column int) float64 { return float64(d.X[at[i]*d.Dim+column]) })
}

// outcomeScores are those of y: of each class, or of the number. A class of fewer than leastOfClass rows has none: the
// first row of a new class is no drift.
func outcomeScores(d Table, at []int, r *recurrence) []score {
	if !d.HasY() {
		return nil
	}
	rows := map[int32]int{}
	for _, class := range d.Label {
		rows[class]++
	}
	places := xslices.Iota(0, len(at))
	list := scores(places, max(1, d.Classes), r, func(i, class int) float64 { return d.outcome(at[i], class) })
	return slices.DeleteFunc(list, func(s score) bool { return d.Target == nil && rows[int32(s.column)] < leastOfClass })
}

const leastOfClass = 5

// outcome is y of a row: the number, or whether it has the class.
func (d Table) outcome(row, class int) float64 {
	y := d.Y(row)
	switch {
	case d.Target != nil:
		return y
	case int(y) == class:
		return 1
	}
	return 0
}

// scores are those of columns, of the rows at some places, ascending.
func scores(places []int, columns int, r *recurrence, of func(i, column int) float64) (out []score) {
	value := make([]float64, len(places))
	for j := range columns {
		for k, i := range places {
			value[k] = of(i, j)
		}
		out = append(out, scoresOf(j, value, places, r)...)
	}
	return out
}

// scoresOf are the ranks of a column, and their squared distances from the middle, which tell a change of spread; of
// two values only the first, and of one none. places: of the values' rows.
func scoresOf(column int, value []float64, places []int, r *recurrence) []score {
	rank, distinct := ranks(value)
	if distinct < 2 {
		return nil
	}
	r.centre(rank, places)
	out := []score{newScore(column, rank, places, r)}
	if distinct > 2 {
		for i, v := range rank {
			rank[i] = v * v
		}
		r.centre(rank, places)
		out = append(out, newScore(column, rank, places, r))
	}
	return out
}

// newScore condenses the values v, which have mean 0.
func newScore(column int, v []float64, places []int, r *recurrence) score {
	fine := partMeans(v, min(mostParts, len(v)))
	s := score{column: column, every: float64(len(r.state)) / float64(len(v)), below: sumsBelow(fine)}
	slow := slowWaves(fine)
	all, rest := 0., 0.
	for i, x := range fine {
		e := x - slow((float64(i)+.5)/float64(len(fine)))
		all, rest = all+x*x, rest+e*e
	}
	if rest < functionOfTime*all {
		return s
	}
	v = slices.Clone(v)
	means := r.clear(v, places)
	slow = slowWaves(partMeans(v, len(fine))) // of a season waves of up to four periods tell a part
	s.ofTime = r.ofTime(v, means, slow)
	size := min(mostStretch, len(v)/stretches)
	flat := func(from int) bool { return size == 0 || slices.Min(v[from:][:size]) == slices.Max(v[from:][:size]) }
	var levels []float64
	for k := range stretches {
		if from := len(v) * k / stretches; flat(from) {
			levels = append(levels, v[from])
		}
	}
	few := len(slices.Compact(levels)) <= 2 // a rare level, or one that begins, ends or changes once
	for k := range stretches {
		from := len(v) * k / stretches
		if few && flat(from) {
			continue // what slow waves leave of it is smooth, and no dependence
		}
		part := slices.Clone(v[from:][:size])
		for i := range part {
			part[i] -= slow((float64(from+i) + .5) / float64(len(v)))
		}
		centre(part)
		s.stretch = append(s.stretch, part)
	}
	if len(s.stretch) < leastStretches {
		s.stretch = nil
	}
	return s
}

func centre(v []float64) {
	m := mean(v)
	for i := range v {
		v[i] -= m
	}
}

// ranks are the mean ranks of the values, from 0 to 1, and how many values differ. Two values are not sorted.
func ranks(value []float64) (rank []float64, distinct int) {
	low, high := slices.Min(value), slices.Max(value)
	if !slices.ContainsFunc(value, func(v float64) bool { return v != low && v != high }) {
		rank = make([]float64, len(value))
		for i, v := range value {
			if v != low {
				rank[i] = 1
			}
		}
		return rank, min(2, 1+int(math.Ceil(high-low)))
	}
	rank, distinct = statistics.MeanRanks(value)
	for i := range rank {
		rank[i] /= float64(len(rank))
	}
	return rank, distinct
}

// partMeans are the means of so many contiguous parts.
func partMeans(v []float64, parts int) []float64 {
	out := make([]float64, parts)
	for k := range out {
		from, to := len(v)*k/parts, len(v)*(k+1)/parts
		for _, x := range v[from:to] {
			out[k] += x / float64(to-from)
		}
	}
	return out
}

// slowWaves are the cosines of 1/2 to 4 periods over the time, from 0 to 1, that fit a score best.
func slowWaves(fine []float64) func(u float64) float64 {
	var size [waves / 2]float64
	for k := range size {
		for i, v := range fine {
			u := (float64(i) + .5) / float64(len(fine))
			size[k] += 2 * v * math.Cos(math.Pi*float64(k+1)*u) / float64(len(fine))
		}
	}
	return func(u float64) (sum float64) {
		for k, s := range size {
			sum += s * math.Cos(math.Pi*float64(k+1)*u)
		}
		return sum
	}
}

// Stretches of a score, in which the autocorrelation is measured, the least number of them that are not flat, and their
// largest number of values. A score of which slow waves leave so small a share, such as the number of the row, tells
// the time, and not how rows depend.
const stretches, leastStretches, mostStretch, functionOfTime = 12, 3, 500, 5e-3

// dependence is the autocorrelation time of one of so many scores: 1 + 2 sum_h rho(h). rho(h) is the median over
// stretches of the autocorrelation inside of a stretch, without slow waves: a slow drift, or a sudden one in one of
// them, is no dependence. Stretches of zeros take no part. The sum ends where rho falls below what the largest of so
// many scores without dependence has.
func (s *score) dependence(scores int) float64 {
	if s.stretch == nil {
		return 1
	}
	n := len(s.stretch[0])
	time := 1.
	for h := 1; h <= n/3; h++ {
		var rho []float64
		for _, v := range s.stretch {
			product, square := 0., 0.
			for i, x := range v {
				square += x * x
				if i >= h {
					product += x * v[i-h]
				}
			}
			if square > 0 {
				rho = append(rho, product/square*float64(n)/float64(n-h)+time/float64(n)) // as the mean was subtracted
			}
		}
		slices.Sort(rho)
		noise := 1.25 / math.Sqrt(float64(len(rho)*n)) * math.Sqrt(2*math.Log(1+float64(scores)))
		if len(rho) == 0 || rho[len(rho)/2] < max(.02, noise) {
			break
		}
		time += 2 * rho[len(rho)/2]
	}
	return 1 + s.every*(time-1)
}
