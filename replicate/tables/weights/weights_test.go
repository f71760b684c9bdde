package weights

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"
	"tvps/replicate/tables/drift"

	"gonum.org/v1/gonum/stat"
)

// drifting writes a table of 12 months in which the rule from x to y turns round in the middle of the year, with a
// column that is the number of the row. Rows of December have the rule of the second half.
func drifting(t *testing.T, extra string) string {
	t.Helper()
	rng := random.New(1, "own-test")
	var b strings.Builder
	b.WriteString("month;x;noise;row;y\n")
	for i := range 2400 {
		month := i / 200
		x, y := rng.NormFloat64(), "no"
		if (x > 0) == (month < 6) {
			y = "yes"
		}
		fmt.Fprintf(&b, "2024-%02d;%.6f;%.6f;%d;%s\n", month+1, x, rng.NormFloat64(), i, y)
	}
	return demand.CSV(t, b.String()+extra)
}

func weigh(t *testing.T, q Request) *Result {
	t.Helper()
	p, err := Prepare(q)
	demand.NoError(t, err)
	r, err := p.Weigh(context.Background(), nil)
	demand.NoError(t, err)
	return r
}

// TestWeigh: rows whose label follows the rule of December weigh more than those that contradict it; rows after T
// have no weight and change none.
func TestWeigh(t *testing.T) {
	q := Request{Request: tables.Request{Source: tables.Source{File: drifting(t, ""), Time: "month", Label: "y",
		Bin: table.Bin{Unit: "month"}, Read: table.Options{Drop: []string{"row"}}}, Fit: crossfit.ForTest(150)}}
	r := weigh(t, q)
	if r.Kind != crossfit.Conditional || r.At != "2024-12" || r.Times != 12 || r.Rows != 2400 {
		t.Errorf("%s weights for %s of %d rows of %d times", r.Kind, r.At, r.Rows, r.Times)
	}
	first, second := stat.Mean(r.weights.Weight[:1200], nil), stat.Mean(r.weights.Weight[1200:], nil)
	if first > .5*second || math.Abs((first+second)/2-1) > 1e-9 {
		t.Errorf("the first half weighs %.2f, the second %.2f", first, second)
	}
	q.Window, q.Weights.Kind, q.Weights.HalfLife = 3, NoOmega, 2
	forgotten := weigh(t, q)
	if want := "forgetting (half-life: 2 months; window: the last 3 times) weights"; !strings.Contains(forgotten.String(), want) {
		t.Errorf("no %q in\n%s", want, forgotten)
	}
	for i, w := range forgotten.weights.Weight { // the last three months, forgotten by half in two
		want := 0.
		if month := i / 200; month >= 9 {
			want = 3 * math.Exp2(float64(month)/2) / (math.Exp2(4.5) + math.Exp2(5) + math.Exp2(5.5))
		}
		if math.Abs(w-want) > 1e-9 {
			t.Fatalf("row %d has weight %v in a window of 3 months, want %v", i, w, want)
		}
	}
	q.Window, q.Weights.HalfLife = 0, .1
	for i, w := range weigh(t, q).weights.Weight { // each month a thousandth of the next: a millionth does not count
		want := map[int]float64{10: 2. / 1025, 11: 2 * 1024. / 1025}[i/200]
		if math.Abs(w-want) > 1e-9 {
			t.Fatalf("row %d has weight %v with a half-life of a tenth of a month, want %v", i, w, want)
		}
	}
	q.Window, q.Weights, q.Fit.Candidates[0].Updates = 0, crossfit.WeightOptions{Kind: crossfit.Joint}, 20
	q.At, q.Weights.HalfLife = "2024-11", 1
	until := weigh(t, q)
	q.File = drifting(t, "2025-01;99;0;1;yes\n2025-02;-99;0;1;no\n")
	later := weigh(t, q)
	if want := "joint (half-life: 1 month) weights"; !strings.Contains(until.String(), want) {
		t.Errorf("no %q in\n%s", want, until)
	}
	if until.Rows != 2200 || later.Rows != 2200 {
		t.Fatalf("%d and %d rows up to November", until.Rows, later.Rows)
	}
	for i, w := range until.weights.Weight {
		if w != later.weights.Weight[i] {
			t.Fatalf("rows after T change the weight of row %d from %v to %v", i, w, later.weights.Weight[i])
		}
	}
}

