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

// newSamples returns a lab with the runs of Figures 1, 4 and 12 at the samples that panels declare for the tiny scale:
// Figure 4a has a narrow one for Everything and Ours, of nine seeds at every step.
func newSamples(t *testing.T) *testLab {
	t.Helper()
	l := newLab(t)
	l.only(1, 4, 12)
	declare := func(number int, key string, samples ...paper.Sample) {
		f := &l.Figures[slices.IndexFunc(l.Figures, func(f paper.Figure) bool { return f.Number == number })]
		f.Panels = slices.Clone(f.Panels)
		f.Panels[slices.IndexFunc(f.Panels, func(p paper.Panel) bool { return p.Key == key })].Judged = samples
	}
	many := paper.Sample{Scale: "tiny", Seeds: "0-8", Stride: 1, Looks: 3, Series: []string{"ours", "everything"}}
	declare(4, "a", paper.Sample{Scale: "tiny", Seeds: "0-4", Looks: 2}, many)
	declare(1, "a", paper.Sample{Scale: "tiny", Seeds: "0-5", Stride: 1, Looks: 2})
	declare(1, "b", paper.Sample{Scale: "tiny", Seeds: "0-7", Stride: 1})
	declare(12, "a", paper.Sample{Scale: "tiny", Seeds: "0-7", Stride: 1})
	l.options.Judged = true
	for _, f := range l.Figures {
		for _, p := range l.plan(t, f) {
			l.compute(t, p, func(job runs.Wanted, step int) float64 {
				value := map[string]float64{"everything": .5, "ours": .6}[job.Series]
				if job.Series == "ours" {
					value += .05*math.Sin(float64(7*job.Spec.Seed)) + .01*math.Sin(float64(step))
				}
				return value
			})
		}
	}
	return l
}

// figure is the figure of this number as the catalog has it.
func (l *testLab) figure(t *testing.T, number int) paper.Figure {
	t.Helper()
	f, ok := l.Figure(number)
	if !ok {
		t.Fatalf("there is no figure %d", number)
	}
	return f
}

// drawSmall draws a figure from its stored runs as at the small scale: at tiny no claim is on the page.
func (l *testLab) drawSmall(t *testing.T, f paper.Figure) *Result {
	t.Helper()
	panels, _, err := l.stored(f, l.options)
	demand.NoError(t, err)
	o := l.options
	o.Scale = experiment.Small
	judged, err := o.besideGallery(claims.Judge(f, panels))
	demand.NoError(t, err)
	r, err := l.draw(f, o, panels, judged, nil)
	demand.NoError(t, err)
	return r
}

