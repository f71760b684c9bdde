package drift

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// measure measures a table with a fit of seconds.
func measure(t *testing.T, file, label string, drop ...string) *Result {
	t.Helper()
	fit := crossfit.ForTest(150)
	fit.Permutations = tables.LeastPermutations
	p, err := Prepare(tables.Request{Fit: fit,
		Source: tables.Source{File: file, Time: "block", Label: label, Read: table.Options{Drop: drop}}})
	demand.NoError(t, err)
	r, err := p.Measure(context.Background(), nil)
	demand.NoError(t, err)
	t.Logf("%s", r)
	return r
}

// overlap is 1 minus the total variation distance of N(a, 1) and N(b, 1).
func overlap(a, b float64) float64 { return 2 * distuv.UnitNormal.CDF(-math.Abs(a-b)/2) }

// compareMap returns correlation and root mean squared difference of a map and the overlap of N(mean(block), 1).
func compareMap(m *Map, mean func(block int) float64) (correlation, rms float64) {
	var got, want []float64
	for T, row := range m.Worth {
		for t, v := range row {
			got, want = append(got, v), append(want, overlap(mean(T), mean(t)))
			rms += (v - want[len(want)-1]) * (v - want[len(want)-1])
		}
	}
	return stat.Correlation(got, want, nil), math.Sqrt(rms / float64(len(got)))
}

// TestPeriod: one of five columns moves, and returns every 10 blocks. It comes first, and the map shows the return.
func TestPeriod(t *testing.T) {
	mean := func(block int) float64 { return 1.5 * math.Sin(2*math.Pi*float64(block)/10) }
	r := measure(t, demand.Table(t, "a,b,moves,d,e", 30, 100, func(rng *rand.Rand, block int) ([]float64, string) {
		x := make([]float64, 5)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		x[2] += mean(block)
		return x, "0"
	}), "", "y")
	if len(r.Finding.Questions) != 1 || strings.Join(r.Verdict.Drift, ", ") != tables.InX {
		t.Errorf("drift in %v: %s", r.Verdict.Drift, r.Verdict.Sentence)
	}
	if c := r.Columns.List[0]; c.Column != "moves" || c.Share < .6 {
		t.Errorf("%s comes first, with a share of %.2f", c.Column, c.Share)
	}
	correlation, rms := compareMap(&r.Maps[0], mean)
	t.Logf("map: correlation %.3f, rms %.3f", correlation, rms)
	alike := floats.MaxIdx(r.Maps[0].Worth[29][:29])
	if correlation < .85 || rms > .15 || math.Abs(mean(alike)-mean(29)) > .1 ||
		!strings.Contains(r.String(), fmt.Sprintf("most like the present (1: alike): %d ", alike)) {
		t.Errorf("correlation %.3f of the map with the closed form, rms %.3f; most like block 29 is %d:\n%s", correlation, rms,
			alike, r)
	}
}

// TestTurn: the place of a step, and none where neighbours differ alike.
func TestTurn(t *testing.T) {
	for step, want := range map[float64]bool{0: false, 1: true} {
		m := &Map{}
		for a := range 10 {
			m.Worth = append(m.Worth, make([]float64, 10))
			for b := range 10 {
				at := func(block int) float64 { return .1*float64(block) + step*float64(block/6) }
				m.Worth[a][b] = overlap(at(a), at(b))
			}
		}
		blocks := slices.Repeat([]tables.Block{{Rows: 9}}, 10)
		if at, sharp := m.turn(blocks); sharp != want || sharp && at != 6 {
			t.Errorf("a step of %v: turn at %d, sharp: %v", step, at, sharp)
		}
		m.Worth[0][1], blocks[0].Rows = 0, 4
		if at, sharp := m.turn(blocks); sharp != want || sharp && at != 6 {
			t.Errorf("a step of %v, a first block of few rows: turn at %d, sharp: %v", step, at, sharp)
		}
	}
}

