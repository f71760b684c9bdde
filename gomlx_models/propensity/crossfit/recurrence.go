package crossfit

import (
	"math"
	"slices"
)

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

// clear takes from values, of the rows at some places in time order, what phases tell of them, and returns the means of
// times.
func (r *recurrence) clear(v []float64, places []int) []float64 {
	mean, count := make([]float64, len(r.rows)), make([]float64, len(r.rows))
	for i, x := range v {
		mean[r.state[places[i]]] += x
		count[r.state[places[i]]]++
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
			v[i] -= effect[best.of[r.state[places[i]]]]
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
	median := (first[(len(first)-1)/2] + first[len(first)/2]) / 2
	rho := (median + 1./timeWindow) / (1 - 3./timeWindow)     // as the mean was subtracted (Marriott and Pope 1954)
	noise := 1.25 / math.Sqrt(float64(len(first)*timeWindow)) // of a median
	if rho < noise*(1+math.Sqrt(2*math.Log(1+float64(r.scores)))) {
		return 1
	}
	rho = min(rho, .95)
	return 1 + perTime*(1+rho)/(1-rho)
}

// centre takes from values, of the rows at some places, their mean; that of each entity.
func (r *recurrence) centre(v []float64, places []int) {
	if r.group == nil {
		centre(v)
		return
	}
	for from := 0; from < len(v); {
		to := from
		for to < len(v) && r.group[places[to]] == r.group[places[from]] {
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
