package crossfit

import (
	"cmp"
	"math"
	"slices"

	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// mostPaired bounds the columns of which products are tested, and mostPairedBase those with products among the
// functions of x that rule takes away.
const mostPaired, mostPairedBase = 24, 8

// numbers are the normal scores of the columns of x, of one row for each part: [columns][parts]. Of many columns they
// are those that vary most.
func (t *tester) numbers(d Table, rows *sortedRows) [][]float64 {
	width := len(rows.x) / len(d.Time)
	out := make([][]float64, width)
	for j := range out {
		for _, at := range t.row {
			out[j] = append(out[j], float64(rows.x[t.at[at]*width+j]))
		}
		centre(out[j])
	}
	square := func(v []float64) (sum float64) {
		for _, x := range v {
			sum += x * x
		}
		return sum
	}
	out = slices.DeleteFunc(out, func(v []float64) bool { return square(v) < 1e-9 })
	slices.SortStableFunc(out, func(a, b []float64) int { return cmp.Compare(square(b), square(a)) })
	return out[:min(len(out), mostPaired)]
}

// pairs are the features of x that test it as a whole.
func (t *tester) pairs(numbers [][]float64) []feature {
	out := features(t.x)
	for _, v := range products(numbers) {
		t.centre(v)
		out = append(out, feature{-1, moved(sumsBelow(v))})
	}
	for i := range out {
		out[i].column = -1
	}
	return out
}

// rule are the features of y given x. A regression on functions of x leaves residuals of y, divided by their local
// standard deviation; a shuffle moves them among the parts, while x stays at its time. Features are the residuals, for
// a number also their squares, and their products with the columns, each less its regression on the functions of x, and
// divided by its norm (Freedman and Lane 1983). That takes from the time what they tell of it: so neither a drift of x
// nor a regression that misses the shape of y is taken for a drift of y given x, unless the functions tell neither
// (Shah and Peters 2020).
//
// Products with those of two of few columns find a rule that turns where no column alone tells of y. They vary so
// differently over x that a residual must stay at its place: shuffles change signs of chunks of them (the wild
// bootstrap; Wu 1986). Of few chunks that finds less than moving them, so the other features are moved.
func (t *tester) rule(d Table, numbers [][]float64) []feature {
	var pairs [][]float64
	if len(numbers) <= mostPairedBase {
		pairs = products(numbers)
	}
	base := basis(numbers, pairs, t.parts)
	ofTimes := make([][]float64, len(base)) // sums of the functions at each time
	for k, u := range base {
		ofTimes[k] = make([]float64, len(t.share))
		t.addTo(ofTimes[k], u)
	}
	// residual makes sums of a value by time those of its residual, divided by its norm: a shuffled residual has a part
	// that the functions tell, which of few rows is large, and the real one has none. square, product: of the value.
	residual := func(sums []float64, square float64, product func(k int) float64) {
		for k := range base {
			size := product(k)
			floats.AddScaled(sums, -size, ofTimes[k])
			square -= size * size
		}
		floats.Scale(1/math.Sqrt(max(square, 1e-12)), sums)
	}
	var list []feature
	move := func(e, times []float64) {
		list = append(list, feature{-1, func(s *shuffled, sums []float64) {
			place := 0
			for _, r := range s.moved {
				for _, v := range e[r.from:r.to] {
					if s.value[place] = r.sign * v; times != nil {
						s.value[place] *= times[place]
					}
					place++
				}
			}
			if d.Group != nil { // the mean of a product is that of an entity's slope
				t.centre(s.value)
			}
			t.addTo(sums, s.value)
			residual(sums, floats.Dot(s.value, s.value), func(k int) float64 { return floats.Dot(base[k], s.value) })
		}})
	}
	flip := func(value []float64) {
		if d.Group != nil {
			t.centre(value)
		}
		all := floats.Dot(value, value)
		below, ofChunks := sumsBelow(value), make([][]float64, len(base)) // products with the functions, by chunk
		for k, u := range base {
			products := sumsBelow(floats.MulTo(make([]float64, len(u)), u, value))
			for c, from := range t.begin[:len(t.begin)-1] {
				ofChunks[k] = append(ofChunks[k], products[t.begin[c+1]]-products[from])
			}
		}
		list = append(list, feature{-1, func(s *shuffled, sums []float64) {
			addRuns(sums, s.flipped, below)
			residual(sums, all, func(k int) float64 { return floats.Dot(s.sign, ofChunks[k]) })
		}})
	}
	within := t.within(numbers)
	for _, y := range t.outcomes(d) {
		square, before := make([]float64, len(y)), floats.Norm(y, 2)
		base.residual(y)
		for range sweeps {
			t.centre(y)
			for _, x := range within {
				t.flatten(y, x, slopeParts*len(numbers))
			}
			base.residual(y)
		}
		if floats.Norm(y, 2) < 1e-6*before {
			continue // x tells y exactly, and what is left is rounding
		}
		floats.MulTo(square, y, y)
		local, mean := slices.Clone(square), mean(square)
		base.residual(local)
		for i := range y {
			y[i] /= math.Sqrt(max(square[i]-local[i], mean/10) + 1e-12)
		}
		move(y, nil)
		if d.Target != nil {
			square := floats.MulTo(make([]float64, len(y)), y, y)
			t.centre(square)
			move(square, nil)
		}
		for _, x := range numbers {
			move(y, x)
		}
		for _, x := range pairs {
			flip(floats.MulTo(make([]float64, len(y)), y, x))
		}
	}
	return list
}

// sweeps take the levels and slopes of entities and the functions of x from y in turn, until none has more to take. An
// entity of fewer than slopeParts parts for each column has no slopes.
const sweeps, slopeParts = 20, 10

// centre takes from values, by part, the mean of each entity: its level does not drift, and shuffles do not move it.
func (t *tester) centre(v []float64) {
	for e, first := range t.entity[:len(t.entity)-1] {
		centre(v[t.begin[first]:t.begin[t.entity[e+1]]])
	}
}

// within are columns of x without the mean of each entity; none without entities.
func (t *tester) within(numbers [][]float64) [][]float64 {
	if len(t.entity) == 2 {
		return nil
	}
	out := make([][]float64, len(numbers))
	for k, x := range numbers {
		out[k] = slices.Clone(x)
		t.centre(out[k])
	}
	return out
}

// flatten takes from y the slope of each entity of at least so many parts on a column of [tester.within], as slopes do
// not drift.
func (t *tester) flatten(y, x []float64, parts int) {
	for e, first := range t.entity[:len(t.entity)-1] {
		from, to := t.begin[first], t.begin[t.entity[e+1]]
		if u := x[from:to]; len(u) >= parts {
			floats.AddScaled(y[from:to], -floats.Dot(u, y[from:to])/max(floats.Dot(u, u), 1e-9), u)
		}
	}
}

// MostApart is the number of classes that [Table.Joined] tells apart.
const MostApart = 20

// Joined is the table in which all classes but the MostApart most frequent are one, which is the last. Tests whose work
// grows with the classes compare these.
func (d Table) Joined() Table {
	if d.Classes <= MostApart {
		return d
	}
	counts, of := make([]int, d.Classes), slices.Repeat([]int32{MostApart}, d.Classes)
	for _, class := range d.Label {
		counts[class]++
	}
	order := xslices.Iota(0, d.Classes)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	for i, class := range order[:MostApart] {
		of[class] = int32(i)
	}
	d.Label = xslices.Map(d.Label, func(class int32) int32 { return of[class] })
	d.Classes = MostApart + 1
	return d
}

// outcomes are the number, as its normal score, or whether a row has a class, of one row for each part.
func (t *tester) outcomes(d Table) (out [][]float64) {
	d = d.Joined()
	for class := range max(1, d.Classes-1) {
		y := make([]float64, len(t.row))
		for i, at := range t.row {
			y[i] = d.outcome(t.at[at], class)
		}
		if d.Target != nil {
			scores := propensity.NormalScores(slices.Clone(y), 1e-12)
			for i := range y {
				y[i] = scores.Of(y[i])
			}
		}
		out = append(out, y)
	}
	return out
}

// orthonormal is a list of orthonormal columns.
type orthonormal [][]float64

// basis has the functions of x: a constant, each column, its square and cube, and pairs, products of two columns.
func basis(numbers, pairs [][]float64, n int) orthonormal {
	one := slices.Repeat([]float64{1}, n)
	out := orthonormal{}
	out.add(one)
	for _, x := range numbers {
		out.add(x)
		square := floats.MulTo(make([]float64, n), x, x)
		out.add(square)
		out.add(floats.MulTo(make([]float64, n), square, x))
	}
	for _, x := range pairs {
		out.add(x)
	}
	return out
}

// products are those of two columns.
func products(numbers [][]float64) (out [][]float64) {
	for j, x := range numbers {
		for _, other := range numbers[:j] {
			out = append(out, floats.MulTo(make([]float64, len(x)), x, other))
		}
	}
	return out
}

// add appends what is new in a column.
func (b *orthonormal) add(column []float64) {
	v := slices.Clone(column)
	before := floats.Norm(v, 2)
	b.residual(v)
	b.residual(v) // again, for rounding
	if norm := floats.Norm(v, 2); norm > 1e-6*before {
		floats.Scale(1/norm, v)
		*b = append(*b, v)
	}
}

// residual takes away what the columns tell of v.
func (b orthonormal) residual(v []float64) {
	for _, u := range b {
		floats.AddScaled(v, -floats.Dot(u, v), u)
	}
}
