package lab

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"

	"gonum.org/v1/gonum/stat"
)

// newSamples returns a lab with the runs of Figures 1, 4 and 12 and of fixed sizes. Nine seeds at every step of Figure
// 1a lack a run of Fine-tune, and never had Meta-Weight-Net, which five seeds have.
func newSamples(t *testing.T) (*testLab, []claims.Size) {
	t.Helper()
	l := newLab(t)
	l.only(1, 4, 12)
	l.fill(t, 1, 4, 12)
	looked := []claims.SizedPart{{Claim: "fig4-ours-metaweightnet"}}
	sizes := []claims.Size{
		{Scale: "tiny", Figure: "fig04", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(5)}, Parts: looked},
		{Scale: "tiny", Figure: "fig01", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(9), Stride: 1}},
		{Scale: "tiny", Figure: "fig01", Panel: "b", Sample: claims.Sample{Seeds: seedsTo(8), Stride: 1}},
	}
	for i := range sizes {
		p := l.enlarged(t, sizes[i])
		p.Jobs = slices.DeleteFunc(p.Jobs, func(job runs.Wanted) bool {
			return job.Series == "finetune" && job.Spec.Seed == 8
		})
		l.compute(t, p, func(job runs.Wanted, step int) float64 {
			value := map[string]float64{"everything": .5, "ours": .6}[job.Series]
			if job.Series == "ours" {
				value += .05*math.Sin(float64(7*job.Spec.Seed)) + .01*math.Sin(float64(step))
			}
			return value
		})
	}
	l.fix(t, sizes...)
	return l, sizes
}

// drawSmall draws a figure from its stored runs as at the small scale: pictures of tiny runs show no larger sample.
func (l *testLab) drawSmall(t *testing.T, f paper.Figure) *Result {
	t.Helper()
	panels, _, err := l.stored(f, l.options)
	demand.NoError(t, err)
	judged, err := l.judge(f, l.options, panels)
	demand.NoError(t, err)
	o := l.options
	o.Scale = experiment.Small
	r, err := l.describe(o, judged, nil)
	if err == nil {
		err = l.write(o, r)
	}
	demand.NoError(t, err)
	return r
}

// TestSmallerSample: of the figure's three seeds SAC with omega lacks one on Half-Cheetah. Its claims are judged by a
// fixed sample of two, those of others by all three, with the intervals of a second look. Without fixed sizes it is not
// run.
func TestSmallerSample(t *testing.T) {
	l := newLab(t)
	l.only(2)
	l.lacks = func(job runs.Wanted) bool {
		return job.Spec.Experiment == "cheetah" && job.Series == "sac-omega" && job.Spec.Seed == 2
	}
	l.fill(t, 2)
	check := func(id string, seeds int, level float64) {
		t.Helper()
		if p := claim(t, l.verify(t), id).Parts[0]; p.Effect.N != seeds || p.Level != level {
			t.Errorf("%s: %s, want %d seeds, level %v", id, p, seeds, level)
		}
	}
	check("fig2b-sooner-sac", 0, 0)
	check("fig2b-omega-context", 3, 0)
	of := func(n, looks int, series ...string) claims.Size {
		return claims.Size{Scale: "tiny", Figure: "fig02", Panel: "b", Sample: claims.Sample{Seeds: seedsTo(n)}, Series: series,
			Looks: looks}
	}
	l.fix(t, of(2, 0))
	check("fig2b-sooner-sac", 2, 0)
	check("fig2b-omega-context", 3, 0)
	l.fix(t, of(2, 0), of(3, 2, "sac", "sac-context", "sac-context-omega", "nothing", "random", "constant"))
	check("fig2b-sooner-sac", 2, .975)
	check("fig2b-omega-context", 3, .975)
	check("fig2a-omega-sac", 3, 0)
}

