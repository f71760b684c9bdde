package crossfit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// independent draws n rows of dim values at 60 times; what: one that moves by so many standard deviations over the
// time, or one whose standard deviation grows by that factor less 1.
func independent(seed int64, n, dim int, moves, grows float64) Table {
	rng := random.New(seed, "own test", "independent", fmt.Sprint(n, dim))
	d := Table{Dim: dim}
	for i := range n {
		u := float64(i) / float64(n)
		for j := range dim {
			v := rng.NormFloat64()
			if j == 1 {
				v = v*(1+grows*u) + moves*u
			}
			d.X = append(d.X, float32(v))
		}
		d.Time, d.Order = append(d.Time, math.Floor(60*u)), append(d.Order, float64(i))
	}
	return d
}

// smooth draws n rows of autoregressive values of coefficient phi.
func smooth(seed int64, n, dim int, phi float64) Table {
	rng := random.New(seed, "own test", "smooth", fmt.Sprint(n, dim, phi))
	d := independent(seed, n, dim, 0, 0)
	state := make([]float64, dim)
	for i := range d.X {
		j := i % dim
		if state[j] = phi*state[j] + math.Sqrt(1-phi*phi)*rng.NormFloat64(); i < dim {
			state[j] = rng.NormFloat64()
		}
		d.X[i] = float32(state[j])
	}
	return d
}

// columnTests are the tests without networks.
func columnTests(d Table, seed int64) *Drift {
	rows := sortRows(d, xslices.Iota(0, d.Dim))
	t := newTester(d, rows, nil, nil, 199, seed)
	return &Drift{Columns: t.test(context.Background(), features(t.x), d.Dim), Dependence: t.dependence, Chunks: t.chunks}
}

// TestDays: the means of 70 to 150 days of independent rows do not seem to depend on each other.
func TestDays(t *testing.T) {
	const tables = 60
	dependent := 0
	for seed := range int64(tables) {
		d, days := independent(seed, 1500, 10, 0, 0), []int{70, 100, 150}[seed%3]
		for i := range d.Time {
			d.Time[i] = float64(i * days / len(d.Time))
		}
		if newTester(d, sortRows(d, xslices.Iota(0, d.Dim)), nil, nil, 2, seed).dependence > 2 {
			dependent++
		}
	}
	t.Logf("%d of %d tables seem to depend", dependent, tables)
	if dependent > 2 {
		t.Errorf("in %d of %d tables of independent rows days seem to depend on each other", dependent, tables)
	}
}

// TestNewClass: the first row of a new class, at the end, is no drift of y.
func TestNewClass(t *testing.T) {
	d := independent(2, 800, 1, 0, 0)
	d.Classes, d.Label = 3, make([]int32, 800)
	rng := random.New(2, "classes")
	for i := range d.Label {
		d.Label[i] = int32(rng.IntN(2))
	}
	d.Label[795] = 2
	tester := newTester(d, sortRows(d, []int{0}), nil, nil, 99, 1)
	if p := tester.test(t.Context(), features(tester.y), d.Classes).P; p <= .05 || len(tester.y) != 2 {
		t.Errorf("P = %v by %d classes", p, len(tester.y))
	}
}

// TestBalanced: a table that has each region once in each week, always in the same order, does not drift. Sums that
// every shuffle leaves alike are rounding, and no drift.
func TestBalanced(t *testing.T) {
	const regions, weeks, columns = 40, 30, 32 // the last column has the regions that are left
	rng, d := random.New(5, "balanced"), Table{Dim: 1 + columns}
	for i := range regions * weeks {
		x := make([]float32, d.Dim)
		x[0], x[1+min(i%regions, columns-1)] = float32(rng.NormFloat64()), 1
		d.X, d.Time, d.Order = append(d.X, x...), append(d.Time, float64(i/regions)), append(d.Order, float64(i))
	}
	found, err := FindDrift(t.Context(), d, DefaultConfig(), 1)
	demand.NoError(t, err)
	if found.Score.P <= .05 || found.Dependence < independentRows {
		t.Errorf("P = %v, autocorrelation time %v: nothing drifts, and neighbours are alike", found.Score.P, found.Dependence)
	}
}

