package tables

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// TestSlow: a column of the season, which hardly changes from row to row, hides that the rule of a reverses: the answer
// names it. Without it the drift is found.
func TestSlow(t *testing.T) {
	rng := random.New(1, "slow")
	var b strings.Builder
	b.WriteString("t,a,month,y\n")
	for i := range 2400 {
		a := rng.NormFloat64()
		yes := rng.Float64() < 1/(1+math.Exp(3*a*float64(i-1200)/1200))
		fmt.Fprintf(&b, "%d,%.4f,%d,%v\n", i/20, a, i/100%12, yes)
	}
	file := demand.CSV(t, b.String())
	for _, c := range []struct {
		drop []string
		want string
	}{{nil, "; month may hide it"}, {[]string{"month"}, "The table drifts in y given x"}} {
		q := Request{Source: Source{File: file, Time: "t", Label: "y", Read: table.Options{Drop: c.drop}}, Fit: crossfit.ForTest(150)}
		q.Fit.Permutations = LeastPermutations
		o, err := q.Open("")
		demand.NoError(t, err)
		f, err := o.Tested.Find(t.Context(), q.Fit, 1)
		demand.NoError(t, err)
		if notes := strings.Join(f.notes(), "; "); !strings.Contains(f.Sentence, c.want) ||
			(c.drop == nil) != strings.Contains(notes, "the reason is month") {
			t.Errorf("without %q: %s; notes %s", c.drop, f.Sentence, notes)
		}
	}
}

// TestUnseen: flat weights say that g missed the drift of what they follow: x for covariate weights, (x, y) for joint
// ones.
func TestUnseen(t *testing.T) {
	for _, drifting := range []string{InX, InY, InRule, ""} {
		var f Finding
		for _, name := range []string{InX, InY, InRule} {
			f.Questions = append(f.Questions, Question{Name: name, Drift: name == drifting})
		}
		for kind, want := range map[crossfit.Kind]bool{crossfit.Covariate: drifting == InX, crossfit.Joint: drifting != "",
			crossfit.Conditional: drifting == InRule} {
			if got := f.Unseen(kind); len(got) > 0 != want {
				t.Errorf("%s weights, drift in %q: notes %q", kind, drifting, got)
			}
		}
	}
}

// TestAnswer: a question is answered by the smallest p-value of its tests, with yes up to .05.
func TestAnswer(t *testing.T) {
	f := Finding{Questions: []Question{{Tests: []QuestionTest{{P: .3}, {P: .05}}}, {Tests: []QuestionTest{{P: .06}}}}}
	f.answer()
	if a, b := f.Questions[0], f.Questions[1]; a.P != .05 || !a.Drift || b.P != .06 || b.Drift {
		t.Errorf("%+v", f.Questions)
	}
}

// TestBy: the answer says by which phases there is drift, and over time where not all of it is over time alone.
func TestBy(t *testing.T) {
	for views, want := range map[[2]string]string{
		{"trend", ""}:                          "The table drifts in x (p < 0.001)",
		{"times", ""}:                          "The table drifts in x (p < 0.001) from time to time",
		{"day of the week", ""}:                "The table drifts in x (p < 0.001) by day of the week",
		{"trend", "day of the week"}:           "The table drifts in x (p < 0.001) over time and by day of the week",
		{"day of the week", "trend"}:           "The table drifts in x (p < 0.001) by day of the week and over time",
		{"day of the year", "hour of the day"}: "The table drifts in x (p < 0.001) by day of the year and by hour of the day",
	} {
		f := Finding{Questions: []Question{{Name: InX, Drift: true, Tests: []QuestionTest{{View: views[0], Also: views[1]}}}}}
		demand.Equal(t, f.sentence(nil), want, "the sentence")
		other := Question{Name: InRule, Drift: true, Tests: []QuestionTest{{View: "trend"}}}
		if f.Questions = append(f.Questions, other); want == "The table drifts in x (p < 0.001)" {
			want += " and y given x (p < 0.001)"
		} else {
			want += " and y given x (p < 0.001) over time"
		}
		demand.Equal(t, f.sentence(nil), want, "the sentence of two")
	}
}

