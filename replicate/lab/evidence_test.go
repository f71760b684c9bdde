package lab

import (
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"

	"gonum.org/v1/gonum/stat"
)

// largerSamples is an archive with the runs of Figure 1 and more of two of its panels: of panel a nine seeds at every
// step, a fixed size, and of panel b the eight seeds of Figure 12.
func largerSamples(t *testing.T) *workplace {
	t.Helper()
	a := newArchive(t)
	a.only(1, 12)
	a.skip = func(job runs.Wanted) int {
		if job.Spec.Seed == 7 && job.Spec.Experiment == "cifar10b" { // so panel c is judged by what is drawn
			return all
		}
		return 0
	}
	a.fill(t, 1, 12)
	size := claims.Size{Scale: "tiny", Figure: "fig01", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(9), Stride: 1}}
	a.fix(t, size)
	plan := a.enlarged(t, size)
	a.compute(t, []claims.Panel{plan}, func(job runs.Wanted, step int) float64 {
		value := map[string]float64{"everything": .5, "recent": .4, "finetune": .45, "ours": .6}[job.Series]
		if job.Series == "ours" {
			value += .01*float64(job.Spec.Seed) + .001*float64(step%5)
		}
		return value
	})
	w := &workplace{Lab: a.Lab, options: a.options, results: a.results}
	w.options.Out = filepath.Join(t.TempDir(), "fig01")
	w.Lab.Stdout = &w.stdout
	return w
}

// seedsTo are the first n seeds.
func seedsTo(n int) (out []int64) {
	for i := range int64(n) {
		out = append(out, i)
	}
	return out
}

// fix fixes sizes.
func (a *archive) fix(t *testing.T, sizes ...claims.Size) {
	t.Helper()
	if err := WriteJSON(a.sizesFile(), sizes); err != nil {
		t.Fatal(err)
	}
}