// TestColumnNull: of tables without drift, of independent and of autoregressive rows, about 5% have P <= .05.
func TestColumnNull(t *testing.T) {
	tables := 40
	if demand.Nightly {
		tables = 400
	}
	for _, c := range []struct {
		n, dim int
		phi    float64
	}{{200, 5, 0}, {3000, 3, .5}, {3000, 3, .97}, {2000, 40, 0}, {10000, 3, .97}} {
		if c.dim*c.n > 20000 && !demand.Nightly {
			continue
		}
		below, chunks, dependence := 0, 0, 0.
		for seed := range int64(tables) {
			found := columnTests(smooth(seed, c.n, c.dim, c.phi), seed)
			if found.Columns.P <= .05 {
				below++
			}
			chunks, dependence = chunks+found.Chunks, dependence+found.Dependence/float64(tables)
		}
		t.Logf("%+v: P <= .05 in %d of %d; %.0f chunks, autocorrelation time %.2f (%.2f)", c, below, tables,
			float64(chunks)/float64(tables), dependence, (1+c.phi)/(1-c.phi))
		expected := .05 * float64(tables)
		if float64(below) > expected+3*math.Sqrt(expected*.95) {
			t.Errorf("%+v: P <= .05 in %d of %d tables without drift", c, below, tables)
		}
	}
}

// TestLevel: drift is called, after correction for all tests, in at most 6% of tables without drift, in all views of
// the time: of plain numbers, which may have a period, of days, and of rows with a time of day each; of independent and
// of autoregressive rows. On each kind of table so does each test alone, but for chance: 5% and three standard errors.
func TestLevel(t *testing.T) {
	tables, chance := 10, 4
	if demand.Nightly {
		tables, chance = 400, 33
	}
	any := 0
	for _, phi := range []float64{0, .5} {
		for _, kind := range []struct {
			name string
			unit Unit
			own  bool
		}{{"numbers", "", false}, {"days", "day", false}, {"hours", "day", true}} {
			called := callsWithoutDrift(t, tables, phi, kind.unit, kind.own)
			t.Logf("%s, coefficient %v: drift called in %v of %d", kind.name, phi, called, tables)
			for name, n := range called {
				if n > chance {
					t.Errorf("%s, coefficient %v: drift called by %s in %d of %d", kind.name, phi, name, n, tables)
				}
			}
			any += called["any"]
		}
	}
	if demand.Nightly && float64(any) > .06*6*float64(tables) {
		t.Errorf("drift called in %d of %d", any, 6*tables)
	}
}

// callsWithoutDrift counts by test how often it calls drift. own: each row has its own time, in 28 days.
func callsWithoutDrift(t *testing.T, tables int, phi float64, unit Unit, own bool) map[string]int {
	called, phases := map[string]int{}, 0
	for seed := range int64(tables) {
		d, rng := smooth(10000+seed, 1500, 3, phi), random.New(seed, "zzlabel")
		d.Unit, d.Classes = unit, 2
		for i := range d.Time {
			if own {
				d.Time[i] = 28 * (float64(i) + rng.Float64()) / float64(len(d.Time))
			}
			y := float64(d.X[3*i]) + rng.NormFloat64()
			d.Label = append(d.Label, int32(math.Ceil(min(max(y, 0), 1))))
		}
		f, err := FindDrift(t.Context(), d, DefaultConfig(), seed)
		demand.NoError(t, err)
		least := 1.
		for name, test := range map[string]*ColumnTest{"columns": f.Columns, "score": f.Score, "outcome": f.Outcome, "rule": f.Rule} {
			if least = min(least, test.Adjusted); test.P <= .05 {
				called[name]++
			}
		}
		if least <= .05 {
			called["any"]++
		}
		if f.Columns.View != "trend" {
			phases++
		}
	}
	if phases == 0 {
		t.Error("phases are never strongest")
	}
	return called
}