// TestNamedColumns: a column is named as drifting if its p-value is at most .05, the one that drifts most first.
func TestNamedColumns(t *testing.T) {
	for _, test := range []struct {
		first, second float64 // p-values of two columns
		want          string
	}{{.08, .12, ""}, {.004, .12, "a"}, {.004, .04, "b a"}} {
		f := &Finding{}
		f.name(&crossfit.ColumnTest{Column: []float64{test.first, test.second}, Size: []float64{1, 2}},
			[]string{"a", "b"}, []int{0, 1})
		demand.Equal(t, strings.Join(f.Columns, " "), test.want, "p %v and %v: columns", test.first, test.second)
	}
}

// TestLeaks: what tells the time or the label by itself is named, and nothing else.
func TestLeaks(t *testing.T) {
	rng := random.New(1, "leaks")
	var b strings.Builder
	b.WriteString("t,y,noise,curve,year,month,since,half,copy,status,shop,wave,refund,reason,some,amount,few\n")
	for i := range 3000 {
		y := map[bool]string{true: "yes", false: "no"}[rng.IntN(3) == 0]
		status := fmt.Sprint("s", 2*rng.IntN(4)) // even levels are yes
		if y == "no" {
			status = fmt.Sprint("s", 2*rng.IntN(4)+1)
		}
		curve := fmt.Sprint(math.Exp(float64(i) / 100)) // not linear in time
		if rng.IntN(3) == 0 {
			curve = ""
		}
		half := i < 1400
		if rng.IntN(200) == 0 {
			half = !half
		}
		refund, reason, some := "", "", "" // refund and reason are filled in only where y is yes, some at random
		amount, few := rng.Float64(), "1"  // few is missing where amount is largest, in few rows
		if y == "yes" {
			refund, reason, amount = fmt.Sprintf("%.2f", rng.NormFloat64()), fmt.Sprint("r", rng.IntN(3)), amount+1
		}
		if amount > 1.99 {
			few = ""
		}
		if rng.IntN(2) == 0 {
			some = fmt.Sprint(rng.IntN(9))
		}
		fmt.Fprintf(&b, "%d,%s,%.4f,%s,%d,%s,%v,%s,%s,%s,p%d,%.3f,%s,%s,%s,%.4f,%s\n", i/100, y, rng.NormFloat64(), curve, 2020+i/1000,
			fmt.Sprint("m", i/250*7%12), half, fmt.Sprint("h", rng.IntN(2)), map[string]string{"yes": "1", "no": "0"}[y], status,
			rng.IntN(9), math.Sin(float64(i)/200)+rng.NormFloat64()/10, refund, reason, some, amount, few)
	}
	q := Request{Source: Source{File: demand.CSV(t, b.String()), Time: "t", Label: "y"}, Fit: crossfit.ForTest(150)}
	q.Fit.Permutations = LeastPermutations
	p, err := q.Open("")
	demand.NoError(t, err)
	if notes := p.About.Leaks; len(notes) != 2 || !strings.HasPrefix(notes[0], "curve, year, month and since follow the time almost") ||
		!strings.HasPrefix(notes[1], "copy, status, refund (by its missing values), reason (by its missing values) and amount tell the label") {
		t.Errorf("%q", notes)
	}
	for _, c := range []struct {
		rule bool
		want string
	}{
		{false, "No drift is found in x or y (smallest p = 0.500); whether y given x drifts cannot be seen, as curve, year, month " +
			"and since follow the time and copy, status, refund (by its missing values), reason (by its missing values) and amount tell " +
			"the label"},
		{true, "The table drifts in y given x (p = 0.500); no drift is found in x or y"},
	} {
		f := Finding{Questions: []Question{{Name: InX, P: .5}, {Name: InY, P: .5}, {Name: InRule, P: .5, Drift: c.rule, Tests: []QuestionTest{{View: "trend"}}}}}
		demand.Equal(t, f.sentence(p.Tested.hidden), c.want, "the sentence")
	}
	q.Label = "amount" // a number, of which few tells nothing
	p, err = q.Open("")
	demand.NoError(t, err)
	demand.Words(t, p.About.Leaks[1], "y, copy, refund (by its missing values) and reason (by its missing values) tell the label")
}