// TestUnseen: nothing is learned from the rows that a column marks, and they have weights as g gives them, on the scale
// of the others; log omega is much like that of the rows when they are learned from. A window is one of learned rows,
// and a half-life that leaves these without weight is refused.
func TestUnseen(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(demand.Read(t, drifting(t, "")))), "\n")
	marked, rest := []string{lines[0] + ";new"}, []string{lines[0]}
	for i, line := range lines[1:] {
		marked = append(marked, fmt.Sprintf("%s;%t", line, i%5 == 2))
		if i%5 != 2 {
			rest = append(rest, line)
		}
	}
	q := Request{Request: tables.Request{Source: tables.Source{Time: "month", Label: "y", Bin: table.Bin{Unit: "month"},
		Read: table.Options{Drop: []string{"row"}}}, Fit: crossfit.ForTest(150)}}
	of := func(lines []string, unseen string) *Result {
		q.File, q.Unseen = demand.CSV(t, strings.Join(lines, "\n")+"\n"), unseen
		return weigh(t, q)
	}
	r, without := of(marked, "new"), of(rest, "")
	if r.Rows != 1920 || len(r.row) != 2400 || r.row[1920] != 2 ||
		math.Abs(r.Share-without.Share) > 1e-9 {
		t.Fatalf("%d rows are learned from, of %d; the first other one is %d, the share %v", r.Rows, len(r.row), r.row[1920], r.Share)
	}
	if !slices.Equal(r.weights.LogOmega[:1920], without.weights.LogOmega) {
		t.Error("the rows that are not learned from change g")
	}
	scale := r.weights.Weight[0] / min(1, math.Exp(r.weights.LogOmega[0]))
	for i, w := range r.weights.Weight {
		if want := scale * min(1, math.Exp(r.weights.LogOmega[i])); math.Abs(w-want) > 1e-9 {
			t.Fatalf("row %d has weight %v, want %v", i, w, want)
		}
		if i < 1920 && math.Abs(w-without.weights.Weight[i]) > 1e-9 {
			t.Fatalf("row %d has weight %v, without the others %v", i, w, without.weights.Weight[i])
		}
	}
	path := filepath.Join(t.TempDir(), "w.csv")
	demand.NoError(t, r.WriteWeights(path))
	third := strings.Split(string(demand.Read(t, path)), "\n")[3]
	if !strings.HasPrefix(third, fmt.Sprintf("3,%v,", r.weights.Weight[1920])) {
		t.Errorf("row 3, which is not learned from, is written as %s", third)
	}
	q.Fit.Permutations = 20
	if tested := of(marked, "new"); tested.Finding == nil || tested.Finding.Sentence != of(rest, "").Finding.Sentence {
		t.Errorf("the rows that are not learned from are tested for drift, too: %+v", tested.Finding)
	}
	q.Fit.Permutations = 0
	q.Read.Drop = []string{"row", "new"}
	all, seen := of(marked, ""), []float64{}
	for _, row := range r.row[1920:] {
		seen = append(seen, all.weights.LogOmega[row])
	}
	if c := stat.Correlation(r.weights.LogOmega[1920:], seen, nil); !(c > .9) {
		t.Errorf("log omega of unseen and seen rows: correlation %.3f", c)
	}
	q.Read.Drop, q.Unseen = []string{"row"}, "x"
	_, err := Prepare(q)
	demand.Error(t, err, `column "x": the column does not say true or false`)
	for i := range marked[1:] {
		marked[i+1] = fmt.Sprintf("%s;%t", lines[i+1], i < 200)
	}
	q.File, q.Unseen = demand.CSV(t, strings.Join(marked, "\n")+"\n"), "new"
	_, err = Prepare(q)
	demand.Error(t, err, `row 1, column "new": nothing is learned from this row`)
	q.Weights.Kind = NoOmega
	_, err = Prepare(q)
	demand.NoError(t, err)
	for i := range marked[1:] {
		marked[i+1] = lines[i+1] + ";true"
	}
	q.File = demand.CSV(t, strings.Join(marked, "\n")+"\n")
	_, err = Prepare(q)
	demand.Error(t, err, "0 rows that new does not mark are too few")
	for i := range marked[1:] { // the last two of twelve months
		marked[i+1] = fmt.Sprintf("%s;%t", lines[i+1], i >= 2000)
	}
	q.Window = 2
	for row, w := range of(marked, "new").weights.Weight {
		want := 1. // of the months that are learned from the last two, and of those after them
		if row < 1600 {
			want = 0
		}
		if w != want {
			t.Fatalf("row %d has weight %v in a window of 2 learned months, want %v", row, w, want)
		}
	}
	q.Weights.HalfLife = 1e-4
	p, err := Prepare(q)
	demand.NoError(t, err)
	_, err = p.Weigh(t.Context(), nil)
	demand.Error(t, err, `column "new": with a half-life of 0.0001 months the rows that are learned from weigh nothing`)
}