// TestSums: sums over runs of parts are those of all parts, and what functions of x tell of the time is taken from the
// residuals of y: nothing is left where x is the time.
func TestSums(t *testing.T) {
	d := xDrift(1, 2000, true)
	for i := range d.Time {
		d.Group, d.Time[i] = append(d.Group, int32(i%3)), math.Floor(d.Time[i]/10)
		d.X[2*i] = float32(d.Time[i])
	}
	rows := sortRows(d, xslices.Iota(0, 2))
	_, rows.x = shapeOf(d)
	k := newTester(d, rows, nil, nil, 19, 1)
	rule, most := k.rule(d, k.numbers(d, rows)), 0.
	for p := range 3 {
		s := k.shuffle(p)
		for _, x := range slices.Concat(k.x, k.y) {
			got, want := make([]float64, 2), make([]float64, 2)
			moved(x.below)(s, got)
			place := 0
			for _, r := range s.moved {
				for part := r.from; part < r.to; part++ {
					want[k.state[place]] += x.below[part+1] - x.below[part]
					place++
				}
			}
			if !floats.EqualApprox(got, want, 1e-9) {
				t.Errorf("shuffle %d: sums %v, want %v", p, got, want)
			}
			most = max(most, math.Abs(got[0]))
		}
		for _, f := range rule {
			sums := make([]float64, 2)
			if f.sum(s, sums); floats.Norm(sums, 1) > 1e-9 {
				t.Errorf("shuffle %d: x is the time, but y given x differs by %v", p, sums)
			}
		}
	}
	if most < 1 || len(rule) < 4 {
		t.Errorf("sums are at most %v, %d features of y given x", most, len(rule))
	}
}

// TestInStep: rows of which only some are looked at are not in step with columns that alternate. Of y that is x, only
// rounding is left, which is not tested.
func TestInStep(t *testing.T) {
	const n, dim = 2 * mostParts, 2 * mostRanked / (2 * mostParts)
	d := Table{Dim: 1, Time: xslices.Iota(0.0, n), Label: make([]int32, n), Classes: 2}
	for i := range n {
		d.X, d.Label[i] = append(d.X, float32(i%2)), int32(i%2)
	}
	rows := sortRows(d, []int{0})
	rows.x = d.X
	k := newTester(d, rows, nil, nil, 19, 1)
	if x := k.numbers(d, rows); len(x) != 1 {
		t.Errorf("of two values that alternate one is looked at")
	}
	left := k.rule(d, k.numbers(d, rows))
	found := Drift{Columns: &ColumnTest{P: .9, largest: []float64{0, -1, 2, 1}}, Rule: k.test(t.Context(), left, 0)}
	if found.adjust(); len(left) > 0 || found.Rule.Adjusted != 1 || found.Columns.Adjusted != .9 {
		t.Errorf("where y is x, %d features of what x leaves of y are tested; p of x %v, of y given x %v", len(left),
			found.Columns.Adjusted, found.Rule.Adjusted)
	}
	mean := 0.
	for _, y := range k.outcomes(d)[0] {
		mean += y / mostParts
	}
	if math.Abs(mean-.5) > .03 {
		t.Errorf("y alternates; its mean in the rows that are looked at is %.3f", mean)
	}
	wide := Table{Dim: dim, X: slices.Concat(make([]float32, dim), slices.Repeat([]float32{1}, dim))}
	at := xslices.Map(xslices.Iota(0, n), func(i int) int { return i % 2 })
	list := columnScores(wide, at, newRecurrence(xslices.Iota(0, n), d.Time, nil, nil), random.New(1, "in step"))
	demand.Equal(t, len(list), dim, "scores of columns that alternate")
}

