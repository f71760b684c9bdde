package lab

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// TestEvidenceByPart: each part of a claim is judged by the largest sample that its own series have whole. Nine seeds
// at every step of Figure 1a lack a run of Fine-tune, and never had Meta-Weight-Net, which five seeds have. The three
// seeds of Figure 12a are judged at all steps that are stored of them. The tables of the drawn figures give the same.
func TestEvidenceByPart(t *testing.T) {
	a := newArchive(t)
	a.only(1, 4, 12)
	a.fill(t, 1, 4, 12)
	looked := []claims.SizedPart{{Claim: "fig4-ours-metaweightnet"}}
	sizes := []claims.Size{
		{Scale: "tiny", Figure: "fig04", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(5)}, Parts: looked},
		{Scale: "tiny", Figure: "fig01", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(9), Stride: 1}},
		{Scale: "tiny", Figure: "fig01", Panel: "b", Sample: claims.Sample{Seeds: seedsTo(8), Stride: 1}},
	}
	for i := range sizes {
		plan := a.enlarged(t, sizes[i])
		plan.Jobs = slices.DeleteFunc(plan.Jobs, func(job runs.Wanted) bool {
			return job.Series == "finetune" && job.Spec.Seed == 8
		})
		a.compute(t, []claims.Panel{plan}, func(job runs.Wanted, step int) float64 {
			value := map[string]float64{"everything": .5, "ours": .6}[job.Series]
			if job.Series == "ours" {
				value += .05*math.Sin(float64(7*job.Spec.Seed)) + .01*math.Sin(float64(step))
			}
			return value
		})
	}
	a.fix(t, sizes...)
	dir := t.TempDir()
	notes := map[string][]string{}
	var record claims.Record
	var rows []figures.Row // of Figure 1a
	for _, f := range []paper.Figure{paper.Fig1(), paper.Fig4(), paper.Fig12()} {
		o := a.options
		o.Out = filepath.Join(dir, f.Name())
		r, err := a.Draw(f, o)
		if err != nil {
			t.Fatal(err)
		}
		panel := r.Figure.Panels[0]
		switch notes[f.Name()] = panel.Notes; f.Number {
		case 1:
			rows = panel.Judged
		case 4:
			record = r.Record
		}
	}
	v := a.verify(t)
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
	checkLevelOfNotes(t, notes["fig01"], rows)
	for figure, want := range map[string][]string{
		"fig01": {"The claims about Ours and Everything, Ours and Recent, Recent and Everything, Recent, with " +
			"their differences in these notes, are judged by 9 seeds at every step, which are more than are drawn.",
			"The claims about Ours and Fine-tune, Fine-tune and Everything, Fine-tune, with their differences in these " +
				"notes, are judged by 5 seeds at every 31st step, which are more than are drawn."},
		"fig04": {"The claims about Ours and Meta-Weight-Net are judged by 5 seeds at every 31st step, which are more " +
			"than are drawn.",
			"The claims about Ours and Everything are judged by 9 seeds at every step, which are more than are drawn."},
		"fig12": {"The claims are judged by 3 seeds at every step, which are more than are drawn."},
	} {
		got := slices.DeleteFunc(notes[figure], func(note string) bool { return !strings.Contains(note, "judged by") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: notes\n%q, want\n%q", figure, got, want)
		}
	}
	of := record.Judged["a"]
	if len(of.Compared) != 2 || len(of.Seeds) != 5 || len(of.Compared[1].Seeds) != 9 || of.Compared[1].Stride != 1 ||
		!slices.Equal(of.Compared[1].Series[0], []string{"ours", "everything"}) {
		t.Errorf("provenance of Figure 4a: %+v", of)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "fig12", "provenance.json")); err != nil ||
		strings.Contains(string(text), "null") { // its judged runs are drawn, too
		t.Errorf("provenance of Figure 12: %s, %v", text, err)
	}
	if err := WriteJSON(filepath.Join(dir, sizesName), sizes); err != nil {
		t.Fatal(err)
	}
	got := verified(t, fromTables(t, a.Catalog, dir), "tiny")
	for _, figure := range []string{"fig01", "fig04", "fig12"} {
		if !reflect.DeepEqual(got.Of(figure), v.Of(figure)) {
			t.Errorf("%s from tables: %v\nwant %v", figure, got.Of(figure), v.Of(figure))
		}
	}
}

// checkLevelOfNotes demands that the difference of a phase in the notes of Figure 1a has the interval of a second look,
// as the claims about the panel have, and says so.
func checkLevelOfNotes(t *testing.T, notes []string, rows []figures.Row) {
	t.Helper()
	rows = slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.T < 50 || r.T > 86 })
	m, err := claims.NewEffect(rows, paper.Part{Panel: "a", Series: "ours", Base: "everything"}, "accuracy", true)
	if err != nil {
		t.Fatal(err)
	}
	e := m.Interval(.975)
	want := fmt.Sprintf("Ours at t = 50 to 86 minus, at 97.5%%: Everything %s %s, ", claims.Signed(e.Mean), claims.Bounds(e))
	if !slices.ContainsFunc(notes, func(note string) bool { return strings.HasPrefix(note, want) }) {
		t.Errorf("no %q in %q", want, notes)
	}
}
