package lab

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/replicate/continual"
	"tvps/replicate/paper"

	"gonum.org/v1/gonum/stat"
)

// csvRows returns the rows of a CSV file in the output folder.
func (w *workplace) csvRows(t *testing.T, name string) []figures.Row {
	t.Helper()
	rows, err := figures.ReadCSV(bytes.NewReader(w.read(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestScorePanels: the panels of Figure 5 show measures other than accuracy, at every step up to the last, and its
// claims are about them.
func TestScorePanels(t *testing.T) {
	w := newWorkplace(t)
	w.options.Panels = []string{"a", "b"}
	w.options.Overrides = []string{"steps=32", "n=40", "g-updates=5", "g-batch=16", "max-updates=3"}
	r, err := w.Make(context.Background(), paper.Fig5(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	if rows := w.csvRows(t, "fig05-a.csv"); len(rows) != 2*32 || rows[0].Metric != "mean" || rows[0].Series != "data" {
		t.Errorf("panel a has %d rows, the first is %+v", len(rows), rows[0])
	}
	rows := w.csvRows(t, "fig05-b.csv")
	if len(rows) != 3*2*32 {
		t.Errorf("panel b has %d rows", len(rows))
	}
	for _, row := range rows {
		if row.Metric != "score" || row.Value < 0 || row.Value > 1 || row.T == 31 && row.Value != 1 {
			t.Errorf("row %+v", row)
		}
	}
	for _, c := range r.Claims {
		for _, p := range c.Parts {
			if p.Verdict == NotRun || p.Effect.N != 2 {
				t.Errorf("claim %s: %+v", c.ID, p)
			}
		}
	}
	if panel, err := r.Figure.Panel("b"); err != nil || len(panel.Series) != 3 || panel.Reference != nil {
		t.Errorf("panel b draws %+v, %v", panel, err)
	}
}

// TestStandInIsNamed: a figure that is made without CLEAR says so on its page and picture, in the printed table, in
// the CSV and in the claims.
func TestStandInIsNamed(t *testing.T) {
	w := newWorkplace(t)
	w.options.Panels = []string{"b"}
	w.options.Learners = []string{"recent", "metaweightnet"}
	w.options.Overrides = []string{"steps=5", "first=2", "stride=2", "n=20", "images=200", "epochs=1", "max-updates=2"}
	r, err := w.Make(context.Background(), paper.Fig4(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range w.csvRows(t, "fig04-b.csv") {
		if row.Metric != "accuracy ("+continual.StandIn+")" {
			t.Fatalf("row %+v", row)
		}
	}
	panel, err := r.Figure.Panel("b")
	if err != nil || !strings.Contains(panel.Title, continual.StandIn) ||
		!slices.ContainsFunc(panel.Notes, func(n string) bool { return strings.Contains(n, continual.StandIn) }) {
		t.Errorf("panel %q, notes %q, %v", panel.Title, panel.Notes, err)
	}
	for name, text := range map[string]string{"page": string(w.read(t, "index.html")),
		"picture": string(w.read(t, "fig04-b.svg")),
		"claims":  string(w.read(t, "claims.json")), "terminal": w.stdout.String()} {
		if !strings.Contains(text, continual.StandIn) {
			t.Errorf("the %s does not say %q", name, continual.StandIn)
		}
	}
}

// TestSeedsOfPanels: Figure 12 compares its first three seeds with all seeds, and a run that two panels show is one
// run.
func TestSeedsOfPanels(t *testing.T) {
	plan, err := testCatalog.Panels(paper.Fig12(), Options{Scale: "tiny"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan {
		want := map[string]int{"a": 3, "b": 3, "c": 8, "d": 8}[p.Key]
		if len(p.Seeds) != want || p.Seeds[2] != 2 {
			t.Errorf("panel %s has the seeds %v", p.Key, p.Seeds)
		}
	}
	if plan, err = testCatalog.Panels(paper.Fig12(), Options{Scale: "tiny", Seeds: []int64{7, 5}}); err != nil ||
		!slices.Equal(plan[0].Seeds, []int64{7, 5}) {
		t.Errorf("%v, %v", plan, err)
	}
	w := newWorkplace(t)
	w.options.Panels, w.options.Seeds, w.options.Overrides = nil, []int64{0, 1, 2, 3}, nil
	if plan, err = w.Plan(paper.Fig12(), w.options); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, p := range plan {
		for _, job := range p.Jobs {
			ids[job.Spec.ID()] = true
		}
	}
	if want := 2 * 5 * 4; len(ids) != want {
		t.Errorf("%d runs, want %d", len(ids), want)
	}
}

// TestMethodsShareRuns: Method 2 is Ours, so Figure 8 shares its runs with Figure 1. Method 1 has its own.
func TestMethodsShareRuns(t *testing.T) {
	w := newWorkplace(t)
	ours, err := w.Plan(paper.Fig1(), Options{Scale: "tiny", Panels: []string{"b"},
		Learners: []string{"ours", "method1"}})
	if err != nil {
		t.Fatal(err)
	}
	methods, err := w.Plan(paper.Fig8(), Options{Scale: "tiny", Panels: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(plan []PanelPlan, series string) (id string) {
		for _, job := range plan[0].Jobs {
			if job.Series == series {
				id = job.Spec.ID()
			}
		}
		return id
	}
	if of(ours, "ours") != of(methods, "method2") || of(ours, "method1") != of(methods, "method1") ||
		of(methods, "method1") == of(methods, "method2") {
		t.Error("Method 2 has runs of its own, or Method 1 has not")
	}
}

// TestStatistics compares all statistics of a curve with values computed by hand.
func TestStatistics(t *testing.T) {
	c := curve{t: []float64{0, 1, 2, 3, 4, 5, 6}, series: []float64{1, 2, 3, 4, 5, 6, 7},
		base: []float64{2, 2, 2, 2, 2, 2, 2}, exact: []float64{7, 6, 5, 4, 3, 2, 1}}
	for name, want := range map[paper.Statistic]float64{
		paper.Level: 4, paper.Difference: 2, paper.Share: 5.5 / 7, paper.Rejected: 0, paper.Slope: 100, paper.Correlation: 0,
		paper.CorrelationGain: -1, paper.Ratio: 1, paper.End: 7,
		paper.EndGain: 5,
		paper.Sooner:  -2,
	} {
		grid, err := statistics[name].grid([]curve{c}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := stat.Mean(grid[0], nil); got < want-1e-12 || got > want+1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	p := curve{t: c.t, series: []float64{0, .049, .05, .2, .3, .4, 1}}
	if got := stat.Mean(rejected(p), nil); math.Abs(got-2/7.) > 1e-12 {
		t.Errorf("%v of the p-values are below .05, want 2 of 7", got)
	}
	if len(statistics) != 14 {
		t.Errorf("there are %d statistics, 11, Spread, Highest and Further are tested", len(statistics))
	}
}

// TestHighest: 15, 20, 25 and 30 steps before the end against all other phases; 5 and 10 steps before it do not matter.
func TestHighest(t *testing.T) {
	var c curve
	for t := range 36 {
		score := .1
		switch {
		case t%5 != 0:
			score = .3
		case t == 5 || t == 10 || t == 15 || t == 20:
			score = .8 - float64(t)/100
		}
		c.t, c.series = append(c.t, float64(t)), append(c.series, score)
	}
	if got := highest(c); math.Abs(got-(.6-.3)) > 1e-12 {
		t.Errorf("the lowest of the same phase is %v above the highest of the others, want .3", got)
	}
}

// TestSooner: a curve that never reaches the final level of the base counts as one measurement late.
func TestSooner(t *testing.T) {
	at := []float64{10, 20, 30, 40, 50, 60, 70, 80}
	base := []float64{0, 0, 0, 0, 6, 6, 6, 6} // ends at 6; the mean of three values reaches it at 70
	for _, c := range []struct {
		series []float64
		want   float64
	}{
		{base, 0},
		{[]float64{0, 6, 6, 6, 6, 6, 6, 6}, 30},
		{[]float64{6, 0, 0, 0, 0, 0, 0, 0}, 60},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 5}, -20},
	} {
		if got := sooner(curve{t: at, series: c.series, base: base}); got != c.want {
			t.Errorf("%v comes %v sooner, want %v", c.series, got, c.want)
		}
	}
}

// TestSpread: the log of the ratio of the variances over seeds, each averaged over steps.
func TestSpread(t *testing.T) {
	var rows []figures.Row
	for seed, v := range []float64{1, 2, 6} {
		for at := range 2 {
			rows = append(rows, figures.Row{Panel: "a", Series: "sac-omega", Seed: int64(seed), T: at,
				Metric: "return", Value: v + float64(100*at)},
				figures.Row{Panel: "a", Series: "sac", Seed: int64(seed), T: at, Metric: "return", Value: 3 * v})
		}
	}
	m, err := measure(rows, paper.Part{Panel: "a", Series: "sac-omega", Base: "sac", Statistic: paper.Spread},
		"return", false)
	if err != nil {
		t.Fatal(err)
	}
	got := m.interval(figures.Level)
	if want := -math.Log(9); math.Abs(got.Mean-want) > 1e-12 || got.N != 3 || got.High < want {
		t.Errorf("%+v, want %v", got, want)
	}
}