// TestPhase: the weights of a table with weekends are those for its last day, a Sunday, or for another one that --at
// names, and a note says so. Days of few rows are like it by their phase.
func TestPhase(t *testing.T) {
	rng, text := random.New(1, "phase"), strings.Builder{}
	text.WriteString("day,x\n")
	for row := range 238 * 6 { // 2024-01-01 is a Monday
		date := time.Date(2024, 1, 1+row/6, 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&text, "%s,%.3f\n", date.Format(time.DateOnly), rng.NormFloat64()+3*float64(row/6%7/5))
	}
	q := Request{Request: tables.Request{Source: tables.Source{File: demand.CSV(t, text.String()), Time: "day"}, Fit: crossfit.ForTest(150)}}
	for _, at := range []string{"", "2024-08-23"} { // a Friday
		q.At = at
		r := weigh(t, q)
		demand.Words(t, r.String(), "by a phase (day of the week), and the weights are for that of "+cmp.Or(at, "2024-08-25"))
		if strings.Contains(r.String(), "no earlier time is much like") {
			t.Errorf("for %q:\n%s", at, r)
		}
		var weekdays, weekends []float64
		for i, w := range r.weights.Weight {
			if i/6%7 < 5 {
				weekdays = append(weekdays, w)
			} else {
				weekends = append(weekends, w)
			}
		}
		if more := stat.Mean(weekends, nil) > stat.Mean(weekdays, nil); more != (at == "") {
			t.Errorf("for %q weekdays weigh %.2f, weekends %.2f", at, stat.Mean(weekdays, nil), stat.Mean(weekends, nil))
		}
	}
}

// TestNewPhase: where no earlier time has the phase of T, none is called the most alike.
func TestNewPhase(t *testing.T) {
	p := &Job{Opened: tables.Opened{Present: 3, Rows: []int{0, 1, 2, 3}, Stream: &tables.Stream{
		Times: &table.Times{Index: []int32{0, 1, 2, 3}, Values: []float64{0, 1, 2, 3}}}}}
	for length, want := range map[float64]int{4: -1, 3: 0} {
		if at, worth := p.mostLike(make([]float64, 4), &crossfit.Cycle{Length: length}); at != want {
			t.Errorf("a cycle of %v times: the most alike is time %d, of %v, want %d", length, at, worth, want)
		}
	}
}

// TestNewRange: a note where all x of the last time are beyond those before, and none where half of them are.
func TestNewRange(t *testing.T) {
	for from, want := range map[int]bool{0: true, 50: false} { // the row of the last time from which on x is beyond
		var b strings.Builder
		b.WriteString("t,x\n")
		for i := range 1000 {
			x := float64(i * 37 % 100)
			if i >= 900+from {
				x += 1000
			}
			fmt.Fprintf(&b, "%d,%v\n", i/100, x)
		}
		r := weigh(t, Request{Request: tables.Request{Source: tables.Source{File: demand.CSV(t, b.String()), Time: "t"}, Fit: crossfit.ForTest(300)}})
		if note := "no earlier time is much like 9: the most alike, "; strings.Contains(r.String(), note) != want {
			t.Errorf("x is beyond from row %d on:\n%s", from, r)
		}
	}
}

