package crossfit

import (
	"math"
	"slices"

	"tvps/data/statistics"
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

// columnScores are the scores of the columns of x. at: the rows in time order.
func columnScores(d Table, at []int, r *recurrence) []score {
	every := max(1, min(len(at)/leastRanked, len(at)*d.Dim/mostRanked))
	return scores(len(at), d.Dim, every, r, func(i, column int) float64 { return float64(d.X[at[i]*d.Dim+column]) })
}

// outcomeScores are those of y: of each class, or of the number.
func outcomeScores(d Table, at []int, r *recurrence) []score {
	if !d.HasY() {
		return nil
	}
	return scores(len(at), max(1, d.Classes), 1, r, func(i, class int) float64 { return d.outcome(at[i], class) })
}

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

// scores are those of columns, of every so many of n rows.
func scores(n, columns, every int, r *recurrence, of func(i, column int) float64) (out []score) {
	value := make([]float64, 0, n/every+1)
	for j := range columns {
		value = value[:0]
		for i := 0; i < n; i += every {
			value = append(value, of(i, j))
		}
		out = append(out, scoresOf(j, value, every, r)...)
	}
	return out
}

// scoresOf are the ranks of a column, and their squared distances from the middle, which tell a change of spread; of
// two values only the first, and of one none. every: rows of the table for each value.
func scoresOf(column int, value []float64, every int, r *recurrence) []score {
	rank, distinct := ranks(value)
	if distinct < 2 {
		return nil
	}
	r.centre(rank, every)
	out := []score{newScore(column, rank, every, r)}
	if distinct > 2 {
		for i, v := range rank {
			rank[i] = v * v
		}
		r.centre(rank, every)
		out = append(out, newScore(column, rank, every, r))
	}
	return out
}

// newScore condenses the values v, which have mean 0.
func newScore(column int, v []float64, every int, r *recurrence) score {
	fine := partMeans(v, min(mostParts, len(v)))
	s := score{column: column, every: float64(every), below: sumsBelow(fine)}
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
	means := r.clear(v, every)
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

// recurrence knows the times of rows, and the phases of cycles, which are no dependence.
type recurrence struct {
	state  []int     // time of each row, in time order
	rows   []float64 // of each time
	scores int       // that are asked, at most
	group  []int32   // entity of each row; nil: there are none
	phases [][]phase // of the cycles that are looked for one at a time, of which the strongest counts
}

// phase is that of each time, of so many.
type phase struct {
	of    []int
	count int
}

// phasesDiffer is the F statistic from which phases are taken to differ. There are at most finePhases, so that within
// five days of the year little is left of a season, and timesOfPhase times of each; otherwise mostPhases.
const phasesDiffer, finePhases, timesOfPhase = 4, 73, 4

// newRecurrence takes calendar's cycles each for itself, and others together.
func newRecurrence(state []int, times []float64, calendar, others []Cycle) *recurrence {
	r := &recurrence{state: state, rows: make([]float64, len(times))}
	for _, s := range state {
		r.rows[s]++
	}
	phases := func(c Cycle) (p phase) {
		for _, parts := range []int{1e4, finePhases, mostPhases} {
			seen := map[int]int{}
			p.of = p.of[:0]
			for _, t := range times {
				at := c.part(t, parts)
				if seen[at] == 0 {
					seen[at] = len(seen) + 1
				}
				p.of = append(p.of, seen[at]-1)
			}
			if p.count = len(seen); p.count <= finePhases && p.count*timesOfPhase <= len(times) {
				break
			}
		}
		return p
	}
	for _, c := range calendar {
		r.phases = append(r.phases, []phase{phases(c)})
	}
	var together []phase
	for _, c := range others {
		together = append(together, phases(c))
	}
	r.phases = append(r.phases, together)
	return r
}

// Windows of times, in which the means of neighbouring times are compared, and the least number of times. If the means
// vary mostBetween times as much as those of independent rows, all rows of a time have something in common: then the
// times differ, and that is drift.
const timeWindow, leastTimes, mostBetween = 16, 3 * timeWindow, 1.2

// clear takes from values, of every so many rows in time order, what phases tell of them, and returns the means of
// times.
func (r *recurrence) clear(v []float64, every int) []float64 {
	mean, count := make([]float64, len(r.rows)), make([]float64, len(r.rows))
	for i, x := range v {
		mean[r.state[i*every]] += x
		count[r.state[i*every]]++
	}
	for s := range mean {
		mean[s] /= max(1, count[s])
	}
	for _, list := range r.phases {
		var best phase
		strongest := phasesDiffer * 1.
		for _, p := range list {
			if f := p.recurs(mean, count); f > strongest {
				best, strongest = p, f
			}
		}
		if best.of == nil {
			continue
		}
		effect, _ := best.means(mean, count, 0, len(mean))
		for i := range v {
			v[i] -= effect[best.of[r.state[i*every]]]
		}
		for s := range mean {
			mean[s] -= effect[best.of[s]]
		}
	}
	return mean
}

// ofTime is the autocorrelation time of the means of times, in rows: of entities that depend on their own past,
// neighbouring rows do not tell it.
func (r *recurrence) ofTime(v, mean []float64, slow func(u float64) float64) float64 {
	perTime := float64(len(r.state)) / float64(len(mean))
	if len(mean) < leastTimes || perTime < 2 || r.group != nil {
		return 1
	}
	var first []float64 // autocorrelations
	between, all := 0., 0.
	for from := 0; from+timeWindow <= len(mean); from += timeWindow {
		part := slices.Clone(mean[from : from+timeWindow])
		same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if len(slices.CompactFunc(slices.Sorted(slices.Values(part)), same)) < timeWindow/2 {
			continue // a rare level, of which slow waves leave something smooth
		}
		for i := range part {
			part[i] -= slow((float64(from+i) + .5) / float64(len(mean)))
		}
		centre(part)
		product, square := 0., 0.
		for i, x := range part {
			square += x * x
			if i > 0 {
				product += x * part[i-1]
			}
		}
		if between += square / (timeWindow - 1); square > 0 {
			first = append(first, product/square)
		}
	}
	for _, x := range v {
		all += x * x / float64(len(v))
	}
	if len(first) == 0 || between/float64(len(first))*perTime > mostBetween*all {
		return 1
	}
	slices.Sort(first)
	rho := (first[len(first)/2] + 1./timeWindow) / (1 - 3./timeWindow) // as the mean was subtracted (Marriott and Pope 1954)
	if rho < (1+math.Sqrt(2*math.Log(1+float64(r.scores))))/math.Sqrt(float64(len(first)*timeWindow)) {
		return 1
	}
	rho = min(rho, .95)
	return 1 + perTime*(1+rho)/(1-rho)
}

// centre takes from values, of every so many rows, their mean; that of each entity.
func (r *recurrence) centre(v []float64, every int) {
	if r.group == nil {
		centre(v)
		return
	}
	for from := 0; from < len(v); {
		to := from
		for to < len(v) && r.group[to*every] == r.group[from*every] {
			to++
		}
		centre(v[from:to])
		from = to
	}
}

// recurs is the F statistic of the differences of phases among the means of times: the smaller one of both halves of
// the times, as what happens in one of them does not recur.
func (p phase) recurs(mean, count []float64) float64 {
	half := len(mean) / 2
	_, before := p.means(mean, count, 0, half)
	_, after := p.means(mean, count, half, len(mean))
	return min(before, after)
}

// means are those of each phase in the times from..to-1, with the F statistic of their differences.
func (p phase) means(mean, count []float64, from, to int) (effect []float64, f float64) {
	effect, n := make([]float64, p.count), make([]float64, p.count)
	total, all, between := 0., 0., 0.
	for s := from; s < to; s++ {
		at := p.of[s]
		effect[at] += count[s] * mean[s]
		n[at] += count[s]
		total, all = total+count[s]*mean[s]*mean[s], all+count[s]*mean[s]
	}
	rows := 0.
	for at := range effect {
		if n[at] > 0 {
			between += effect[at] * effect[at] / n[at]
			rows += n[at]
			effect[at] /= n[at]
		}
	}
	free := float64(to - from - p.count)
	if free <= 0 || p.count < 2 {
		return effect, 0
	}
	return effect, ((between - all*all/rows) / float64(p.count-1)) / (max(total-between, 1e-12*total) / free)
}