// TestWeakColumn: one of 50 columns that moves by half a standard deviation, or whose spread grows, is found, and it
// alone; one hidden in fewer rows than tell it is not.
func TestWeakColumn(t *testing.T) {
	for _, c := range []struct{ moves, grows float64 }{{.5, 0}, {0, .5}} {
		found := columnTests(independent(1, 20000, 50, c.moves, c.grows), 1).Columns
		for j, p := range found.Column {
			if (p <= .005) != (j == 1) && p <= .05 {
				t.Errorf("%+v: column %d has p = %v", c, j, p)
			}
		}
		if found.P > .005 {
			t.Errorf("%+v: p = %v", c, found.P)
		}
	}
	if found := columnTests(independent(2, 20000, 50, 0, 0), 1).Columns; found.P <= .05 {
		t.Errorf("no column moves: p = %v", found.P)
	}
}

// TestFlatStretches: a class or a column that begins, and levels that are rare, do not make rows look dependent, which
// would hide all drift; a state that lasts does.
func TestFlatStretches(t *testing.T) {
	const n = 2000
	for name, of := range map[string]func(i int, draw float64) bool{
		"begins":       func(i int, draw float64) bool { return i > 1700 && draw < .5 },
		"changes once": func(i int, _ float64) bool { return i > 1210 },
		"rare":         func(_ int, draw float64) bool { return draw < .002 },
	} {
		d := independent(3, n, 2, .6, 0)
		rng := random.New(3, "flat", name)
		for i := range n {
			d.X[2*i] = 0
			if of(i, rng.Float64()) {
				d.X[2*i] = 1
			}
		}
		found := columnTests(d, 1)
		if found.Dependence > 2.5 || found.Columns.Column[1] > .05 || (found.Columns.Column[0] > .05) != (name == "rare") {
			t.Errorf("%s: autocorrelation time %.1f, p = %v", name, found.Dependence, found.Columns.Column)
		}
	}
	d := independent(3, n, 2, 0, 0)
	for i := range n {
		d.X[2*i] = float32(i / 230 % 2)
	}
	if found := columnTests(d, 1); found.Dependence < 20 {
		t.Errorf("a state that lasts 230 rows has autocorrelation time %.1f", found.Dependence)
	}
}

// TestTailP: the p-value of a further draw is uniform: below .05 in 5% of draws, and below .001 in one of a thousand.
func TestTailP(t *testing.T) {
	rng := random.New(1, "tail")
	const draws = 20000
	below, far := 0., 0.
	largest := func() float64 {
		out := math.Inf(-1)
		for range 30 {
			out = max(out, rng.NormFloat64())
		}
		return out
	}
	for range draws / 10 {
		shuffled := make([]float64, 199)
		for i := range shuffled {
			shuffled[i] = largest()
		}
		for range 10 {
			if p := tail(largest(), shuffled); p <= .05 {
				below += 1. / draws
				if p <= .001 {
					far += 1. / draws
				}
			}
		}
	}
	if math.Abs(below-.05) > .006 || far > .002 {
		t.Errorf("p <= .05 in %.4f of the draws, p <= .001 in %.4f", below, far)
	}
}