// TestFewTurn: of two and three blocks a step is sharp, and a trend is not.
func TestFewTurn(t *testing.T) {
	for _, c := range []struct {
		worth [][]float64
		want  int // 0: not sharp
	}{
		{[][]float64{{1, .1}, {.1, 1}}, 1}, {[][]float64{{1, .9, .1}, {.9, 1, .1}, {.1, .1, 1}}, 2},
		{[][]float64{{1, .6, .2}, {.6, 1, .6}, {.2, .6, 1}}, 0},
	} {
		at, sharp := (&Map{Worth: c.worth}).turn(slices.Repeat([]tables.Block{{Rows: 9}}, len(c.worth)))
		if sharp != (c.want > 0) || sharp && at != c.want {
			t.Errorf("%v: turn at %d, sharp: %v", c.worth, at, sharp)
		}
	}
}

// TestPhaseMap: weeks are alike although g sees weekends, until a column changes, which the verdict says as well.
func TestPhaseMap(t *testing.T) {
	rng, text := random.New(1, "phase map"), strings.Builder{}
	text.WriteString("block,x,z\n")
	for row := range 420 * 10 { // 2024-01-01 is a Monday, and 60 blocks of a week
		day := row / 10
		date := time.Date(2024, 1, 1+day, 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&text, "%s,%.3f,%.3f\n", date.Format(time.DateOnly), rng.NormFloat64()+3*float64(day%7/5),
			rng.NormFloat64()+2*float64(day/280))
	}
	r := measure(t, demand.CSV(t, text.String()), "")
	if r.Covariate.View.Cycle == nil || len(r.Blocks) != 60 || r.Verdict.Turn != r.Blocks[40].Name {
		t.Fatalf("g sees the time by %s, the table turns at %q:\n%s", r.Covariate.View.Name, r.Verdict.Turn, r)
	}
	like := r.likePresent()
	before, after := stat.Mean(like[:40], nil), stat.Mean(like[40:], nil)
	if exact := overlap(0, 2); math.Abs(before-exact) > .1 || after < .75 {
		t.Errorf("blocks are like the present by %.2f before the change (exact: %.2f), and by %.2f after it", before, exact, after)
	}
}