// TestEvidenceByPart: each part of a claim is judged by the largest sample that its own series have whole, the three
// seeds of Figure 12a by all steps that are stored of them. The tables of the drawn figures give the same verdicts.
func TestEvidenceByPart(t *testing.T) {
	l, sizes := newSamples(t)
	dir := t.TempDir()
	drawn := map[string]*Result{}
	for _, f := range []paper.Figure{paper.Fig4(), paper.Fig12(), paper.Fig1()} {
		l.options.Out = filepath.Join(dir, f.Name())
		drawn[f.Name()] = l.drawSmall(t, f)
	}
	v := l.verify(t)
	for _, c := range []struct {
		id, base      string
		seeds, stride int
		level         float64
	}{
		{"fig1a-ours-everything", "everything", 9, 1, .975},
		{"fig1a-ours-others", "recent", 9, 1, .975},
		{"fig1a-ours-others", "finetune", 5, 31, .975},
		{"fig4-ours-everything", "everything", 9, 1, .975},
		{"fig4-ours-metaweightnet", "metaweightnet", 5, 31, .975},
		{"fig12-3-seeds", "everything", 3, 1, 0},
		{"fig12-8-seeds", "everything", 8, 1, 0},
	} {
		parts := claim(t, v, c.id).Parts
		p := parts[slices.IndexFunc(parts, func(p claims.JudgedPart) bool { return p.Base == c.base })]
		if p.Effect.N != c.seeds || p.Stride != c.stride || p.Level != c.level {
			t.Errorf("%s, panel %s against %s: %s, want %d seeds, stride %d, level %v", c.id, p.Panel, c.base, p, c.seeds,
				c.stride, c.level)
		}
	}
	for figure, want := range map[string][]string{
		"fig01": {"The claims about Ours and Everything, Ours and Recent, Recent and Everything, Recent are judged by " +
			"9 seeds, every step, which are more than are drawn."},
		"fig04": {"The claims about Ours and Everything are judged by 9 seeds, every step, which are more than are drawn."},
		"fig12": {},
	} {
		notes := drawn[figure].Figure.Panels[0].Notes
		got := slices.DeleteFunc(notes, func(note string) bool { return !strings.Contains(note, "judged by") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: notes\n%q, want\n%q", figure, got, want)
		}
	}
	if of := drawn["fig04"].Record.Judged["a"]; len(of.Seeds) != 5 {
		t.Errorf("provenance of Figure 4a: %+v", of)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "fig12", "provenance.json")); err != nil ||
		strings.Contains(string(text), "null") { // its judged runs are drawn, too
		t.Errorf("provenance of Figure 12: %s, %v", text, err)
	}
	demand.NoError(t, WriteJSON(filepath.Join(dir, sizesName), sizes))
	checkTables(t, l, dir, v)
}

// checkTables: the tables of figures give the verdicts of the stored runs, and fill in for runs that a store lacks.
// Tables with other rows or settings do not.
func checkTables(t *testing.T, l *testLab, dir string, want claims.Verification) {
	t.Helper()
	same := func(got claims.Verification) {
		t.Helper()
		if !reflect.DeepEqual(got.Claims, want.Claims) {
			t.Errorf("from tables: %v\nwant %v", got.Claims, want.Claims)
		}
	}
	same(verified(t, fromTables(t, l.Catalog, dir), l.options))
	stored, err := filepath.Glob(filepath.Join(l.results, "gaussian", "*.jsonl.zst"))
	if err != nil || len(stored) < 10 {
		t.Fatal(stored, err)
	}
	for _, path := range stored[:len(stored)/2] {
		demand.NoError(t, os.Remove(path))
	}
	both, err := OpenStored(l.Catalog, OpenOptions{Results: l.results, Tables: dir})
	demand.NoError(t, err)
	same(verified(t, both, l.options))

	table := filepath.Join(dir, "fig01", "fig01-a.csv")
	text := demand.Read(t, table)
	demand.Write(t, table, strings.Replace(string(text), "everything", "elsewhere", 1))
	_, err = claims.ReadTables(l.Catalog.Figures, dir)
	demand.Error(t, err, "fig01-a", "is not the file that SHA256SUMS lists: restore both, or draw")
	seal(t, filepath.Dir(table))
	_, err = claims.ReadTables(l.Catalog.Figures, dir)
	demand.Error(t, err, "fig01-a", "no run of provenance.json")
	demand.Write(t, table, text)
	for _, name := range []string{"fig01", "fig04", "fig12"} { // whose settings do not give the runs' identity
		record := filepath.Join(dir, name, figures.ProvenanceFile)
		demand.Write(t, record, strings.ReplaceAll(string(demand.Read(t, record)), `"rate": "0.0009"`, `"rate": "0.0008"`))
		seal(t, filepath.Dir(record))
	}
	for _, folder := range []string{dir, t.TempDir()} {
		_, err := claims.ReadTables(l.Catalog.Figures, folder)
		demand.Error(t, err, "no run of a drawn figure")
	}
}

