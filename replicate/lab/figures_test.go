package lab

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/supervised"
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
			if p.Verdict == claims.NotRun || p.Effect.N != 2 {
				t.Errorf("claim %s: %+v", c.ID, p)
			}
		}
	}
	if panel := r.Figure.Panels[1]; panel.Key != "b" || len(panel.Series) != 3 || panel.Reference != nil {
		t.Errorf("panel b draws %+v", panel)
	}
}

// TestStandInIsNamed: a figure that is made without CLEAR says so on its page and picture, in the printed table, in
// the CSV and in the claims.
func TestStandInIsNamed(t *testing.T) {
	w := newWorkplace(t)
	w.Host.Backend = backendtest.Open(t, "") // networks of images
	w.options.Panels = []string{"b"}
	w.options.Learners = []string{"recent", "metaweightnet"}
	w.options.Overrides = []string{"steps=5", "first=2", "stride=2", "n=20", "images=200", "epochs=1", "max-updates=2"}
	r, err := w.Make(context.Background(), paper.Fig4(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range w.csvRows(t, "fig04-b.csv") {
		if row.Metric != "accuracy ("+supervised.StandIn+")" {
			t.Fatalf("row %+v", row)
		}
	}
	panel := r.Figure.Panels[0]
	if !strings.Contains(panel.Title, supervised.StandIn) ||
		!slices.ContainsFunc(panel.Notes, func(n string) bool { return strings.Contains(n, supervised.StandIn) }) {
		t.Errorf("panel %q, notes %q", panel.Title, panel.Notes)
	}
	for name, text := range map[string]string{"page": string(w.read(t, "index.html")),
		"picture": string(w.read(t, "fig04-b.svg")),
		"claims":  string(w.read(t, "claims.json")), "terminal": w.stdout.String()} {
		if !strings.Contains(text, supervised.StandIn) {
			t.Errorf("the %s does not say %q", name, supervised.StandIn)
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
	of := func(plan []claims.Panel, series string) (id string) {
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