// TestUnseenTurn: where g sees nothing, so that all blocks of its maps are alike, the verdict names no time, and says
// of columns only that they drift by themselves.
func TestUnseenTurn(t *testing.T) {
	flat := [][]float64{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}
	r := &Result{Blocks: []tables.Block{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Maps: []Map{{In: tables.InX, Worth: flat}, {In: tables.InBoth, Worth: flat}, {In: tables.InRule, Worth: flat}}, Columns: &Columns{}}
	trend := []tables.QuestionTest{{View: "trend"}}
	r.Finding = &tables.Finding{Sentence: "Drift", Columns: []string{"n31"}, Questions: []tables.Question{
		{Name: tables.InX, Drift: true, Tests: trend}, {Name: tables.InY}, {Name: tables.InRule, Drift: true, Tests: trend}}}
	v := r.judge()
	if want := "Drift. When y given x changes is not seen by g; n31 drifts by itself."; v.Sentence != want || v.Turn != "" {
		t.Errorf("the verdict is %q (turn %q), not %q", v.Sentence, v.Turn, want)
	}
}

// TestRecurring: the verdict says no time of change of drift that the tests see by phases alone.
func TestRecurring(t *testing.T) {
	sharp := [][]float64{{1, .9, .9, .2}, {.9, 1, .9, .2}, {.9, .9, 1, .2}, {.2, .2, .2, 1}}
	gradual := [][]float64{{1, .8, .6, .4}, {.8, 1, .8, .6}, {.6, .8, 1, .8}, {.4, .6, .8, 1}}
	for _, c := range []struct {
		view, also string
		worth      [][]float64
		want       string
	}{
		{"trend", "", sharp, "Drift. The change of x seems strongest around d."},
		{"trend", "", gradual, "Drift. The change of x is gradual."},
		{"times", "", sharp, "Drift. The change of x seems strongest around d."},
		{"day of the week", "", sharp, "Drift."},
		{"day of the week", "trend", sharp, "Drift. The change of x seems strongest around d."},
		{"trend", "day of the week", gradual, "Drift. The change of x is gradual."},
		{"day of the week", "day of the year", sharp, "Drift."},
	} {
		r := &Result{Maps: []Map{{In: tables.InX, Worth: c.worth}}, Columns: &Columns{}}
		r.Blocks = []tables.Block{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
		r.Finding = &tables.Finding{Sentence: "Drift", Questions: []tables.Question{{Name: tables.InX, Drift: true,
			Tests: []tables.QuestionTest{{P: .04, View: "month of the year"}, {P: .01, View: c.view, Also: c.also}}}}}
		if got := strings.TrimSuffix(r.judge().Sentence, " No earlier block is much like the last one."); got != c.want {
			t.Errorf("by %s and %s: %s", c.view, c.also, got)
		}
	}
}

// TestTimesRecur: where tests tell each time by itself and g sees a phase alone, the verdict names the phase.
func TestTimesRecur(t *testing.T) {
	month := &crossfit.Diagnostics{View: crossfit.View{Cycle: &crossfit.Cycle{Name: "month of the year"}}}
	for view, want := range map[string]string{"times": "Drift. The change of x recurs by month of the year.",
		"trend": "Drift. The change of x is gradual."} {
		r := &Result{Maps: []Map{{In: tables.InX, Worth: [][]float64{{1, .8, .6}, {.8, 1, .8}, {.6, .8, 1}}}},
			Columns: &Columns{}, Covariate: month, Blocks: make([]tables.Block, 3)}
		r.Finding = &tables.Finding{Sentence: "Drift", Questions: []tables.Question{{Name: tables.InX, Drift: true,
			Tests: []tables.QuestionTest{{View: view}}}}}
		if got := r.judge().Sentence; got != want {
			t.Errorf("%s: %s", view, got)
		}
	}
}

// TestUnlike: the verdict says so where no earlier block has half of its distribution in common with the last one.
func TestUnlike(t *testing.T) {
	for worth, want := range map[float64]bool{.45: true, .55: false} {
		maps := []Map{{In: tables.InX, Worth: [][]float64{{1, .9, .2}, {.9, 1, .2}, {.3, worth, 1}}}}
		r := &Result{Blocks: make([]tables.Block, 3), Maps: maps, Columns: &Columns{}}
		r.Finding = &tables.Finding{Questions: []tables.Question{
			{Name: tables.InX, Drift: true, Tests: []tables.QuestionTest{{View: "trend"}}}}}
		if got := r.judge().Sentence; strings.HasSuffix(got, ". No earlier block is much like the last one.") != want {
			t.Errorf("with %.2f in common: %s", worth, got)
		}
	}
}

// TestRule: the rule from x to y turns round in the middle; x and y by themselves stay as they are.
func TestRule(t *testing.T) {
	r := measure(t, demand.Table(t, "x,noise", 20, 150, func(rng *rand.Rand, block int) ([]float64, string) {
		x := rng.NormFloat64()
		y := "no"
		if (x > 0) == (block < 10) {
			y = "yes"
		}
		return []float64{x, rng.NormFloat64()}, y
	}), "y")
	demand.Equal(t, strings.Join(r.Verdict.Drift, ", "), tables.InRule, "drift: %s", r.Verdict.Sentence)
	if at, sharp := r.mapOf(tables.InRule).turn(r.Blocks); at < 9 || at > 11 || !sharp {
		t.Errorf("the rule is said to change at block %d (sharp: %v), not 10", at, sharp)
	}
	if got := strings.Join(r.Verdict.Columns, ", "); got != "x, y" && got != "y, x" {
		t.Errorf("columns %s", got)
	}
	if at := r.Tests.when(tables.InBoth); at == nil || r.Tests.Stretches[at.Stretch].Name != "10" {
		t.Errorf("the tests over time find %+v", at)
	}
	for _, m := range r.Maps {
		now := m.Worth[len(m.Worth)-1]
		drop := stat.Mean(now[10:20], nil) - stat.Mean(now[:10], nil)
		if m.In == tables.InX && math.Abs(drop) > .1 || m.In != tables.InX && drop < .2 {
			t.Errorf("in %s the last 10 blocks are by %.2f more like the present than the first 10", m.In, drop)
		}
	}
	lines := strings.Split(strings.TrimSpace(r.String()), "\n")
	if lines[0] != r.Verdict.Sentence || len(lines) < 5 || len(lines) > 17 {
		t.Errorf("a summary of %d lines that begins with %q", len(lines), lines[0])
	}
}