// TestEvidenceByPart: each part of a claim is judged by the sample that is declared for it, at its level. The tables of
// the drawn figures give the same verdicts.
func TestEvidenceByPart(t *testing.T) {
	l := newSamples(t)
	dir := t.TempDir()
	drawn := map[string]*Result{}
	for _, f := range l.Figures {
		l.options.Out = filepath.Join(dir, f.Name())
		drawn[f.Name()] = l.drawSmall(t, f)
	}
	v := l.verify(t)
	for _, c := range []struct {
		id, base      string
		seeds, stride int
		level         float64
	}{
		{"fig1a-ours-everything", "everything", 6, 1, .975},
		{"fig4-ours-everything", "everything", 9, 1, 1 - .05/3},
		{"fig4-ours-metaweightnet", "metaweightnet", 5, 31, .975},
		{"fig12-3-seeds", "everything", 3, 1, 0},
	} {
		parts := claim(t, v, c.id).Parts
		p := parts[slices.IndexFunc(parts, func(p claims.JudgedPart) bool { return p.Base == c.base })]
		if p.Effect.N != c.seeds || p.Stride != c.stride || math.Abs(p.Level-c.level) > 1e-12 {
			t.Errorf("%s, panel %s against %s: %s, want %d seeds, stride %d, level %v", c.id, p.Panel, c.base, p, c.seeds,
				c.stride, c.level)
		}
	}
	for figure, want := range map[string][]string{
		"fig01": {}, "fig12": {},
		"fig04": {"The claims about Ours and Everything are judged by 9 seeds, every step, which are more than are drawn."},
	} {
		notes := slices.Clone(drawn[figure].Figure.Panels[0].Notes)
		got := slices.DeleteFunc(notes, func(note string) bool { return !strings.Contains(note, "judged by") })
		demand.List(t, got, want, "%s: notes", figure)
	}
	if of := drawn["fig04"].Record.Judged["a"]; len(of.Seeds) != 9 || len(of.Runs) != 2*4 {
		t.Errorf("provenance of Figure 4a: %+v", of)
	}
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

// TestJudgedFiles: a narrow sample is a file of its own from which its effects can be computed again, the page draws
// the panel's own and links to it, and the provenance has its runs. Chosen seeds are judged as they are, and the file
// of an earlier drawing is removed.
func TestJudgedFiles(t *testing.T) {
	l := newSamples(t)
	r := l.drawSmall(t, l.figure(t, 4))
	compared := 0
	for _, c := range r.Claims {
		for _, p := range c.Parts {
			if p.Panel != "a" || p.Statistic != paper.Difference {
				continue
			}
			file := map[string]string{"everything": "fig04-a-judged.csv", "metaweightnet": "fig04-a.csv"}[p.Base]
			mean, seeds := difference(l.csvRows(t, file), p.Series, p.Base)
			if compared++; math.Abs(mean-p.Effect.Mean) > 1e-12 || seeds != p.Effect.N {
				t.Errorf("%s of %s: %v over %d seeds in %s", p, c.ID, mean, seeds, file)
			}
		}
	}
	demand.Equal(t, compared, 2, "compared effects")
	demand.Words(t, string(l.read(t, claimsFile)), r.Claims[0].ID, r.Claims[1].ID)
	demand.Words(t, html.UnescapeString(string(l.read(t, "index.html"))),
		`<a href="fig04-a-judged.csv">fig04-a-judged.csv</a>`, `<span class="where">5 seeds, every 31st step</span>`,
		"<code>go run ./replicate fig4 --scale small --judged --panel a</code>")
	drawn := r.Figure.Panels[0].Series[0].Points
	mean, _ := difference(l.csvRows(t, "fig04-a.csv"), r.Figure.Panels[0].Series[0].Name, "everything")
	if len(drawn) == 0 || drawn[0].N != 5 || math.Abs(meanOf(drawn)-mean) > 1e-12 {
		t.Errorf("panel a draws %d points of %d seeds, want its own", len(drawn), drawn[0].N)
	}

	l.options.Judged, l.options.Seeds = false, []int64{0, 1}
	chosen, err := l.Draw(l.figure(t, 4), l.options)
	demand.NoError(t, err)
	if p := chosen.Claims[0].Parts[0]; p.Effect.N != 2 || p.Level != 0 {
		t.Errorf("chosen seeds are judged as %s", p)
	}
	if left, _ := filepath.Glob(filepath.Join(l.options.Out, "*-judged.csv")); len(left) > 0 {
		t.Errorf("chosen seeds have narrow samples: %v", left)
	}
	if strings.Contains(string(l.read(t, "provenance.json")), `"judged"`) {
		t.Error("the provenance of chosen seeds has a narrow sample")
	}

	// The difference of a phase in the notes has the rows and the level of the claims about the panel.
	l.options.Judged, l.options.Seeds, l.options.Out = true, nil, filepath.Join(l.options.Out, "other")
	phases := l.drawSmall(t, l.figure(t, 1))
	rows := slices.DeleteFunc(l.csvRows(t, "fig01-a.csv"), func(r figures.Row) bool { return r.T < 50 || r.T > 86 })
	m, err := claims.NewEffect(rows, paper.Part{Panel: "a", Series: "ours", Base: "everything"}, "accuracy", true)
	demand.NoError(t, err)
	demand.Words(t, strings.Join(phases.Figure.Panels[0].Notes, "\n"), fmt.Sprintf(
		"Ours at t = 50 to 86 minus, at 97.5%%: Everything %s, ", m.Interval(.975).Text(3)))
}

// TestGalleryVerdicts: the verdicts of the gallery, and of its robots at the medium scale, are those of their tables.
// Where the data of the machine that trained are not here, the stand-in is named all the same.
func TestGalleryVerdicts(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	for _, dir := range []string{gallery, medium} {
		want := committed(t, dir)
		l := fromTables(t, testCatalog, dir)
		text, err := json.Marshal(verified(t, l, Options{Scale: want.Scale, Judged: true}))
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
