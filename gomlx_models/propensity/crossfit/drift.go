package crossfit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity"

	"gonum.org/v1/gonum/stat"
)

// Drift says whether rows drift, by tests against rows that do not.
type Drift struct {
	// Columns tests each column of x by itself, which finds a weak drift of one among many.
	Columns *ColumnTest
	// Score tests all columns together, and products of two, which find a correlation that changes.
	Score *ColumnTest
	// Outcome tests y by itself: its classes, or the number. Rule tests y given x. Both are nil without y.
	Outcome, Rule *ColumnTest
	// Dependence is the autocorrelation time of the rows in time order: 1 if they do not depend on their neighbours.
	Dependence float64
	OfX        []float64 // likewise of each column of x; Dependence is the largest
	OfY        float64
	Chunks     int // of contiguous rows, which shuffles move: fewer, the larger Dependence is
}

// ColumnTest tests columns for drift.
type ColumnTest struct {
	P float64 // that of the strongest column, corrected for their number and that of the views
	// Adjusted is P corrected for all tests of the Drift, which share their shuffles.
	Adjusted float64
	View     string    // how the time is seen where it is strongest: the name of a View
	Also     string    // the strongest View among those that tell nothing of what View tells; "": none
	AlsoP    float64   // as Adjusted, of Also
	Column   []float64 // of each column, likewise
	Size     []float64 // of each column the statistic, in standard deviations of the largest shuffled ones
	largest  []float64 // statistic of all columns: the real one, and that of each shuffle
}

const leastPermutations = 2 // of which one can tell how they vary

