package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
)

// smallCatalog returns three figures whose panels share runs: they have 1 + 3 + 3 runs for each seed, of which 4
// differ.
func smallCatalog() Catalog {
	c := Catalog{Protocols: testCatalog.Protocols}
	for i, series := range [][]string{{"everything"}, {"everything", "ours", "recent"},
		{"everything", "recent", "finetune"}} {
		f := paper.Figure{Number: 21 + i, Title: "A figure", Panels: []paper.Panel{
			{Key: "a", Title: "Gaussian", Scenario: "gaussian", Series: series, Absolute: true}}}
		if len(series) > 1 {
			f.Claims = []paper.Claim{{ID: f.Name(), Text: "It is better", Place: "here",
				Parts: []paper.Part{{Panel: "a", Series: series[1], Base: "everything"}}}}
		}
		c.Figures = append(c.Figures, f)
	}
	return c
}

// newCollection returns a lab for All.
func newCollection(t *testing.T, overrides ...string) *testLab {
	w := newMiniature(t)
	w.Catalog, w.options.Panels = smallCatalog(), nil
	w.options.Overrides = slices.Concat(w.options.Overrides, []string{"steps=6"}, overrides)
	return w
}

// TestAll: runs that several figures share are computed once, all runs together, and every figure is made from them.
// Each is drawn when its runs have ended.
func TestAll(t *testing.T) {
	w := newCollection(t)
	var drawn []string
	w.options.Workers = 1
	log := &witness{see: func(line string) {
		_, path, _ := strings.Cut(line, " drawn: ")
		if page := demand.Read(t, path); bytes.Contains(page, []byte(`id="draft"`)) {
			t.Errorf("%s: it is a draft", line)
		}
		drawn = append(drawn, filepath.Base(filepath.Dir(path)))
	}}
	w.Lab.Stderr = log
	made, err := w.All(t.Context(), w.options)
	if err != nil || Incomplete(made) != nil {
		t.Fatal(err, Incomplete(made))
	}
	if got := strings.Join(drawn, " "); got != "fig21 fig23 fig22" {
		t.Errorf("the figures are drawn in the order %s, want that of their work", got)
	}
	printed := log.String()
	computed := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^(.*): done in`).FindAllStringSubmatch(printed, -1) {
		if computed[m[1]]++; computed[m[1]] > 1 {
			t.Errorf("%s was computed twice", m[1])
		}
	}
	stored, err := filepath.Glob(filepath.Join(w.results, "gaussian", "*.zst"))
	if err != nil || len(computed) != 4 || len(stored) != 8 ||
		!strings.HasPrefix(printed, "8 runs: 0 stored, 8 to compute") {
		t.Errorf("computed %v, stored %d runs, want 4 learners with 2 seeds each:\n%s", computed, len(stored), printed)
	}
	var lines []string
	for _, m := range made {
		lines = append(lines, m.String())
		page, err := os.ReadFile(m.Page)
		if err != nil || bytes.Contains(page, []byte(`id="draft"`)) ||
			!bytes.Contains(page, []byte(TinyNote)) {
			t.Errorf("%s is not finished (%v)", m.Page, err)
		}
	}
	want := regexp.MustCompile(strings.ReplaceAll(`^fig21  NOTE; .*/fig21/index.html\nfig22  NOTE; .*\nfig23  NOTE; .*$`,
		"NOTE", regexp.QuoteMeta(TinyNote)))
	if text := strings.Join(lines, "\n"); !want.MatchString(text) {
		t.Errorf("the summary is\n%s", text)
	}
	if w.stdout.Len() > 0 {
		t.Errorf("All printed tables: %s", &w.stdout)
	}
	w.Lab.Stderr = &w.stderr
	if again, err := w.All(t.Context(), w.options); err != nil || again[1].Result.Report.Computed != 0 ||
		w.stderr.String() != "8 runs, all stored\n" {
		t.Errorf("again: %v, printed %s", err, &w.stderr)
	}
}

// imagesNeeded are settings under which g fails at run time on vectors, so that every run of Ours fails.
var imagesNeeded = []string{"g-network=conv5", "g-input=pixels"}

// TestAllWithFailures: runs that fail are tried once, figures that lack them are named, and all others are made.
func TestAllWithFailures(t *testing.T) {
	w := newCollection(t, imagesNeeded...)
	made, err := w.All(t.Context(), w.options)
	demand.NoError(t, err)
	demand.Error(t, Incomplete(made), "1 of 3 figures not complete: fig22; fig22 because 2 of 6 runs failed",
		"gaussian/ours", "needs images")
	if n := strings.Count(w.stderr.String(), "FAILED"); n != 1 {
		t.Errorf("%d failures, want Ours of 2 seeds together, once:\n%s", n, &w.stderr)
	}
	for _, m := range made {
		if _, err := os.Stat(m.Page); err != nil {
			t.Errorf("%s was not made: %v", m.Name, err)
		}
		if (m.Name == "fig22") != strings.Contains(m.String(), "incomplete: 2 of 6 runs failed") {
			t.Errorf("line %q", m)
		}
	}
	page, err := os.ReadFile(made[1].Page)
	if err != nil || !bytes.Contains(page, []byte("Not drawn, as runs are missing: Ours.")) ||
		made[1].Result.Claims[0].Verdict != claims.NotRun {
		t.Errorf("%v, %+v", err, made[1].Result.Claims)
	}
}