// TestLeftOut: a row far from all others in time and rows without a label change no weight of the others; the latter
// are weighted if only their features are needed. Rows keep their numbers in the file.
func TestLeftOut(t *testing.T) {
	source := func(extra string) tables.Source {
		return tables.Source{File: drifting(t, extra), Time: "month", Label: "y", Bin: table.Bin{Unit: "month"},
			Read: table.Options{Drop: []string{"row"}}}
	}
	for _, test := range []struct {
		extra string
		kind  crossfit.Kind
		rows  int
		notes string
	}{
		{"1970-01;1;0;0;no\n2024-12;1;0;0;\n2024-12;1;0;0;yes\n", crossfit.Joint, 2401,
			"left out: 1 row without a label in column y, first row 2402"},
		{"9999-12;1;0;0;new\n", NoOmega, 2400, "left out: 1 row far from all others in time, first row 2401"},
		{"2024-12;1;0;0;\n", crossfit.Covariate, 2401, ""},
		{"2024-12;1;0;0;\n", NoOmega, 2400, "without a label"},
	} {
		q := Request{Request: tables.Request{Source: source(test.extra), Fit: crossfit.ForTest(20)}}
		q.Weights.Kind, q.Weights.HalfLife = test.kind, 5
		if p, err := Prepare(q); err != nil || p.data.Label != nil && p.data.Classes != 2 {
			t.Errorf("%q: %d classes, %v", test.extra, p.data.Classes, err)
		}
		r := weigh(t, q)
		notes := strings.Join(r.Schema.Notes, "; ")
		if r.Rows != test.rows || r.Times != 12 || (notes == "") != (test.notes == "") ||
			!strings.Contains(notes, test.notes) || !strings.Contains(r.String(), notes[:min(len(notes), 30)]) {
			t.Errorf("%q: %d rows of %d times, notes %s", test.extra, r.Rows, r.Times, notes)
		}
		if last := r.row[r.Rows-1]; test.rows == 2401 && last != 2400+2*strings.Count(test.extra, "no") {
			t.Errorf("%q: the last row is %d of the file", test.extra, last+1)
		}
		if test.rows > 2400 {
			continue
		}
		q.File = drifting(t, "")
		if want := weigh(t, q); !slices.Equal(r.weights.Weight, want.weights.Weight) {
			t.Errorf("%q: other weights than without the row", test.extra)
		}
	}
}

