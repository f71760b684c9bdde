package crossfit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Drift says whether rows drift, by tests against data that do not. Each P is that of one test alone: who asks several
// questions corrects for their number, as by Holm's procedure.
type Drift struct {
	// Columns tests each column of x by itself, which finds a weak drift of one among many.
	Columns *ColumnTest
	// Score tests all columns together, and products of two, which find a correlation that changes.
	Score *ColumnTest
	// Outcome tests y by itself: its classes, or the number. Rule tests y given x. Both are nil without y.
	Outcome, Rule *ColumnTest
	// Dependence is the autocorrelation time of the rows in time order: 1 if they do not depend on their neighbours.
	Dependence float64
	Chunks     int // of contiguous rows, which shuffles move: fewer, the larger Dependence is
}

// ColumnTest tests columns for drift.
type ColumnTest struct {
	P      float64   // that of the strongest column, corrected for their number and that of the views
	View   string    // how the time is seen where it is strongest: the name of a View
	Column []float64 // of each column, likewise
	Size   []float64 // of each column the statistic, in standard deviations of the shuffled ones
}

// Shuffles move chunks of at least chunkTimes times as many rows as the autocorrelation time less one, but at least
// leastChunks chunks. There are at most fewChunks, or two for each time; twice as long ones are taken where they leave
// fewChunks. From independentRows on the times are not told apart each by itself: that needs even longer chunks.
const chunkTimes, leastChunks, fewChunks, mostChunks, independentRows = 8, 3, 100, 1000, 1.2