// TestInStep: where rows of two kinds alternate, those that are kept are of both, and a level that tells the label is
// found.
func TestInStep(t *testing.T) {
	turns := xslices.Map(xslices.Iota(0, 1000), func(i int) float64 { return float64(i % 2) })
	if kept := Thin(turns, 100); len(kept) != 100 || math.Abs(floats.Sum(kept)-50) > 15 {
		t.Errorf("of 1000 rows that alternate %d are kept, %v of them of one kind", len(kept), floats.Sum(kept))
	}
	if told := (feature{turns, true}).separates(turns); told < leak {
		t.Errorf("a level that is the label tells %v of it", told)
	}
}

// TestWeakNote: the note on weak tests blames the dependence of rows only where there is some.
func TestWeakNote(t *testing.T) {
	for _, f := range []struct {
		Finding
		want string
	}{{Finding{Chunks: 13, Dependence: 1}, "few rows"}, {Finding{Chunks: 5, Dependence: 40}, "rows depend on"}} {
		if notes := strings.Join(f.notes(), "; "); !strings.Contains(notes, f.want) {
			t.Errorf("%d stretches, autocorrelation time %g: %s", f.Chunks, f.Dependence, notes)
		}
	}
}

// TestPresent: a last block of few rows is joined with the one before, where the others have many.
func TestPresent(t *testing.T) {
	for _, c := range []struct {
		rows []int
		want []int
	}{{[]int{100, 100, 100, 3}, []int{100, 100, 103}}, {[]int{100, 100, 30}, []int{100, 100, 30}}, {[]int{9, 10, 8}, []int{9, 10, 8}},
		{[]int{100, 3}, []int{100, 3}}} {
		list := xslices.Map(c.rows, func(n int) Block { return Block{Name: fmt.Sprint(n), Value: float64(n), Rows: n} })
		list, few := joinPresent(list)
		got := xslices.Map(list, func(b Block) int { return b.Rows })
		if !slices.Equal(got, c.want) || (few > 0) != (len(got) < len(c.rows)) {
			t.Errorf("%v: %v, %d few", c.rows, got, few)
		}
	}
}

// TestBlocks: at most 60 blocks, complete at the end, and no row is lost. Times without any of the rows do not count.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ times, each, blocks, per, first int }{
		{50, 100, 50, 1, 1}, {60, 30, 60, 1, 1}, {61, 100, 31, 2, 1}, {125, 100, 42, 3, 2}, {50, 3, 5, 10, 10},
		{2, 1, 2, 1, 1},
	} {
		times := &table.Times{}
		for i := range c.times {
			times.Values, times.Names = append(times.Values, float64(i)), append(times.Names, fmt.Sprint(i))
			times.Index = append(times.Index, slices.Repeat([]int32{int32(i)}, c.each)...)
		}
		list, per := blocksOf(times, xslices.Iota(0, len(times.Index)))
		rows := 0
		for _, block := range list {
			rows += block.Rows
		}
		last := list[len(list)-1]
		if len(list) != c.blocks || per != c.per || list[0].Rows != c.first*c.each || last.Rows != c.per*c.each ||
			rows != c.times*c.each || last.Value != float64(c.times)-float64(c.per+1)/2 {
			t.Errorf("%d times: %d blocks of %d, the first of %d rows, the last %+v", c.times, len(list), per,
				list[0].Rows, last)
		}
	}
	times := &table.Times{Values: []float64{0, 1, 2}, Names: []string{"a", "b", "c"}, Index: []int32{0, 1, 1, 2, 2, 2}}
	want := []Block{{Name: "a", Rows: 1}, {Name: "c", Value: 2, Last: 2, Rows: 2}}
	if list, _ := blocksOf(times, []int{0, 3, 5}); !slices.Equal(list, want) {
		t.Errorf("blocks of some rows: %v, want %v", list, want)
	}
}