// enlarged returns the panel of a size with its runs.
func (a *archive) enlarged(t *testing.T, s claims.Size) claims.Panel {
	t.Helper()
	var err error
	if s.Plan, err = a.panelOf(s); err != nil {
		t.Fatal(err)
	}
	p, err := a.Enlarged(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// difference is the mean of a series minus that of a base, and the number of seeds, from the rows of a CSV file.
func difference(rows []figures.Row, series, base string) (mean float64, seeds int) {
	of := map[string][]float64{}
	seen := map[int64]bool{}
	for _, r := range rows {
		of[r.Series] = append(of[r.Series], r.Value)
		seen[r.Seed] = true
	}
	return stat.Mean(of[series], nil) - stat.Mean(of[base], nil), len(seen)
}

// TestJudgedFiles: where claims are judged by more than is drawn, these rows are a file from which the effects can be
// computed again, the page, the pictures and the terminal say so, and the provenance has the runs. The tables give the
// verdicts. Where claims are judged by what is drawn, there is no such file, and that of an earlier drawing is removed.
func TestJudgedFiles(t *testing.T) {
	w := largerSamples(t)
	r, err := w.Draw(paper.Fig1(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	checkJudged(t, w, r)
	checkTables(t, w)
	w.options.Seeds = []int64{0, 1}
	if _, err := w.Draw(paper.Fig1(), w.options); err != nil {
		t.Fatal(err)
	}
	for _, panel := range []string{"a", "b"} {
		if _, err := os.Stat(filepath.Join(w.options.Out, "fig01-"+panel+"-judged.csv")); !os.IsNotExist(err) {
			t.Errorf("panel %s, judged as drawn, has the file of an earlier drawing: %v", panel, err)
		}
	}
	page, record := string(w.read(t, "index.html")), string(w.read(t, "provenance.json"))
	if strings.Contains(page, "judged.csv") || strings.Contains(page, "more than are drawn") ||
		strings.Contains(record, `"judged"`) {
		t.Error("page or provenance of chosen seeds have a larger sample")
	}
}

func checkJudged(t *testing.T, w *workplace, r *Result) {
	t.Helper()
	var judged []claims.Judged
	if err := json.Unmarshal(w.read(t, claimsFile), &judged); err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, c := range judged {
		for _, p := range c.Parts {
			if p.Statistic != paper.Difference || p.Verdict == claims.NotRun {
				continue
			}
			file := "fig01-" + p.Panel + ".csv"
			if p.Panel == "a" || p.Panel == "b" {
				file = "fig01-" + p.Panel + "-judged.csv"
			}
			mean, seeds := difference(w.csvRows(t, file), p.Series, p.Base)
			if math.Abs(mean-p.Effect.Mean) > 1e-12 || seeds != p.Effect.N {
				t.Errorf("%s of %s, panel %s: %v over %d seeds in %s, %v over %d in %s",
					p, c.ID, p.Panel, mean, seeds, file, p.Effect.Mean, p.Effect.N, claimsFile)
			}
			compared[p.Panel] = seeds
		}
	}
	if compared["a"] != 9 || compared["b"] != 8 || compared["c"] != 3 || len(compared) != 4 {
		t.Errorf("seeds of the claims about each panel: %v", compared)
	}
	if _, err := os.Stat(filepath.Join(w.options.Out, "fig01-c-judged.csv")); !os.IsNotExist(err) {
		t.Errorf("panel c is judged as it is drawn, and has a file of judged rows: %v", err)
	}
	if rows := w.csvRows(t, "fig01-a.csv"); slices.ContainsFunc(rows, func(r figures.Row) bool { return r.Seed > 2 }) {
		t.Error("seeds of the larger sample are drawn")
	}
	checkSentences(t, w, r)
	var record claims.Record
	if err := json.Unmarshal(w.read(t, "provenance.json"), &record); err != nil {
		t.Fatal(err)
	}
	drawn := map[string]bool{}
	for _, run := range record.Runs {
		drawn[run.ID] = true
	}
	for panel, want := range map[string]struct{ seeds, stride, runs int }{"a": {9, 1, 6 * 4}, "b": {8, 13, 5 * 5}} {
		sample := record.Judged[panel]
		if len(sample.Seeds) != want.seeds || sample.Stride != want.stride || len(sample.Runs) != want.runs {
			t.Errorf("panel %s: the provenance has %d seeds, stride %d, %d runs, want %+v",
				panel, len(sample.Seeds), sample.Stride, len(sample.Runs), want)
		}
		for _, run := range sample.Runs {
			if drawn[run.ID] || run.Panel != panel || run.Provenance.Seed < 3 {
				t.Errorf("panel %s: run %+v", panel, run)
			}
		}
	}
	if len(record.Judged) != 2 || len(record.Runs) != 3*(4+5+5+4) {
		t.Errorf("provenance of %d larger samples and %d drawn runs", len(record.Judged), len(record.Runs))
	}
}

// checkSentences demands that page, picture and terminal say what the claims are judged by.
func checkSentences(t *testing.T, w *workplace, r *Result) {
	t.Helper()
	page := html.UnescapeString(string(w.read(t, "index.html")))
	for _, want := range []string{
		`<a href="fig01-a-judged.csv">fig01-a-judged.csv</a>`, `<a href="fig01-b-judged.csv">`,
		"The claims and the differences in these notes are judged by 9 seeds at every step, which are more than are drawn.",
		"The claims are judged by 8 seeds at every 13th step, which are more than are drawn.",
		"103 stored runs", // 54 are drawn
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "fig01-c-judged.csv") || strings.Count(page, "more than are drawn") != 2 {
		t.Error("the page names other larger samples")
	}
	for _, want := range []string{"The claims are judged by 9 seeds at every step, which are more than are drawn.\nPanel b",
		"The claims are judged by 8 seeds at every 13th step, which are more than are drawn.\nPanel c"} {
		if !strings.Contains(w.stdout.String(), want) {
			t.Errorf("the terminal lacks %q:\n%s", want, &w.stdout)
		}
	}
	// The differences in the notes are those of nine seeds, of which three are drawn.
	panel := r.Figure.Panels[0]
	rows := slices.DeleteFunc(w.csvRows(t, "fig01-a-judged.csv"), func(r figures.Row) bool { return r.T > 36 })
	mean, _ := difference(rows, "ours", "recent")
	want := "Ours at t = 1 to 36 minus: Everything "
	i := slices.IndexFunc(panel.Notes, func(note string) bool { return strings.HasPrefix(note, want) })
	if i < 0 || !strings.Contains(panel.Notes[i], "Recent "+claims.Signed(mean)+" [") {
		t.Errorf("notes %q, want Recent %s", panel.Notes, claims.Signed(mean))
	}
}

// TestGallerySizes: the sizes that are fixed in the folder of the results are written to the gallery, where there are
// any.
func TestGallerySizes(t *testing.T) {
	a, dir := newArchive(t), t.TempDir()
	readme := filepath.Join(dir, "README.md")
	demand.Write(t, readme, "<!-- gallery:begin -->\n<!-- gallery:end -->\n")
	copied := filepath.Join(dir, "sizes.json")
	if err := a.WriteGallery(claims.Verification{Figures: []claims.State{{Stored: 1}}}, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(copied); !os.IsNotExist(err) {
		t.Errorf("no size is fixed, and there is a file: %v", err)
	}
	size := claims.Size{Scale: "tiny", Figure: "fig14", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(9), Stride: 2},
		Parts: []claims.SizedPart{{Claim: "fig14-similar", What: "Ours minus Everything", Mean: .006, Half: .01, Aim: .003}}}
	a.fix(t, size)
	if err := a.WriteGallery(claims.Verification{Figures: []claims.State{{Stored: 1}}}, dir); err != nil {
		t.Fatal(err)
	}
	fixed := demand.Read(t, a.sizesFile())
	if got, err := os.ReadFile(copied); err != nil || string(got) != string(fixed) ||
		!strings.Contains(string(got), `"half": 0.01`) {
		t.Errorf("%v, the gallery has\n%s\nwant\n%s", err, got, fixed)
	}
	if text, err := os.ReadFile(readme); err != nil || !strings.Contains(string(text), "no claim. ") {
		t.Errorf("%v, README.md:\n%s", err, text)
	}
}