// TestLateLabels: where no row of the last time has a label, a note says for which time the weights are, and a mistake
// says why that time cannot be T. Where fewer rows of the last times have one than before, a note says from when on,
// and that of a back test proposes a gap; not where labels are missing at random, or at all weekends.
func TestLateLabels(t *testing.T) {
	text := "day,x,y\n"
	for i := range 200 {
		text += fmt.Sprintf("2024-01-%02d,%d,%d\n", i/50+1, i*7%10, i%2)
	}
	file := demand.CSV(t, text+"2024-01-05,1,\n2024-01-05,2,\n")
	for _, bin := range []table.Bin{{}, {Unit: "day"}, {Rows: 50}} {
		q := Request{Request: tables.Request{Source: tables.Source{File: file, Time: "day", Label: "y", Bin: bin}, Fit: crossfit.ForTest(1)}}
		p, err := Prepare(q)
		demand.NoError(t, err)
		want := "the present is 2024-01-04, not 2024-01-05, the last time of the table: its rows have no label"
		if got := strings.Join(p.About.Notes, "; "); !strings.Contains(got, want) {
			t.Errorf("bin %v: notes %q", bin, got)
		}
		if d, err := drift.Prepare(q.Request); err != nil || !strings.Contains(strings.Join(d.About.Notes, "; "),
			"the present is 2024-01-04, not 2024-01-05") {
			t.Errorf("bin %v: notes of drift %q, %v", bin, d.About.Notes, err)
		}
		if q.At = "2024-01-05"; bin.Rows > 0 {
			continue // a later time is that of the last block
		}
		_, err = Prepare(q)
		demand.Error(t, err, "rows without a label do not count")
		q.Weights.Kind = crossfit.Covariate
		if p, err = Prepare(q); err != nil || p.About.Notes != nil {
			t.Errorf("bin %v: covariate weights: %v", bin, err)
		}
	}
	rng := random.New(1, "late labels")
	for _, c := range []struct {
		name          string
		missing       func(day, y int) float64 // probability
		from, at, gap string
	}{
		{"late", func(day, y int) float64 { return map[bool]float64{true: .9}[day > 24 && y == 1] },
			"from 2024-01-25 on have no label", "by --at 2024-01-24", "--gap 4 "},
		{"later", func(day, _ int) float64 { return .05 + map[int]float64{26: .2, 27: .5, 28: 1}[day] },
			"from 2024-01-26 on have no label", "by --at 2024-01-25", "--gap 3 "},
		{"at random", func(_, _ int) float64 { return .2 }, "", "", ""},
		{"at weekends", func(day, _ int) float64 { return map[bool]float64{true: .7, false: .05}[day%7 == 0] }, "", "", ""},
	} {
		text := "day,x,y\n"
		for i := range 28 * 40 {
			day, y := i/40+1, fmt.Sprint(rng.IntN(2))
			if rng.Float64() < c.missing(day, int(y[0]-'0')) {
				y = ""
			}
			text += fmt.Sprintf("2024-01-%02d,%.3f,%s\n", day, rng.NormFloat64(), y)
		}
		source := tables.Source{File: demand.CSV(t, text), Time: "day", Label: "y", Bin: table.Bin{Unit: "day"}}
		q := tables.Request{Source: source, Fit: crossfit.ForTest(1)}
		d, err := drift.Prepare(q)
		demand.NoError(t, err)
		b, err := backtest.Prepare(backtest.Request{Request: q, Model: backtest.Logistic})
		demand.NoError(t, err)
		notes, gap := strings.Join(d.About.Notes, "; "), strings.Join(b.About.Notes, "; ")
		if c.at == "" && (strings.Contains(notes, "label") || strings.Contains(gap, "--gap")) ||
			!strings.Contains(notes, c.from) || !strings.Contains(notes, c.at) ||
			!strings.Contains(gap, c.gap) {
			t.Errorf("%s: notes of drift %q, of backtest %q", c.name, notes, gap)
		}
	}
}

// TestOnlyX: if x alone drifts, a note says that weights of the rule from x to y do not correct that.
func TestOnlyX(t *testing.T) {
	rng := random.New(1, "only-x")
	text := "month,x,noise,coin,y\n" // columns and rows as in TestRule, whose programs serve
	for i := range 2400 {
		x := rng.NormFloat64() + float64(i)/400
		text += fmt.Sprintf("2024-%02d,%.4f,%.4f,%d,%t\n", i/200+1, x, rng.NormFloat64(), rng.IntN(2), x+2*rng.NormFloat64() > 3)
	}
	for label, other := range map[string]string{"coin": "y", "y": "coin"} { // with y the outcome drifts, too, as x does
		q := Request{Request: tables.Request{Source: tables.Source{File: demand.CSV(t, text), Time: "month", Label: label,
			Bin: table.Bin{Unit: "month"}, Read: table.Options{Drop: []string{other}}}, Fit: crossfit.ForTest(10)}}
		q.Fit.Permutations = tables.LeastPermutations
		if r := weigh(t, q); !strings.Contains(r.String(), "not the drift of x alone") ||
			(label == "y") != slices.Contains(r.Finding.Drifting(), tables.InY) {
			t.Errorf("%s: no note:\n%s", label, r)
		}
	}
}