// panel is a table of 100 weeks of 20 shops, each a stationary series of autocorrelation .9 that moves by so many
// standard deviations over the weeks, and a column of five levels that says nothing.
func panel(t *testing.T, seed int64, moves float64) Source {
	t.Helper()
	rng := random.New(seed, "panel")
	var b strings.Builder
	b.WriteString("week,shop,x,size\n")
	state := make([]float64, 20)
	for week := range 100 {
		for e := range state {
			if state[e] = .9*state[e] + math.Sqrt(1-.81)*rng.NormFloat64(); week == 0 {
				state[e] = rng.NormFloat64()
			}
			fmt.Fprintf(&b, "%d,s%d,%.4f,%d\n", week, e, state[e]+moves*float64(week)/99, rng.IntN(5))
		}
	}
	return Source{File: demand.CSV(t, b.String()), Time: "week"}
}

// TestPanels: of panels without drift one in twenty is called, or more by chance; a fifth of those that move by half a
// standard deviation are found, and most of those that move by two.
func TestPanels(t *testing.T) {
	panels, sizes := 3, []float64{0, 2}
	if demand.Nightly {
		panels, sizes = 200, []float64{0, .5, 2}
	}
	for _, moves := range sizes {
		found := 0
		for seed := range int64(panels) {
			q := Request{Source: panel(t, 1000+seed, moves), Fit: crossfit.ForTest(1), Seed: seed}
			q.Group, q.Fit.Permutations = "shop", 199
			o, err := q.Open("")
			demand.NoError(t, err)
			f, err := o.Tested.Find(context.Background(), q.Fit, seed)
			demand.NoError(t, err)
			found += len(f.Drifting())
		}
		t.Logf("%v sd: drift in %d of %d", moves, found, panels)
		expected := .05 * float64(panels)
		if moves == 0 && float64(found) > expected+2*math.Sqrt(expected) || moves == .5 && 5*found < panels ||
			moves == 2 && 2*found < panels {
			t.Errorf("%v sd: drift in %d of %d", moves, found, panels)
		}
	}
}

// TestGroup: the column of the group is no feature unless its type is named. Without a group, the column that names
// entities is proposed, and no other.
func TestGroup(t *testing.T) {
	s := panel(t, 1, 0)
	for _, c := range []struct {
		group    string
		kinds    map[string]table.Kind
		features string
		note     bool
	}{
		{"", nil, "shop x size", true},
		{"shop", nil, "x size", false},
		{"size", nil, "shop x", false},
		{"shop", map[string]table.Kind{"shop": table.Category}, "shop x size", false},
	} {
		q := Request{Source: s, Fit: crossfit.ForTest(1)}
		q.Group, q.Read.Kinds, q.Fit.Permutations = c.group, c.kinds, LeastPermutations
		o, err := q.Open("")
		demand.NoError(t, err)
		demand.Equal(t, strings.Join(o.Stream.Features, " "), c.features, "group %q: features", c.group)
		if notes := strings.Join(o.About.AllNotes(), "\n"); strings.Contains(notes, "each value of shop is in one row") != c.note {
			t.Errorf("group %q: notes %s", c.group, notes)
		}
		of := map[int32]int{}
		for _, g := range o.Tested.Data.Group {
			of[g]++
		}
		demand.Equal(t, len(of), map[string]int{"shop": 20, "size": 5}[c.group], "groups by %q", c.group)
	}
	for group, want := range map[string]string{"week": "the time or the label, and named as the group", "x1": `no column "x1"`} {
		q := Request{Source: s, Fit: crossfit.ForTest(1)}
		q.Group = group
		_, err := q.Open("")
		demand.Error(t, err, want)
	}
}

