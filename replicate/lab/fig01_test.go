package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

// fig1 makes Figure 1.
func (l *testLab) fig1(t *testing.T) *Result {
	t.Helper()
	r, err := l.Make(t.Context(), paper.Fig1(), l.options)
	demand.NoError(t, err)
	return r
}

// TestFig1: panel a has all files, its CSV, claims and provenance are complete. The second call computes nothing and
// writes the same CSV.
func TestFig1(t *testing.T) {
	l := newMiniature(t)
	r := l.fig1(t)
	entries, err := os.ReadDir(l.options.Out)
	demand.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	const want = "SHA256SUMS claims.json echarts.min.js fig01-a.csv fig01-a.pdf fig01-a.png fig01-a.svg index.html provenance.json"
	demand.Equal(t, strings.Join(names, " "), want, "files")
	checkCSV(t, l)
	checkClaims(t, r.Claims)
	demand.Equal(t, string(l.read(t, claimsFile)), "[]\n", "claims at the scale tiny")
	var p claims.Record
	if err := json.Unmarshal(l.read(t, "provenance.json"), &p); err != nil || p.Scale != "tiny" ||
		!slices.Equal(p.Seeds, l.options.Seeds) || p.Settings["a"]["max-updates"] != "3" || len(p.Runs) != 8 || len(p.Runs[0].ID) != 16 {
		t.Errorf("provenance %+v, %v", p, err)
	}
	demand.Words(t, l.stdout.String(), "Everything", "Ours", TinyNote,
		filepath.Join(l.options.Out, "index.html"))
	checkPage(t, html.UnescapeString(string(l.read(t, "index.html"))), r)
	table := l.read(t, "fig01-a.csv")
	again := l.fig1(t)
	if r.Report.Computed != 8 || again.Report.Computed != 0 || again.Report.Cached != 8 {
		t.Errorf("computed %d runs, then %d", r.Report.Computed, again.Report.Computed)
	}
	if !bytes.Equal(l.read(t, "fig01-a.csv"), table) {
		t.Error("the second call wrote another CSV")
	}
}

// checkPage demands that the page has the verdicts, the means, the command and the links.
func checkPage(t *testing.T, page string, r *Result) {
	t.Helper()
	if strings.Contains(page, `id="claims"`) {
		t.Error("the scale tiny judges claims")
	}
	demand.Words(t, page, ">"+r.Figure.Command+"</code>", " --panel a", `<a href="claims.json">`,
		`<a href="provenance.json">`, `<a href="fig01-a.pdf">`, "8 runs, stored below the folder of --results or read from tables: <code>gaussian</code>",
		"Scale tiny, ", "N = 30 samples a step", "every 2nd step of 7")
}

// The command of a page has the options that the figure was made with. Options for several
// figures may not apply to this one: then it is the command for all figures.
func TestPageCommand(t *testing.T) {
	for want, o := range map[string]Options{
		"fig1 --scale tiny --set n=3 --panel a,b --series ours,recent": {
			Panels: []string{"a", "b"}, Learners: []string{"ours", "recent"}, Overrides: []string{"n=3"},
		},
		"fig1 --scale tiny --seeds 4,5": {Seeds: []int64{4, 5}, AllFigures: true, Out: "elsewhere"},
		"all --scale tiny --set n=3":    {Overrides: []string{"n=3"}, AllFigures: true},
	} {
		o.Scale = "tiny"
		demand.Equal(t, o.pageCommand(paper.Fig1()), "go run ./replicate "+want, "the page's command")
	}
}

func checkCSV(t *testing.T, l *testLab) {
	t.Helper()
	count := map[string]int{}
	for _, r := range l.csvRows(t, "fig01-a.csv") {
		count[r.Series]++
		if r.Panel != "a" || r.Metric != "accuracy" || r.Value < 0 || r.Value > 1 || r.T%2 != 1 {
			t.Errorf("row %+v", r)
		}
	}
	demand.Equal(t, fmt.Sprint(count), "map[everything:6 finetune:6 ours:6 recent:6]", "rows, of 2 seeds with 3 steps")
}

// checkClaims demands the claims about panel a. Those about other panels, too, are not run.
func checkClaims(t *testing.T, judged []claims.Judged) {
	t.Helper()
	want := slices.DeleteFunc(paper.Fig1().Claims, func(c paper.Claim) bool { return c.Parts[0].Panel != "a" })
	if len(judged) != len(want) {
		t.Fatalf("%d claims of panel a, want %d", len(judged), len(want))
	}
	for i, c := range judged {
		other := slices.ContainsFunc(c.Parts, func(p claims.JudgedPart) bool { return p.Panel != "a" || p.Panels != "" })
		if c.ID != want[i].ID || (c.Verdict == claims.NotRun) != other || !other && c.Parts[0].Effect.N != 2 {
			t.Errorf("claim %+v", c)
		}
	}
}

