package study

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/claims"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
)

// TestDeclaredReadings: each reading has valid settings at the scales of its scenarios, of which those that it names
// differ from the default's and no others, and is about interpretations that exist.
func TestDeclaredReadings(t *testing.T) {
	document := demand.Read(t, interpretations)
	readings := Readings()
	plans, err := readingPlans(catalog, readings, Options{Options: lab.Options{Scale: "small"}})
	if err != nil || len(plans) != defaults+len(readings) {
		t.Fatalf("%d readings, %v", len(plans), err)
	}
	for i, r := range plans[defaults:] {
		if !regexp.MustCompile(`(?m)^## ` + r.About + ` `).Match(document) {
			t.Errorf("%s is about %q, which is no interpretation", r.Name, r.About)
		}
		if len(r.panels) == 0 {
			t.Errorf("%s has no panel", r.Name)
		}
		for _, p := range r.panels {
			if !slices.Contains(readings[i].Scenarios, p.Scenario) {
				t.Errorf("%s is run on %s", p.Key, p.Scenario)
			}
			was, err := catalog.Setup(p.Scenario, "small", p.Set)
			demand.NoError(t, err)
			before, after := fieldsOf(was), fieldsOf(p.Settings)
			for name := range before {
				named := slices.ContainsFunc(r.Set, func(set string) bool { return strings.HasPrefix(set, name+"=") })
				if before[name] != after[name] && !named {
					t.Errorf("%s: %s is %s instead of %s", p.Key, name, after[name], before[name])
				}
			}
		}
	}
	_, err = readingPlans(catalog, readings, Options{Options: lab.Options{Scale: "small"}, Rows: []string{"clip-non"}})
	demand.Error(t, err, `"clip-non"`, `did you mean "clip-none"`)
}

// TestReadings: runs of figures are not computed again, a reading changes only claims about learners that it can
// change, and the runs that are written make the same page on a machine that has none.
func TestReadings(t *testing.T) {
	w, o := newBench(t)
	gallery := t.TempDir()
	w.Figures = []paper.Figure{paper.Fig1()}
	settings, parent := o.Overrides, o.Options
	parent.Panels, parent.Out = []string{"a"}, filepath.Join(gallery, "fig01")
	_, err := w.Make(t.Context(), paper.Fig1(), parent)
	demand.NoError(t, err)
	gaussian := func(name, set string) Reading {
		return Reading{Alternative: Alternative{Name: name, Set: []string{set}}, Scenarios: []string{"gaussian"}}
	}
	readings := []Reading{gaussian("clip", "clip=none"), gaussian("tune", "finetune-epochs=0"),
		gaussian("rate", "rate=.1")}
	readings[2].Series = []string{"ours"} // though the rate is that of all learners
	o.Out = filepath.Join(gallery, readingFolder)
	demand.NoError(t, AddReadings(w.Lab, gallery))
	before := len(stored(t, w))
	demand.NoError(t, Judge(t.Context(), w.Lab, readings, o))
	if n := len(stored(t, w)) - before; n != 3*2 { // one learner for each reading and seed
		t.Errorf("%d runs were computed", n)
	}
	page := string(demand.Read(t, filepath.Join(o.Out, "README.md")))
	picture := string(demand.Read(t, filepath.Join(o.Out, readingName+".svg")))
	for claim, want := range map[string]string{"fig1a-ours-everything": "changed same changed",
		"fig1a-ours-others": "changed changed changed", "fig1a-oracle": "same changed same"} {
		_, row, _ := strings.Cut(picture, ">"+claim+"</text>")
		row, _, _ = strings.Cut(row, `text-anchor="end"`)
		var got []string
		for _, r := range readings {
			_, cell, _ := strings.Cut(row, "<title>"+r.Name+": ")
			got = append(got, map[bool]string{true: "same", false: "changed"}[strings.HasPrefix(cell, "same runs")])
		}
		if row == "" || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s\n%s", claim, got, want, row)
		}
	}

	l := fromTables(t, w.Catalog, gallery)
	var printed strings.Builder
	l.Stdout, o.Overrides = &printed, settings
	demand.NoError(t, AddReadings(l, gallery))
	o.Out = filepath.Join(t.TempDir(), "again")
	demand.NoError(t, Judge(t.Context(), l, readings, o))
	if again := string(demand.Read(t, filepath.Join(o.Out, "README.md"))); again != page {
		t.Errorf("from the written runs the page is\n%s\ninstead of\n%s", again, page)
	}
}

// stored lists the finished runs of a lab.
func stored(t *testing.T, l *bench) []os.DirEntry {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(l.results, "gaussian"))
	demand.NoError(t, err)
	return slices.DeleteFunc(files, func(f os.DirEntry) bool { return !strings.HasSuffix(f.Name(), ".jsonl.zst") })
}

// TestDependentClaims: a claim depends on the reading if it holds under one and does not hold under another.
func TestDependentClaims(t *testing.T) {
	verdicts := func(v ...claims.Verdict) verdictsByReading {
		out := verdictsByReading{claims: []paper.Claim{{ID: "c"}}}
		for _, verdict := range v {
			out.Readings = append(out.Readings, judgedReading{Claims: map[string]claims.Judged{"c": {Verdict: verdict}}})
		}
		return out
	}
	for _, c := range []struct {
		verdicts []claims.Verdict
		want     int
	}{
		{[]claims.Verdict{claims.Holds, claims.Holds, claims.DoesNotHold}, 1},
		{[]claims.Verdict{claims.Undecided, claims.DoesNotHold, claims.Holds}, 1},
		{[]claims.Verdict{claims.Holds, claims.Undecided, claims.NotRun}, 0},
		{[]claims.Verdict{claims.Partly, claims.NoDifference, claims.Holds}, 0},
	} {
		if got := len(verdicts(c.verdicts...).dependent()); got != c.want {
			t.Errorf("%v: %d claims depend on it", c.verdicts, got)
		}
	}
}

// TestGalleryHasReadings: the runs of the readings in the gallery are those of this version, so that they stand in for
// runs, and give its page.
func TestGalleryHasReadings(t *testing.T) {
	l := fromTables(t, catalog, gallery)
	before := len(l.Tables.Specs())
	demand.NoError(t, AddReadings(l, gallery))
	if n := len(l.Tables.Specs()) - before; n < 90 {
		t.Errorf("%d runs were added", n)
	}
	l.Stdout = io.Discard
	o := Options{Options: lab.Options{Scale: "small", Out: t.TempDir()}}
	demand.NoError(t, Judge(t.Context(), l, Readings(), o))
	page := strings.Split(string(demand.Read(t, filepath.Join(o.Out, "README.md"))), "\n")
	for i, line := range strings.Split(string(demand.Read(t, filepath.Join(gallery, readingFolder, "README.md"))), "\n") {
		if i >= len(page) || page[i] != line {
			t.Fatalf("line %d of the readings' page is not from the gallery's runs, which `readings` makes:\n%s", i+1, line)
		}
	}
}

// fromTables is a lab of the runs in a folder of drawn figures.
func fromTables(t *testing.T, c lab.Catalog, dir string) *lab.Lab {
	t.Helper()
	l, err := lab.OpenStored(c, lab.OpenOptions{Results: filepath.Join(t.TempDir(), "none"), Tables: dir})
	demand.NoError(t, err)
	return l
}