// FindDrift tests for drift. Of the settings it reads Permutations, the number of shuffles, at least 2. Errors: those
// of Fit.
func FindDrift(ctx context.Context, d Table, cfg Config, seed int64) (*Drift, error) {
	o, rows, err := prepare(d, cfg)
	if err != nil {
		return nil, err
	}
	t := newTester(d, rows, o.cycles, periods(d.Unit, rows.times), cfg.Permutations, seed)
	found := &Drift{Dependence: t.dependence, Chunks: t.chunks}
	show := func(done float64) {
		if cfg.Progress != nil {
			cfg.Progress(done / 4)
		}
	}
	show(0)
	found.Columns = t.test(ctx, features(t.x), d.Dim)
	show(1)
	numbers := t.numbers(d, rows)
	found.Score = t.test(ctx, t.pairs(numbers), 0)
	show(2)
	if d.HasY() {
		found.Outcome = t.test(ctx, features(t.y), max(1, d.Classes))
		show(3)
		found.Rule = t.test(ctx, t.rule(d, rows, numbers), 0)
	}
	show(4)
	return found, ctx.Err()
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

// tester shuffles rows. Parts are contiguous rows, so few that a shuffle is fast.
type tester struct {
	shuffles   int
	seed       int64
	x, y       []score
	parts      int
	first      []int      // row of each part, by position
	state      []int      // time of each part, in views
	views      []testView // codes of the times
	share      []float64  // of the parts, by time
	begin      []int      // first part of each chunk, and the end
	entity     []int      // first chunk of each entity, and the end
	at         []int      // rows in time order, entity by entity
	chunks     int
	dependence float64
}

// nearly is the share of the strongest statistic from which the shortest period is named.
const nearly = .8

// testView has a code for each time, of mean 0 over the parts.
type testView struct {
	name   string
	period bool       // of plain numbers
	code   *mat.Dense // [times, width]; nil: each time by itself
}

// newTester prepares the shuffles.
func newTester(d Table, rows *sortedRows, calendar, others []Cycle, shuffles int, seed int64) *tester {
	n := len(rows.at)
	t := &tester{shuffles: shuffles, seed: seed, parts: min(mostParts, n), at: slices.Clone(rows.at)}
	if d.Group != nil {
		slices.SortStableFunc(t.at, func(a, b int) int { return cmp.Compare(d.Group[a], d.Group[b]) })
	}
	state := make([]int, n) // time of each row
	for i, row := range t.at {
		state[i], _ = slices.BinarySearch(rows.times, d.Time[row])
	}
	for k := range t.parts {
		first := (n*k + t.parts - 1) / t.parts
		t.first, t.state = append(t.first, first), append(t.state, state[first])
	}
	t.share = make([]float64, len(rows.times))
	for _, s := range t.state {
		t.share[s] += 1 / float64(t.parts)
	}
	r := newRecurrence(state, rows.times, calendar, others)
	r.scores = 2 * (d.Dim + max(1, d.Classes))
	if d.Group != nil {
		r.group = loop.Pick(d.Group, t.at)
	}
	t.x, t.y = columnScores(d, t.at, r), outcomeScores(d, t.at, r)
	all := slices.Concat(t.x, t.y)
	t.dependence = 1
	for i := range all {
		t.dependence = max(t.dependence, all[i].dependence(len(all)), all[i].ofTime)
	}
	long, most := chunkTimes*(t.dependence-1), min(mostChunks, max(fewChunks, 2*len(rows.times)))
	long = max(1, long, min(2*long, float64(n)/fewChunks), float64(n)/float64(most))
	t.chunks = min(t.parts, max(leastChunks, int(float64(n)/long)))
	t.addViews(rows.times, n, slices.Concat(calendar, others))
	t.cut(r.group)
	return t
}

// cut deals the parts to chunks: those of each entity to as many as its share of the rows allows, but at least
// leastChunks.
func (t *tester) cut(group []int32) {
	of := func(part int) int32 {
		if group == nil {
			return 0
		}
		return group[t.first[part]]
	}
	for from := 0; from < t.parts; {
		to := from
		for to < t.parts && of(to) == of(from) {
			to++
		}
		chunks := min(to-from, max(leastChunks, t.chunks*(to-from)/t.parts))
		t.entity = append(t.entity, len(t.begin))
		for c := range chunks {
			t.begin = append(t.begin, from+c*(to-from)/chunks)
		}
		from = to
	}
	t.entity, t.begin, t.chunks = append(t.entity, len(t.begin)), append(t.begin, t.parts), len(t.begin)
}

// addViews are those of Fit; the trend has the cosines of waves, over the rows instead of the time.
func (t *tester) addViews(times []float64, n int, cycles []Cycle) {
	trend, below := mat.NewDense(len(times), waves, nil), 0.
	for s, share := range t.share {
		for k := range waves {
			trend.Set(s, k, math.Cos(math.Pi*float64(k+1)*(below+share/2))/math.Sqrt(float64(k+1)))
		}
		below += share
	}
	t.addView("trend", trend)
	for _, v := range views(times, n, cycles)[2:] {
		if v.Cycle == nil {
			if t.dependence < independentRows {
				t.addView(v.Name, nil)
			}
			continue
		}
		code := mat.NewDense(len(times), v.width(), nil)
		for s, at := range times {
			for k, c := range v.code(at, nil) {
				code.Set(s, k, float64(c))
			}
		}
		t.addView(v.Name, code)
		t.views[len(t.views)-1].period = v.Cycle.Plain
	}
}

func (t *tester) addView(name string, code *mat.Dense) {
	if code != nil {
		times, width := code.Dims()
		for k := range width {
			mean := 0.
			for s := range times {
				mean += t.share[s] * code.At(s, k)
			}
			for s := range times {
				code.Set(s, k, code.At(s, k)-mean)
			}
		}
	}
	t.views = append(t.views, testView{name: name, code: code})
}

// feature is a function of the rows that is tested.
type feature struct {
	column int                               // that it belongs to; -1: none
	sum    func(s *shuffled, sums []float64) // adds its values to sums, by time
}

// shuffled is a shuffle of the parts.
type shuffled struct {
	from  []int     // part that comes to each place
	runs  []run     // of all places
	value []float64 // of features that do not move alone, by place
}

// run has neighbouring parts, from..to-1, which come to neighbouring places of one time.
type run struct{ from, to, time int }

// features are those of scores.
func features(list []score) []feature {
	var out []feature
	for _, s := range list {
		out = append(out, feature{s.column, moved(s.below)})
	}
	return out
}

// moved sums values that move with the parts. below: of sumsBelow; so a run costs a difference, however long it is.
func moved(below []float64) func(s *shuffled, sums []float64) {
	return func(s *shuffled, sums []float64) {
		for _, r := range s.runs {
			sums[r.time] += below[r.to] - below[r.from]
		}
	}
}

// sumsBelow are the sums of the values before each, and of all.
func sumsBelow(v []float64) []float64 {
	return append([]float64{0}, floats.CumSum(make([]float64, len(v)), v)...)
}

// addTo adds values to the sums of their times. value: by place.
func (t *tester) addTo(sums, value []float64) {
	for i, x := range value {
		sums[t.state[i]] += x
	}
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
	out := &ColumnTest{P: 1, Column: slices.Repeat([]float64{1}, columns), Size: make([]float64, columns)}
	if len(list) == 0 {
		return out
	}
	v := len(t.views)
	sizes := make([][]float64, t.shuffles+1) // the first are the real ones: [features * views]
	each(len(sizes), func(p int) {
		if ctx.Err() != nil {
			return
		}
		sizes[p] = t.sizes(list, p)
	})
	if ctx.Err() != nil {
		return out
	}
	standardise(sizes)
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
	largest := make([]float64, t.shuffles)
	for p, size := range sizes[1:] {
		largest[p] = slices.Max(size)
	}
	strongest, best := math.Inf(-1), 0
	for i, z := range sizes[0] {
		if z > strongest {
			strongest, best = z, i
		}
		if f := i / v; f < len(list) && columns > 0 {
			out.Size[list[f].column] = max(out.Size[list[f].column], z)
		}
	}
	out.P, out.View = tail(strongest, largest), t.views[best%v].name
	for i := best - best%v; i < best; i++ { // a period is in its multiples, too
		if t.views[best%v].period && t.views[i%v].period && sizes[0][i] > nearly*strongest {
			out.View = t.views[i%v].name
			break
		}
	}
	for j, z := range out.Size {
		if z > 0 {
			out.Column[j] = tail(z, largest)
		}
	}
	return out
}

// sizes are the statistics of shuffle p, none for 0.
func (t *tester) sizes(list []feature, p int) []float64 {
	s, sums := t.shuffle(p), mat.NewDense(len(list), len(t.share), nil)
	for f, feature := range list {
		feature.sum(s, sums.RawRowView(f))
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

// shuffle puts the chunks of each entity in random order; for p = 0 they stay.
func (t *tester) shuffle(p int) *shuffled {
	s := &shuffled{value: make([]float64, t.parts)}
	rng := random.New(t.seed, "shuffle", p)
	for e, first := range t.entity[:len(t.entity)-1] {
		order := rng.Perm(t.entity[e+1] - first)
		if p == 0 {
			order = Positions(len(order))
		}
		for _, c := range order {
			for i := t.begin[first+c]; i < t.begin[first+c+1]; i++ {
				time, last := t.state[len(s.from)], len(s.runs)-1
				if s.from = append(s.from, i); last >= 0 && s.runs[last].to == i && s.runs[last].time == time {
					s.runs[last].to++
				} else {
					s.runs = append(s.runs, run{i, i + 1, time})
				}
			}
		}
	}
	return s
}

// standardise divides each statistic, less its mean over the shuffles, by its standard deviation.
func standardise(sizes [][]float64) {
	column := make([]float64, len(sizes)-1)
	for i := range sizes[0] {
		for p := range column {
			column[p] = sizes[p+1][i]
		}
		mean, spread := stat.MeanStdDev(column, nil)
		for _, size := range sizes {
			if size[i] -= mean; spread > 1e-12*math.Abs(mean) {
				size[i] /= spread
			} else {
				size[i] = 0
			}
		}
	}
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