// TestDrift: a drift of y given x is found, and one of x alone, however strong, is not taken for one; nor are rows that
// depend on their neighbours. TVPS_NIGHTLY=1 takes more data and counts false answers.
func TestDrift(t *testing.T) {
	demand.Slow(t)
	type simulation struct {
		name    string
		data    func(seed int64) Table
		x, rule bool
	}
	list := []simulation{
		{"drift of x, classes", func(s int64) Table { return xDrift(s, 3000, false) }, true, false},
		{"drift of the rule, classes", func(s int64) Table { return ruleDrift(s, 2000) }, false, true},
		{"a product's sign turns, classes", func(s int64) Table { return turningProduct(s, 2000) }, false, true},
	}
	if demand.Nightly {
		list = append(list,
			simulation{"drift of the rule, target", func(s int64) Table { return turningTarget(s, 2000) }, false, true},
			simulation{"drift of x, target", func(s int64) Table { return xDrift(s, 3000, true) }, true, false},
			simulation{"no drift, classes", func(s int64) Table { return noDrift(s, 2000, 5, 20) }, false, false},
			simulation{"autoregressive, classes", func(s int64) Table { return autoregressive(s, 3000, false) }, false, false},
			simulation{"autoregressive, target", func(s int64) Table { return autoregressive(s, 3000, true) }, false, false})
	}
	for _, c := range list {
		n, found := seeds(), map[string]int{}
		for seed := range n {
			d, err := FindDrift(t.Context(), c.data(seed), DefaultConfig(), seed)
			demand.NoError(t, err)
			for name, p := range map[string]float64{"columns": d.Columns.P, "score": d.Score.P, "outcome": d.Outcome.P,
				"rule": d.Rule.P} {
				if p <= .05/4 {
					found[name]++
				}
			}
			t.Logf("%s: columns %.4f, score %.4f, outcome %.4f, rule %.4f; %d chunks, autocorrelation time %.2f", c.name,
				d.Columns.P, d.Score.P, d.Outcome.P, d.Rule.P, d.Chunks, d.Dependence)
		}
		t.Logf("%s: p <= .0125 of %d: %v", c.name, n, found)
		wrong := func(p int, drift bool) bool { return drift && p < int(n) || !drift && p > int(n)/10 }
		if wrong(found["columns"], c.x) || !c.x && wrong(found["score"], false) || wrong(found["rule"], c.rule) {
			t.Errorf("%s: %v of %d", c.name, found, n)
		}
	}
}

// TestManyClasses: the most frequent classes are told apart and the others are one, also by the test of y given x; few
// classes stay as they are.
func TestManyClasses(t *testing.T) {
	d := noDrift(1, 900, 2, 20)
	d.Classes = 300
	rng := random.New(1, "many classes")
	for i := range d.Label { // odd ones up to 39 are frequent
		d.Label[i] = int32(rng.IntN(300))
		if i%2 == 0 {
			d.Label[i] = int32(1 + 2*rng.IntN(MostApart))
		}
	}
	joined, times := d.Joined(), map[[2]int32]int{}
	for i, class := range joined.Label {
		apart := d.Label[i]%2 == 1 && d.Label[i] < 2*MostApart
		if joined.Classes != MostApart+1 || apart != (class < MostApart) {
			t.Fatalf("class %d is %d of %d", d.Label[i], class, joined.Classes)
		}
		if apart {
			times[[2]int32{d.Label[i], class}]++
		}
	}
	demand.Equal(t, len(times), MostApart, "classes that are told apart")
	tester := newTester(d, sortRows(d, []int{0, 1}), nil, nil, 2, 0)
	demand.Equal(t, len(tester.outcomes(d)), MostApart, "outcomes that are tested given x")
	d.Classes = MostApart
	demand.Equal(t, &d.Joined().Label[0], &d.Label[0], "labels of few classes")
}

// TestSlopes: entities with slopes of their own of y on x are no drift of y given x, not even if they follow each
// other. Slopes that turn in each entity are.
func TestSlopes(t *testing.T) {
	const n, entities = 720, 6
	constant := func(entity int, _ float64) float64 { return float64(entity%2*2 - 1) }
	turns := func(_ int, u float64) float64 { return 1 - 2*math.Round(u) }
	for _, c := range []struct {
		name  string
		slope func(entity int, u float64) float64 // u: from 0 to 1, over the time of the entity
		after bool                                // entities follow each other
		moves float64                             // by which x moves, in standard deviations
		drift bool
	}{{"constant", constant, false, 0, false}, {"constant, one after the other", constant, true, 0, false},
		{"constant, one after the other, x drifts", constant, true, 6, false},
		{"turns", turns, false, 0, true}, {"turns, one after the other", turns, true, 0, true}} {
		for _, number := range []bool{false, true} {
			rng := random.New(1, "slopes")
			d := Table{Dim: 2}
			for i := range n {
				entity, u := i%entities, float64(i)/n
				if c.after {
					entity, u = i*entities/n, float64(i*entities%n)/n
				}
				x := rng.NormFloat64() + c.moves*float64(i)/n
				y := c.slope(entity, u)*x + rng.NormFloat64()
				d.X, d.Time = append(d.X, float32(x), float32(rng.NormFloat64())), append(d.Time, float64(i/4))
				if d.Group = append(d.Group, int32(entity)); number {
					d.Target = append(d.Target, y)
					continue
				}
				d.Label, d.Classes = append(d.Label, int32(math.Ceil(min(max(y, 0), 1)))), 2
			}
			cfg := DefaultConfig()
			cfg.Permutations = 99
			found, err := FindDrift(t.Context(), d, cfg, 1)
			demand.NoError(t, err)
			if p := found.Rule.P; (p <= .05) != c.drift {
				t.Errorf("%s, number %v: p of y given x %.4f", c.name, number, p)
			}
		}
	}
}