// FindDrift tests for drift. Of the settings it reads Permutations, the number of shuffles, at least 2. Errors: those
// of Fit, and fewer shuffles.
func FindDrift(ctx context.Context, d Table, cfg Config, seed int64) (*Drift, error) {
	if cfg.Permutations < leastPermutations {
		return nil, fmt.Errorf("crossfit: permutations is %d; tests need at least %d", cfg.Permutations, leastPermutations)
	}
	o, rows, err := prepare(d, cfg)
	if err != nil {
		return nil, err
	}
	t := newTester(d, rows, o.cycles, periods(d.Unit, rows.times), cfg.Permutations, seed)
	found := &Drift{Dependence: t.dependence, OfX: t.ofX, OfY: t.ofY, Chunks: t.chunks}
	found.Columns = t.test(ctx, features(t.x), d.Dim)
	numbers := t.numbers(d, rows)
	found.Score = t.test(ctx, t.pairs(numbers), 0)
	if d.HasY() {
		found.Outcome = t.test(ctx, features(t.y), max(1, d.Classes))
		found.Rule = t.test(ctx, t.rule(d, numbers), 0)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found.adjust()
	return found, nil
}

// adjust corrects the p-values for the number of tests, step by step from the strongest one: each is compared with the
// largest shuffled statistics of those that are not stronger (Westfall and Young 1993). That allows for how they depend
// on each other.
func (d *Drift) adjust() {
	tests := slices.DeleteFunc([]*ColumnTest{d.Columns, d.Score, d.Outcome, d.Rule}, func(t *ColumnTest) bool {
		return t == nil || t.largest == nil // of nothing
	})
	for _, t := range tests {
		mean, spread := stat.MeanStdDev(t.largest, nil)
		for i := range t.largest {
			t.largest[i] = (t.largest[i] - mean) / max(spread, 1e-12)
		}
	}
	slices.SortFunc(tests, func(a, b *ColumnTest) int { return cmp.Compare(b.largest[0], a.largest[0]) })
	least := 0.
	for i, t := range tests {
		shuffled := slices.Clone(t.largest[1:])
		for _, other := range tests[i+1:] {
			for p, z := range other.largest[1:] {
				shuffled[p] = max(shuffled[p], z)
			}
		}
		least = max(least, t.P, tail(t.largest[0], shuffled))
		t.Adjusted = least
		more := least / t.P
		t.AlsoP = min(1, t.AlsoP*more)
		for j, p := range t.Column {
			t.Column[j] = min(1, p*more)
		}
	}
}

// periodShuffles are made to find the period of plain numbers.
const periodShuffles = 39

// strongest is the cycle by which the columns of x and y differ most from shuffled times.
func strongest(ctx context.Context, d Table, rows *sortedRows, cycles []Cycle, seed int64) Cycle {
	t := newTester(d, rows, nil, cycles, periodShuffles, seed)
	t.views = t.views[len(t.views)-len(cycles):]
	found := t.test(ctx, features(slices.Concat(t.x, t.y)), 0)
	return cycles[max(0, slices.IndexFunc(cycles, func(c Cycle) bool { return c.Name == found.View }))]
}

// test compares features with the views of the time. The statistic of a feature in a view is
//
//	sum_k (sum_i f_i c_ik)^2,
//
// where c_ik is value k of the code of the time of place i; its third root is nearly normal, and is standardised by
// the shuffled ones. A column has the largest of its features and views, and so have all columns together: the same
// shuffles of all correct for their numbers, however they depend on each other (Westfall and Young 1993). Without
// columns the sum over all features in a view takes part, as much as a single feature.
func (t *tester) test(ctx context.Context, list []feature, columns int) *ColumnTest {
	out := &ColumnTest{P: 1, AlsoP: 1, Column: slices.Repeat([]float64{1}, columns), Size: slices.Repeat([]float64{math.Inf(-1)}, columns)}
	if len(list) == 0 {
		out.Adjusted = 1
		return out
	}
	v := len(t.views)
	sizes := make([][]float64, t.shuffles+1) // the first are the real ones: [features * views]
	propensity.Parallel(len(sizes), func(p int) {
		if ctx.Err() != nil {
			return
		}
		sizes[p] = t.sizes(list, p)
	})
	if ctx.Err() != nil {
		return out
	}
	real := slices.Clone(sizes[0])
	means, spreads := standardise(sizes)
	if columns == 0 {
		for p, size := range sizes {
			sums := make([]float64, v)
			for i, z := range size {
				sums[i%v] += z
			}
			sizes[p] = append(size, sums...)
		}
		standardise(sizes)
	}
	t.equalise(sizes)
	for _, size := range sizes {
		out.largest = append(out.largest, slices.Max(size))
	}
	largest := out.largest[1:]
	strongest, best := math.Inf(-1), 0
	for i, z := range sizes[0] {
		if z > strongest {
			strongest, best = z, i
		}
		if f := i / v; f < len(list) && columns > 0 {
			out.Size[list[f].column] = max(out.Size[list[f].column], z)
		}
	}
	var of []int // features of the strongest column, or all
	for f := range list {
		if columns == 0 || list[f].column == list[best/v].column {
			of = append(of, f*v)
		}
	}
	out.P, out.View = tail(strongest, largest), t.views[t.shortest(best%v, of, real, means, spreads)].name
	if also := t.also(best%v, sizes[0]); also >= 0 {
		out.Also, out.AlsoP = t.views[also%v].name, tail(sizes[0][also], largest)
	}
	for j, z := range out.Size {
		out.Column[j] = tail(z, largest)
	}
	return out
}

// also is where the statistics are largest in views that tell nothing of what view best tells: cycles, if that is slow,
// otherwise slow ones. -1: there is none.
func (t *tester) also(best int, sizes []float64) int {
	fast := func(view int) bool { c := t.views[view].cycle; return c != nil && c.Length*waves <= t.span }
	out := -1
	for i, z := range sizes {
		view := t.views[i%len(t.views)]
		if view.code == nil || view.cycle != nil && view.cycle.Plain || fast(i%len(t.views)) == fast(best) {
			continue // each time by itself tells of all; a period, of its parts and multiples
		}
		if out < 0 || z > sizes[out] {
			out = i
		}
	}
	return out
}

// surplus is by how many standard deviations a period explains more than another if that is no chance.
const surplus = 2

// shortest is the period of plain numbers to be named where that of view best is strongest: of its multiples and parts
// the shortest that explains no less than any of them, apart from what shuffled times have. A period is in its
// multiples, too, and its second harmonic may be stronger than the first. of: where features begin in real, the
// statistics, and in the mean and spread of shuffled ones.
func (t *tester) shortest(best int, of []int, real, mean, spread []float64) int {
	if c := t.views[best].cycle; c == nil || !c.Plain {
		return best
	}
	explains := make([]float64, len(t.views)) // sums of squares, in units of the shuffled ones of best
	var related []int                         // by length
	top := best
	for i, view := range t.views {
		if view.cycle == nil {
			continue
		}
		for _, f := range of {
			explains[i] += math.Pow(real[f+i]/mean[f+best], 3)
		}
		ratio := view.cycle.Length / t.views[best].cycle.Length
		if ratio = max(ratio, 1/ratio); math.Abs(ratio-math.Round(ratio)) < 1e-6 {
			if related = append(related, i); explains[i] > explains[top] {
				top = i
			}
		}
	}
	enough, noise := explains[top], 0.
	for _, f := range of {
		relative := mean[f+top] / mean[f+best]
		enough -= math.Pow(relative, 3)
		noise += math.Pow(3*relative*relative*spread[f+top]/mean[f+best], 2)
	}
	enough -= surplus * math.Sqrt(noise)
	return related[slices.IndexFunc(related, func(i int) bool { return i == top || explains[i] >= enough })]
}

// cyclesBehind is by how many standard deviations cycles have to be larger than trends.
const cyclesBehind = 1

// equalise gives trends and cycles their shares of the level, however many cycles there are: it standardises their
// statistics by the largest ones of each. Cycles have to be cyclesBehind larger, which leaves them a fifth.
func (t *tester) equalise(sizes [][]float64) {
	for _, cycles := range []bool{false, true} {
		var of []int
		behind := 0.
		if cycles {
			behind = cyclesBehind
		}
		for i := range sizes[0] {
			if (t.views[i%len(t.views)].cycle != nil) == cycles {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		largest := make([]float64, len(sizes))
		for p, size := range sizes {
			largest[p] = slices.Max(loop.Pick(size, of))
		}
		mean, spread := stat.MeanStdDev(largest, nil)
		for _, size := range sizes {
			for _, i := range of {
				size[i] = (size[i]-mean)/max(spread, 1e-12) - behind
			}
		}
	}
}

// standardise divides each statistic, less its mean, by its standard deviation, and returns both. They are of the real
// one and the shuffled ones: without drift these are alike, and drift would be called too often if they were treated
// differently. What varies by rounding alone, as sums do of which each time has the same, becomes 0.
func standardise(sizes [][]float64) (means, spreads []float64) {
	column := make([]float64, len(sizes))
	for i := range sizes[0] {
		for p := range column {
			column[p] = sizes[p][i]
		}
		mean, spread := stat.MeanStdDev(column, nil)
		means, spreads = append(means, mean), append(spreads, spread)
	}
	largest := max(slices.Max(means), slices.Max(spreads))
	for _, size := range sizes {
		for i := range size {
			if size[i] -= means[i]; spreads[i] > max(1e-12*math.Abs(means[i]), 1e-9*largest) {
				size[i] /= spreads[i]
			} else {
				size[i] = 0
			}
		}
	}
	return means, spreads
}

// tail is the p-value of a statistic: the share of the shuffled ones that are as large. Beyond all of them it is that
// of the Gumbel distribution, which the largest of many has, with their mean and standard deviation, and at least 1e-6.
func tail(size float64, shuffled []float64) float64 {
	above := 1
	for _, v := range shuffled {
		if v >= size*(1-1e-9) {
			above++
		}
	}
	p := float64(above) / float64(len(shuffled)+1)
	if above > 1 {
		return p
	}
	mean, spread := stat.MeanStdDev(shuffled, nil)
	scale := spread * math.Sqrt(6) / math.Pi
	far := -math.Expm1(-math.Exp(-((size-mean)/scale + .57721566)))
	return min(p, max(far, 1e-6))
}