// TestFar: one value far from all others, in x or in y, hides none of them from g.
func TestFar(t *testing.T) {
	logs := func(far string) []float64 {
		rng := random.New(1, "far")
		text := "t,x,y\n"
		for i := range 600 {
			x := fmt.Sprint(rng.NormFloat64() + float64(i)/200)
			if i == 301 {
				x = far
			}
			text += fmt.Sprintf("%d,%s,%s\n", i/60, x, x)
		}
		return weigh(t, Request{Request: tables.Request{Source: tables.Source{File: demand.CSV(t, text), Time: "t", Label: "y"},
			Fit: crossfit.ForTest(60)}, Weights: crossfit.WeightOptions{Kind: crossfit.Joint}}).weights.LogOmega
	}
	near := logs("1")
	for _, value := range []string{"1e9", "-1e36"} {
		if r := stat.Correlation(near, logs(value), nil); !(r > .98) {
			t.Errorf("a value of %s changes log omega: correlation %.3f", value, r)
		}
	}
}

// TestFiles: the weights can be read again, one line a row; a row number among the features is named.
func TestFiles(t *testing.T) {
	r := weigh(t, Request{Request: tables.Request{Source: tables.Source{File: drifting(t, ""), Time: "month",
		Bin: table.Bin{Unit: "month"}}, Fit: crossfit.ForTest(150)}})
	if r.Kind != crossfit.Covariate || len(r.Leaks) != 1 || !strings.HasPrefix(r.Leaks[0], "row follows the time") ||
		!strings.Contains(r.String(), "note: "+r.Leaks[0]+"\n") {
		t.Errorf("%s, leaks %q:\n%s", r.Kind, r.Leaks, r)
	}
	for _, name := range []string{"w.parquet", "w.csv"} {
		path := filepath.Join(t.TempDir(), name)
		demand.NoError(t, r.WriteWeights(path))
		read, err := table.Open(path, table.Options{})
		if err != nil || read.Rows() != 2400 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		columns, err := read.Features()
		if err != nil || strings.Join(columns, " ") != "row weight log_omega spread" {
			t.Errorf("%s has %v, %v", name, columns, err)
		}
	}
}

// TestOneRule: drift and weights test the same rows with the same settings. Where nothing drifts, all weights are 1;
// one column of 20 that moves by half a standard deviation is found.
func TestOneRule(t *testing.T) {
	names := make([]string, 20)
	for j := range names {
		names[j] = fmt.Sprint("c", j)
	}
	for _, moves := range []float64{0, .5} { // standard deviations over the time
		file := demand.Table(t, strings.Join(names, ","), 40, 100, func(rng *rand.Rand, block int) ([]float64, string) {
			x := make([]float64, len(names))
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			x[7] += moves * float64(block) / 39
			return x, "0"
		})
		q := tables.Request{Source: tables.Source{File: file, Time: "block", Read: table.Options{Drop: []string{"y"}}}, Fit: crossfit.ForTest(150)}
		q.Fit.Permutations = tables.LeastPermutations
		a, err := drift.Prepare(q)
		demand.NoError(t, err)
		b, err := Prepare(Request{Request: q})
		if err != nil || !reflect.DeepEqual(a.Tested, b.Tested) || !reflect.DeepEqual(a.Request, b.Request.Request) {
			t.Errorf("weights tests other rows than drift: %v", err)
		}
		w, err := b.Weigh(t.Context(), nil)
		demand.NoError(t, err)
		found := w.Finding
		if !strings.HasPrefix(w.String(), found.Sentence+".\n") || !strings.Contains(w.String(), "\nx: p ") {
			t.Errorf("the summary is %s", w)
		}
		if moves == 0 {
			if len(found.Drifting()) > 0 || w.Share != 1 || !w.Equal {
				t.Errorf("no drift: %s, effective share %v", found.Sentence, w.Share)
			}
			for i, v := range w.weights.Weight {
				if v != 1 {
					t.Fatalf("row %d of a table without drift has weight %v", i, v)
				}
			}
			continue
		}
		if strings.Join(found.Drifting(), ", ") != tables.InX || strings.Join(found.Columns, " ") != "c7" {
			t.Errorf("one column moves: %+v", found)
		}
	}
}