// TestPassing: entities that are there at one time only cannot be tested for drift, and of those that are there briefly
// a note says what is not seen.
func TestPassing(t *testing.T) {
	for _, c := range []struct {
		times     int // of an entity
		err, note string
	}{{1, "each of its values is at one time only", ""}, {10, "", ""},
		{2, "", "760 of 800 rows have a shop that is there in less than a tenth"}} {
		var b strings.Builder
		b.WriteString("t,shop,x\n")
		for i := range 800 { // 40 times of 20 rows
			shop := i / 20 / c.times * 20
			if shop += i % 20; i%20 == 0 && c.times > 1 {
				shop = 0 // is always there
			}
			fmt.Fprintf(&b, "%d,s%d,%d\n", i/20, shop, i*i%101)
		}
		q := Request{Source: Source{File: demand.CSV(t, b.String()), Time: "t", Group: "shop"}, Fit: crossfit.ForTest(1)}
		q.Fit.Permutations = LeastPermutations
		o, err := q.Open("")
		if c.err != "" {
			demand.Error(t, err, c.err)
			continue
		}
		demand.NoError(t, err)
		notes := strings.Join(o.About.AllNotes(), "\n")
		if !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
			t.Errorf("shops at %d times: notes %q, want %q", c.times, notes, c.note)
		}
	}
}

// TestZone: the zone of the calendar is that of the table where times are exact or hours, and none where they are bins
// of it.
func TestZone(t *testing.T) {
	zone := time.FixedZone("own", 3600)
	file := demand.CSV(t, "t,x\n2024-01-01 12:00,1\n2024-01-02 13:00,2\n2024-01-03 14:00,3\n")
	for unit, want := range map[string]*time.Location{"": zone, "hour": zone, "day": nil} {
		s, err := Open(Source{File: file, Time: "t", Bin: table.Bin{Unit: unit}, Read: table.Options{Location: zone}})
		demand.NoError(t, err)
		d, _, err := s.Data([]int{0, 1, 2})
		demand.NoError(t, err)
		if d.Zone != want {
			t.Errorf("bins of %q: zone %v, want %v", unit, d.Zone, want)
		}
	}
}

// TestOrder: rows of one bin are in the order of their exact times, although the bins are in order in the file.
func TestOrder(t *testing.T) {
	file := demand.CSV(t, "t,x\n2024-01-03,1\n2024-01-01,2\n2024-01-02,3\n2024-02-02,4\n2024-02-01,5\n")
	s, err := Open(Source{File: file, Time: "t", Bin: table.Bin{Unit: "month"}})
	demand.NoError(t, err)
	rows := []int{0, 1, 2, 3, 4}
	s.Sort(rows)
	demand.Equal(t, fmt.Sprint(rows), "[1 2 0 4 3]", "rows in order of time")
}