// TestUnwritableFolders: folders that cannot be written are found before anything is computed.
func TestUnwritableFolders(t *testing.T) {
	l := newMiniature(t)
	demand.Write(t, l.options.Out, "")
	l.options.Out = filepath.Join(l.options.Out, "out")
	_, err := l.Make(t.Context(), paper.Fig1(), l.options)
	demand.Error(t, err, l.options.Out, "choose another")
	if done, _ := filepath.Glob(filepath.Join(l.results, "*", "*")); len(done) > 0 {
		t.Errorf("runs were computed before the error: %v", done)
	}
	l.options.Out = t.TempDir()
	demand.Write(t, filepath.Join(l.results, "gaussian"), "")
	_, err = l.Make(t.Context(), paper.Fig1(), l.options)
	demand.Error(t, err, l.results)
	if !errors.As(err, new(*runs.FolderError)) {
		t.Errorf("%T is not the typed error that the command line gives advice on", err)
	}
}

// TestStandInIsNamed: a figure that is made without CLEAR says so on its page and picture, in the printed table, in
// the CSV and in the claims.
func TestStandInIsNamed(t *testing.T) {
	l := newLab(t)
	l.options.Panels = []string{"b"}
	l.fill(t, 4)
	r, err := l.Draw(paper.Fig4(), l.options)
	demand.NoError(t, err)
	for _, row := range l.csvRows(t, "fig04-b.csv") {
		if row.Metric != "accuracy ("+supervised.StandIn+")" {
			t.Fatalf("row %+v", row)
		}
	}
	panel := r.Figure.Panels[0]
	for _, text := range []string{string(l.read(t, "index.html")), panel.Title, strings.Join(panel.Notes, " "),
		string(l.read(t, "fig04-b.svg")), fmt.Sprint(r.Claims), l.stdout.String()} {
		demand.Words(t, text, supervised.StandIn)
	}
}

// TestSeedsOfPanels: Figure 12 compares its first three seeds with all seeds, and a run that two panels show is one
// run.
func TestSeedsOfPanels(t *testing.T) {
	l := newLab(t)
	for _, p := range l.plan(t, paper.Fig12()) {
		want := map[string]int{"a": 3, "b": 3, "c": 8, "d": 8}[p.Key]
		if len(p.Seeds) != want || p.Seeds[2] != 2 {
			t.Errorf("panel %s has the seeds %v", p.Key, p.Seeds)
		}
	}
	l.options.Seeds = []int64{7, 5, 0, 1}
	plan := l.plan(t, paper.Fig12())
	if want := 2 * 5 * 4; len(idsOf(plan...)) != want || !slices.Equal(plan[0].Seeds, []int64{7, 5, 0}) {
		t.Errorf("%d runs, want %d, seeds %v", len(idsOf(plan...)), want, plan[0].Seeds)
	}
}

// TestKeepsOthers: a figure does not replace a page that is not its own, neither when it is drawn nor when it is made,
// alone or with all others; its own it replaces, and says so if it is of another scale.
func TestKeepsOthers(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	l := fromTables(t, testCatalog, gallery)
	l.Stdout, l.Stderr = io.Discard, io.Discard
	f := paper.Fig7()
	const text = "<!DOCTYPE html><title>Figure 7: the voyages of a ship</title>"
	parent := t.TempDir()
	path := filepath.Join(parent, f.Name(), "index.html")
	demand.Write(t, path, text)
	o := Options{Scale: "small", Judged: true, Out: filepath.Dir(path), Workers: 1}
	_, err := l.Draw(f, o)
	demand.Error(t, err, path, "so it is kept", "--out")
	_, err = l.Make(t.Context(), f, o)
	demand.Error(t, err, path, "so it is kept", "--out")
	o.Out = parent
	alone := *l
	alone.Figures = []paper.Figure{f}
	made, err := alone.DrawAll(t.Context(), o)
	demand.NoError(t, err)
	demand.Error(t, made[0].Err, path, "so it is kept", "--out")
	if files := demand.Files(t, parent); len(files) != 1 || files[filepath.Join(f.Name(), "index.html")] != text {
		t.Errorf("the folder has %d files", len(files))
	}
	out := t.TempDir()
	for range 2 {
		_, err := l.Draw(f, Options{Scale: "small", Judged: true, Out: out})
		demand.NoError(t, err)
	}
	_, err = l.Draw(paper.Fig14(), Options{Scale: "small", Judged: true, Out: out})
	demand.Error(t, err, out, "no page of fig14")
	compact := t.TempDir()
	_, err = l.Draw(f, Options{Scale: "small", Judged: true, Compact: true, Out: compact})
	demand.NoError(t, err)
	demand.Error(t, Options{Out: compact}.keepOthers(paper.Fig14()), compact, "no tables of fig14")
	demand.NoError(t, Options{Out: compact}.keepOthers(f))
	demand.NoError(t, Options{Scale: "tiny", Out: out}.keepOthers(f)) // a figure of another scale is its own
}
