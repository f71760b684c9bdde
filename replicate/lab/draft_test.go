package lab

import (
	"bytes"
	"context"
	"encoding/json"
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

// twoPanels has a panel a that takes more work than its panel b, and a claim about each.
var twoPanels = paper.Figure{Number: 31, Title: "Two panels", Panels: []paper.Panel{
	{Key: "a", Title: "Costly", Scenario: "gaussian", Series: []string{"everything", "ours"}},
	{Key: "b", Title: "Cheap", Scenario: "gaussian", Series: []string{"everything", "recent"}},
}, Claims: []paper.Claim{
	{ID: "fig31a", Text: "Ours is better", Place: "here",
		Parts: []paper.Part{{Panel: "a", Series: "ours", Base: "everything"}}},
	{ID: "fig31b", Text: "Recent is better", Place: "here",
		Parts: []paper.Part{{Panel: "b", Series: "recent", Base: "everything"}}},
}}

// witness is a log that calls see at each line about a draft.
type witness struct {
	bytes.Buffer
	see func(line string)
}

func (w *witness) Write(text []byte) (int, error) {
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.Contains(line, " drawn: ") {
			w.see(line)
		}
	}
	return w.Buffer.Write(text)
}

// newTwoPanels is a lab for twoPanels, which calls see at each draft.
func newTwoPanels(t *testing.T, see func(line string)) *testLab {
	w := newMiniature(t)
	w.options.Panels, w.options.Workers = nil, 1
	w.Lab.Stderr = &witness{see: see}
	return w
}

// TestDraft: the cheap panel is drawn while the other one is computed, on a page that reloads itself, names what is
// missing and judges nothing. The last page is that of a figure whose runs were all stored.
func TestDraft(t *testing.T) {
	var lines []string
	var w *testLab
	w = newTwoPanels(t, func(line string) {
		lines = append(lines, line)
		page := string(w.read(t, "index.html"))
		demand.Words(t, page, "location.reload()", "Being computed: panel a.", `data-chart="fig31-b"`, "<noscript>")
		for _, unwanted := range []string{`data-chart="fig31-a"`, `id="claims"`, claimsFile, "Recent is better", "Verdicts"} {
			if strings.Contains(page, unwanted) {
				t.Errorf("the draft has %q", unwanted)
			}
		}
		if _, err := os.Stat(filepath.Join(w.options.Out, claimsFile)); !os.IsNotExist(err) {
			t.Errorf("verdicts of an earlier drawing are still there (%v)", err)
		}
		var record claims.Record
		if err := json.Unmarshal(w.read(t, "provenance.json"), &record); err != nil || len(record.Runs) != 2 ||
			record.Runs[0].Panel != "b" || record.Settings["a"] != nil {
			t.Errorf("provenance %+v, %v", record, err)
		}
		w.read(t, "fig31-b.png")
	})
	w.options.Seeds = []int64{0}
	demand.Write(t, filepath.Join(w.options.Out, claimsFile), "older")
	_, err := w.Make(t.Context(), twoPanels, w.options)
	demand.NoError(t, err)
	want := "fig31: b drawn: " + filepath.Join(w.options.Out, "index.html") + " (a to come)"
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("printed %q, want %q", lines, want)
	}
	last := w.read(t, "index.html")
	if a, b := bytes.Index(last, []byte(`id="fig31-a"`)), bytes.Index(last, []byte(`id="fig31-b"`)); a < 0 || b < a ||
		!bytes.Contains(last, []byte(TinyNote)) {
		t.Errorf("the last page has the panels at %d and %d, or nothing in place of the claims", a, b)
	}
	w.options.Out = filepath.Join(t.TempDir(), "stored")
	if _, err := w.Make(t.Context(), twoPanels, w.options); err != nil || len(lines) != 1 {
		t.Fatal(err, lines)
	}
	if !bytes.Equal(last, w.read(t, "index.html")) || bytes.Contains(last, []byte(`id="draft"`)) {
		t.Error("the last page differs from that of stored runs")
	}
}

// TestFirstSeed: the first picture has the first seed of the cheap panel with all series, the second that of both
// panels; then the second seeds follow. Each picture says what is still to come.
func TestFirstSeed(t *testing.T) {
	var lines []string
	var w *testLab
	being := []string{"panel a, and further seeds of panel b, which narrow the bands.",
		"further seeds of panels a and b, which narrow the bands.", "further seeds of panel a, which narrow the bands."}
	rowsOfB, runsBefore := []int{6, 6, 12}, []int{2, 3, 5} // both panels have the runs of everything
	w = newTwoPanels(t, func(line string) {
		i := len(lines)
		lines = append(lines, strings.Replace(line, w.options.Out, "OUT", 1))
		if i >= len(being) {
			return
		}
		page := string(w.read(t, "index.html"))
		if n := len(w.csvRows(t, "fig31-b.csv")); n != rowsOfB[i] || !strings.Contains(page, "Being computed: "+being[i]) {
			t.Errorf("picture %d has %d rows of panel b, want %d, or does not say %q", i, n, rowsOfB[i], being[i])
		}
		done := strings.Count(w.Lab.Stderr.(*witness).String(), ": done in ")
		demand.Equal(t, done, runsBefore[i], "runs before picture %d", i)
	})
	_, err := w.Make(t.Context(), twoPanels, w.options)
	demand.NoError(t, err)
	want := []string{"fig31: b (n = 1) drawn: OUT/index.html (a to come)",
		"fig31: a (n = 1), b (n = 1) drawn: OUT/index.html", "fig31: a (n = 1), b drawn: OUT/index.html"}
	demand.List(t, lines, want, "printed")
}

// TestInterruptedDraft: the page of an interrupted figure says what is missing, and what continues it. A figure of
// which one panel's runs fail still has a draft of the other.
func TestInterruptedDraft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newTwoPanels(t, func(string) { cancel() })
	w.options.Seeds = []int64{0}
	_, err := w.Make(ctx, twoPanels, w.options)
	demand.Error(t, err, "interrupted with 2 of 3 runs finished")
	demand.Words(t, string(w.read(t, "index.html")), "Being computed: panel a.", "the same command continues")
	var lines []string
	w.Lab.Stderr = &witness{see: func(line string) { lines = append(lines, line) }}
	failing := append([]string{"a.g-network=conv5", "a.g-input=pixels"}, w.options.Overrides...)
	w.options.Overrides, w.options.Out = failing, filepath.Join(t.TempDir(), "failed")
	_, err = w.Make(t.Context(), twoPanels, w.options)
	demand.Error(t, err, "1 of 3 runs failed")
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "fig31: b drawn: ") {
		t.Errorf("printed %q", lines)
	}
}

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
	demand.Equal(t, strings.Join(drawn, " "), "fig21 fig23 fig22", "the figures are drawn in the order")
	printed := log.String()
	computed := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^(.*): done in`).FindAllStringSubmatch(printed, -1) {
		if computed[m[1]]++; computed[m[1]] > 1 {
			t.Errorf("%s was computed twice", m[1])
		}
	}
	stored, err := filepath.Glob(filepath.Join(w.results, "gaussian", "*.zst"))
	if err != nil || len(computed) != 8 || len(stored) != 8 ||
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
	if n := strings.Count(w.stderr.String(), "FAILED"); n != 2 {
		t.Errorf("%d failures, want each of the 2 seeds of Ours once:\n%s", n, &w.stderr)
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