// TestFewChunks: a column that tells the month leaves few independent chunks; all tests have an answer. One that
// numbers the rows is a function of time: it drifts, and takes no chunk from the others.
func TestFewChunks(t *testing.T) {
	d := noDrift(1, 600, 2, 600)
	for i := range d.Time {
		d.X[2*i] = float32(i / 50)
	}
	cfg := DefaultConfig()
	cfg.Permutations = 99
	found, err := FindDrift(t.Context(), d, cfg, 0)
	if err != nil || found.Chunks != leastChunks || found.Rule == nil {
		t.Errorf("%+v, %v", found, err)
	}
	for i := range d.Time {
		d.X[2*i] = float32(i)
	}
	if found, err = FindDrift(t.Context(), d, cfg, 0); err != nil || found.Chunks < 90 || found.Columns.Column[0] > .05 ||
		found.Columns.Column[1] < .01 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestAdjust: the p-value of four equal tests is that of one; of four independent ones at most one is <= .05 in 5% of
// draws; and none is smaller than alone, or than that of a stronger one.
func TestAdjust(t *testing.T) {
	const draws, shuffles = 4000, 199
	rng := random.New(1, "adjust")
	called := 0
	for range draws {
		var d Drift
		for _, test := range []**ColumnTest{&d.Columns, &d.Score, &d.Outcome, &d.Rule} {
			*test = &ColumnTest{}
			for range shuffles + 1 {
				(*test).largest = append((*test).largest, rng.NormFloat64())
			}
			p := tail((*test).largest[0], (*test).largest[1:])
			(*test).P, (*test).AlsoP, (*test).Column = p, p/2, []float64{p, p / 2, 1}
		}
		alone := *d.Rule
		alone.Column = nil // each of the four below is this one
		same := Drift{Columns: &alone, Score: &alone, Outcome: &alone}
		d.adjust()
		least := 0.
		tests := []*ColumnTest{d.Columns, d.Score, d.Outcome, d.Rule}
		slices.SortFunc(tests, func(a, b *ColumnTest) int { return cmp.Compare(a.Adjusted, b.Adjusted) })
		for _, test := range tests {
			if test.Adjusted < max(least, test.P) {
				t.Fatalf("adjusted %v after %v, alone %v", test.Adjusted, least, test.P)
			}
			if half := test.Adjusted / 2; math.Abs(test.AlsoP-half)+math.Abs(test.Column[1]-half) > 1e-9 {
				t.Fatalf("adjusted %v, its column and view %v and %v of half as much", test.Adjusted, test.Column[1], test.AlsoP)
			}
			least = test.Adjusted
			demand.Equal(t, test.Column[2], 1, "a p-value of 1 is adjusted to")
		}
		if tests[0].Adjusted <= .05 {
			called++
		}
		if same.adjust(); math.Abs(alone.Adjusted-alone.P) > 1e-9 {
			t.Fatalf("equal tests: adjusted %v, alone %v", alone.Adjusted, alone.P)
		}
	}
	if share := float64(called) / draws; math.Abs(share-.05) > .012 {
		t.Errorf("one of four independent tests is called in %.4f", share)
	}
}