// fromTables opens a lab without any stored run.
func fromTables(t *testing.T, c Catalog, dir string) *Lab {
	t.Helper()
	l, err := OpenStored(c, OpenOptions{Results: filepath.Join(t.TempDir(), "none"), Tables: dir})
	demand.NoError(t, err)
	return l
}

// seal writes the checksums of a figure's folder as it is now.
func seal(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	demand.NoError(t, err)
	var out []byte
	for _, path := range append(names, filepath.Join(dir, figures.ProvenanceFile)) {
		out = fmt.Appendf(out, "%x  %s\n", sha256.Sum256(demand.Read(t, path)), filepath.Base(path))
	}
	demand.Write(t, filepath.Join(dir, figures.SumsFile), out)
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

func meanOf(points []figures.Point) float64 {
	sum := 0.0
	for _, p := range points {
		sum += p.Mean
	}
	return sum / float64(len(points))
}

// TestJudgedFiles: where claims are judged by more than is drawn, these rows are a file from which the effects can be
// computed again, the page draws them and says so, and the provenance has the runs. Where claims are judged by what is
// drawn, there is no such file, and that of an earlier drawing is removed.
func TestJudgedFiles(t *testing.T) {
	l, _ := newSamples(t)
	r := l.drawSmall(t, paper.Fig1())
	compared := 0
	for _, c := range r.Claims {
		for _, p := range c.Parts {
			file := map[string]string{"b": "fig01-b-judged.csv", "d": "fig01-d.csv"}[p.Panel]
			if file == "" || p.Statistic != paper.Difference {
				continue
			}
			mean, seeds := difference(l.csvRows(t, file), p.Series, p.Base)
			if compared++; math.Abs(mean-p.Effect.Mean) > 1e-12 || seeds != p.Effect.N {
				t.Errorf("%s of %s, panel %s: %v over %d seeds in %s", p, c.ID, p.Panel, mean, seeds, file)
			}
		}
	}
	sample := r.Record.Judged["b"]
	if compared < 10 || len(sample.Seeds) != 8 || sample.Stride != 1 || len(sample.Runs) != 5*5 || len(r.Record.Judged) != 3 {
		t.Errorf("%d effects; the provenance has %d seeds, stride %d, %d runs", compared, len(sample.Seeds), sample.Stride, len(sample.Runs))
	}
	demand.Words(t, html.UnescapeString(string(l.read(t, "index.html"))),
		`<a href="fig01-b-judged.csv">fig01-b-judged.csv</a>`, `<span class="where">8 seeds, every step</span>`)
	drawn := r.Figure.Panels[1].Series[0].Points
	if mean, _ := difference(l.csvRows(t, "fig01-b-judged.csv"), r.Figure.Panels[1].Series[0].Name, "everything"); len(drawn) == 0 ||
		drawn[0].N != 8 || math.Abs(meanOf(drawn)-mean) > 1e-12 {
		t.Errorf("panel b draws %d points of %d seeds, want those that decide", len(drawn), drawn[0].N)
	}
	// The difference of a phase in the notes has the rows and the level of the claims about the panel.
	rows := slices.DeleteFunc(l.csvRows(t, "fig01-a-judged.csv"), func(r figures.Row) bool { return r.T < 50 || r.T > 86 })
	m, err := claims.NewEffect(rows, paper.Part{Panel: "a", Series: "ours", Base: "everything"}, "accuracy", true)
	demand.NoError(t, err)
	e := m.Interval(.975)
	demand.Words(t, strings.Join(r.Figure.Panels[0].Notes, "\n"), fmt.Sprintf(
		"Ours at t = 50 to 86 minus, at 97.5%%: Everything %s, ", e.Text()))

	tiny, err := l.Draw(paper.Fig1(), l.options)
	demand.NoError(t, err)
	for _, p := range tiny.Figure.Panels {
		if at := p.Series[0].Points; at[0].N != 3 || strings.Contains(strings.Join(p.Notes, " "), "97.5%") {
			t.Errorf("panel %s at tiny draws %d seeds, want its own 3 whatever is stored; notes %q", p.Key, at[0].N, p.Notes)
		}
	}

	l.options.Seeds = []int64{0, 1}
	_, err = l.Draw(paper.Fig1(), l.options)
	demand.NoError(t, err)
	if left, _ := filepath.Glob(filepath.Join(l.options.Out, "*-judged.csv")); len(left) > 0 {
		t.Errorf("chosen seeds have larger samples: %v", left)
	}
	if strings.Contains(string(l.read(t, "provenance.json")), `"judged"`) {
		t.Error("the provenance of chosen seeds has a larger sample")
	}
}

// TestGalleryVerdicts: the verdicts of the gallery, and of its robots at the medium scale, are those of their tables.
// Where the data of the machine that trained are not here, the stand-in is named all the same.
func TestGalleryVerdicts(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	for _, dir := range []string{gallery, medium} {
		want := committed(t, dir)
		l := fromTables(t, testCatalog, dir)
		judged := verified(t, l, Options{Scale: want.Scale, Judged: true})
		if planned := verified(t, l, Options{Scale: want.Scale}); !reflect.DeepEqual(judged.Claims, planned.Claims) {
			t.Errorf("%s: the declared samples give other verdicts than the planned ones", dir)
		}
		text, err := json.Marshal(judged)
		demand.NoError(t, err)
		var got claims.Verification
		demand.NoError(t, json.Unmarshal(text, &got))
		if dir == gallery {
			demand.Words(t, strings.Join(got.Data, ". "), supervised.StandIn)
		}
		if len(got.Figures) != len(want.Figures) || len(got.Claims) != len(want.Claims) {
			t.Fatalf("%d figures and %d claims, in %s/verify.json %d and %d: see CONTRIBUTING.md, generated blocks",
				len(got.Figures), len(got.Claims), dir, len(want.Figures), len(want.Claims))
		}
		for i, f := range got.Figures {
			if !reflect.DeepEqual(f, want.Figures[i]) {
				t.Errorf("%s is %+v, in %s/verify.json %+v: if a setting was changed, make it again in %s/%s; then see "+
					"CONTRIBUTING.md, generated blocks", f.Name, f, dir, want.Figures[i], dir, f.Name)
			}
		}
		for i, c := range got.Claims {
			if !reflect.DeepEqual(c, want.Claims[i]) {
				t.Errorf("%s: %s\n%s says %s", c.ID, c, dir, want.Claims[i])
			}
		}
	}
}

// TestGallerySizes: the sizes that are fixed in the folder of the results are written to the gallery, where there are
// any.
func TestGallerySizes(t *testing.T) {
	l, dir := newLab(t), t.TempDir()
	readme := filepath.Join(dir, "README.md")
	demand.Write(t, readme, "<!-- gallery:begin -->\n<!-- gallery:end -->\n")
	copied := filepath.Join(dir, sizesName)
	v := claims.Verification{Figures: []claims.State{{Stored: 1}}}
	demand.NoError(t, l.WriteGallery(v, dir))
	if _, err := os.Stat(copied); !os.IsNotExist(err) {
		t.Errorf("no size is fixed, and there is a file: %v", err)
	}
	l.fix(t, claims.Size{Scale: "tiny", Figure: "fig14", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(9), Stride: 2},
		Parts: []claims.SizedPart{{Claim: "fig14-similar", What: "Ours minus Everything", Mean: .006, Half: .01, Aim: .003}}})
	demand.NoError(t, l.WriteGallery(v, dir))
	if got := demand.Read(t, copied); string(got) != string(demand.Read(t, l.sizesFile())) {
		t.Errorf("the gallery has\n%s", got)
	}
	demand.Words(t, string(demand.Read(t, readme)), "no claim. ")
}