// TestSorted: rows of one time that are sorted by the label are mixed, and those of one label stay in order. Rows that
// are sorted by another column, which may be a clock, an entity or a row number, or by chance, keep their order.
func TestSorted(t *testing.T) {
	const times, each = 12, 10
	rng := random.New(1, "sorted")
	any, class := func() string { return fmt.Sprint(rng.Float64()) }, func() int { return rng.IntN(2) }
	for _, c := range []struct {
		name  string
		row   func(at, i int) string // x and y of row i of a time
		mixed bool
	}{
		{"class", func(_, i int) string { return fmt.Sprint(any(), ",", i/6) }, true},
		{"words", func(_, i int) string { return fmt.Sprint(any(), ",", "yyyynnnnnn"[i:i+1]) }, true},
		{"falling number", func(_, i int) string { return fmt.Sprint(any(), ",", 9-float64(i)+rng.Float64()) }, true},
		{"drift", func(at, i int) string { return fmt.Sprint(any(), ",", float64(at+i)+rng.Float64()) }, true},
		{"rare class", func(at, i int) string { return fmt.Sprint(any(), ",", at%3/2*(i/9)) }, true},
		{"by chance", func(int, int) string { return fmt.Sprint(any(), ",", class()) }, false},
		{"clock", func(_, i int) string { return fmt.Sprint(float64(i)+rng.Float64(), ",", class()) }, false},
		{"row number", func(at, i int) string { return fmt.Sprint(at*each+i, ",", class()) }, false},
		{"entities", func(_, i int) string { return fmt.Sprint("s", i/2, ",", class()) }, false},
		{"growing number", func(at, i int) string { return fmt.Sprint(any(), ",", at*each+i) }, false},
		{"state that lasts", func(at, i int) string { return fmt.Sprint(any(), ",", (at*each+i+3)/17%2) }, false},
		{"one time", func(at, i int) string { return fmt.Sprint(any(), ",", at/11*(i/6)) }, false},
	} {
		lines := xslices.Map(xslices.Iota(0, times*each), func(i int) string {
			return fmt.Sprintf("2024-%02d,%d,%s\n", i/each+1, rng.IntN(2), c.row(i/each, i%each))
		})
		for _, inTime := range []bool{true, false} {
			if !inTime { // the rows of a time are in the same order
				slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[6:7], b[6:7]) })
			}
			s, err := Open(Source{File: demand.CSV(t, "t,z,x,y\n"+strings.Join(lines, "")), Time: "t", Label: "y",
				Bin: table.Bin{Unit: "quarter"}})
			demand.NoError(t, err)
			rows := s.Times.Rows(0, 1)
			inFile := slices.Clone(rows)
			slices.SortStableFunc(inFile, func(a, b int) int { return strings.Compare(lines[a][:7], lines[b][:7]) })
			s.Sort(rows)
			if c.mixed == slices.Equal(rows, inFile) || c.mixed != s.mixed {
				t.Errorf("%s, in order of time %v: mixed %v, the rows of the first quarter are %v", c.name, inTime, s.mixed, rows)
			}
			y := crossfit.Table{Label: s.Label.Class, Target: s.Label.Target}.Y
			byLabel := func(a, b int) int {
				return cmp.Or(strings.Compare(lines[a][:7], lines[b][:7]), cmp.Compare(y(a), y(b)))
			}
			slices.SortStableFunc(rows, byLabel)
			if slices.SortStableFunc(inFile, byLabel); !slices.Equal(rows, inFile) {
				t.Errorf("%s, in order of time %v: the rows of each time and label are in order %v", c.name, inTime, rows)
			}
		}
	}
}

// TestSortedByChance: nine pairs lie in one direction by chance in 1 of 256 tables, which is not enough; ten are.
func TestSortedByChance(t *testing.T) {
	for pairs, want := range map[int]bool{2: false, 9: false, 10: true} {
		time, values := make([]int32, 2*pairs+1), make([]float64, 2*pairs+1) // and a time of one row
		for i := range time {
			time[i], values[i] = int32(i/2), float64(i%2)
		}
		if got := sortedInside(values, time); got != want {
			t.Errorf("%d pairs: sorted %v, want %v", pairs, got, want)
		}
	}
}

// TestRepeated: rows that repeat another in all columns are counted where that is no chance: not where columns have few
// values, nor for other entities or times.
func TestRepeated(t *testing.T) {
	const rows = 30
	twice := crossfit.Table{Dim: 2, Time: slices.Repeat([]float64{1}, rows), Label: make([]int32, rows)}
	times, entities, labels := twice, twice, twice
	times.Time, labels.Label = xslices.Iota(0.0, rows), make([]int32, rows)
	for i := range rows {
		twice.X = append(twice.X, float32(min(i, 2*rows-5-i)), 1) // the last two as two before
		entities.Group = append(entities.Group, int32(i))
	}
	times.X, entities.X, labels.X, labels.Label[rows-1] = twice.X, twice.X, twice.X, 1
	few := crossfit.Table{Dim: 2, X: []float32{0, 1, 0, 1, 1, 1, 0, 0, 0, 1}, Time: []float64{1, 1, 1, 1, 2}}
	missing := crossfit.Table{Dim: 1} // half of the rows lack the column that tells rows apart
	for i := range 100 {
		missing.X, missing.Time = append(missing.X, float32(i%2*i)), append(missing.Time, 1)
	}
	for name, c := range map[string]struct {
		crossfit.Table
		want int
	}{"twice": {twice, 2}, "missing": {missing, 0}, "few values": {few, 0}, "times": {times, 0}, "entities": {entities, 0}, "labels": {labels, 1}} {
		demand.Equal(t, repeated(c.Table), c.want, "%s: rows that repeat another", name)
	}
}
