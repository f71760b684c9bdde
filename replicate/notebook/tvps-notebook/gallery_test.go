package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/notebook"
	"tvps/replicate/paper"
)

// The claims of every figure of the paper can be shown from the committed gallery.
func TestFound(t *testing.T) {
	gallery := filepath.Join("..", "..", "..", "figures", "gallery")
	verdicts := t.TempDir() // the gallery without its pictures, which take long to reduce
	demand.Write(t, filepath.Join(verdicts, "verify.json"), demand.Read(t, filepath.Join(gallery, "verify.json")))
	for _, f := range paper.Figures() {
		r, err := record(t, func() error { return found(verdicts, f.Number) })
		demand.NoError(t, err)
		text := r.content(t, 1, notebook.PlainMIME)
		demand.Words(t, text, "scale small", f.Caption, "go run ./replicate "+f.Command())
		for _, c := range f.Claims {
			demand.Words(t, text, c.Place)
		}
	}
	for figure, words := range map[int]string{1: "holds on CIFAR-10; CLEAR not tested: On CIFAR-10a, CIFAR-10b and CLEAR, Ours",
		4: "holds on the Gaussian; CLEAR not tested: Ours is better than Everything, on the Gaussian and on CLEAR"} {
		r, err := record(t, func() error { return found(verdicts, figure) })
		demand.NoError(t, err)
		demand.Words(t, r.content(t, 0, notebook.PlainMIME), "; CLEAR not tested.\n")
		demand.Words(t, r.content(t, 1, notebook.PlainMIME), words)
		demand.Words(t, r.content(t, 1, notebook.HTMLMIME), "; CLEAR not tested</td>")
	}
	r, err := record(t, func() error { return found(gallery, 14) })
	if err != nil || len(r) != 3 || r[1].Data[notebook.SVGMIME] == nil {
		t.Errorf("%v, outputs %v, want the answer, a picture and the claims", err, r.types())
	}
	if r[2].Data[notebook.ValuesMIME] == nil || !strings.HasPrefix(r.content(t, 2, notebook.HTMLMIME), "<details>") {
		t.Errorf("the claims are not folded, or have no numbers for the check: %v", r[2])
	}
	r, err = record(t, func() error { return found(gallery, 2) })
	demand.NoError(t, err)
	demand.Words(t, r.content(t, 5, notebook.PlainMIME), "scale medium")
	r, err = record(t, func() error { return found(gallery, 1, "b", "c") })
	if err != nil || len(r) != 4 || r.content(t, 1, notebook.PlainMIME) != "Picture: fig01-b.svg" {
		t.Errorf("%v, of panels b and c: %v", err, r.types())
	}
	if svg := r.content(t, 1, notebook.SVGMIME); strings.Contains(svg, "\n") || !strings.Contains(svg, "</svg>") {
		t.Error("the picture has line breaks, or no end")
	}
	demand.Error(t, found(t.TempDir(), 1), "verify.json")
}

// The numbers are those of the figure's own seeds and steps, which may be in two tables.
func TestMeasured(t *testing.T) {
	gallery := t.TempDir()
	_, rows := sample(t)
	rows = rows[:6*2]
	for i := range rows {
		rows[i].T = 1 + 3*rows[i].T // every third step
	}
	fig := figures.Figure{Name: "fig01", Compact: true, Panels: []figures.Chart{{Key: "a",
		Series: []figures.Series{figures.NewSeries("ours", []figures.Point{figures.Exactly(0, 0)})},
		Others: rows[8:]}}}
	between := figures.Row{Panel: "a", Series: "ours", Seed: 1, T: 3, Metric: "accuracy", Value: 9}
	further := figures.Row{Panel: "a", Series: "ours", Seed: 9, T: 4, Metric: "accuracy", Value: 9}
	demand.NoError(t, figures.Write(fig, append(rows[:8:8], between, further), nil, filepath.Join(gallery, "fig01")))
	m, err := measured(gallery, 1, "a")
	demand.NoError(t, err)
	want := notebook.Measurement{Series: "ours", Seed: 1, T: 7, Value: rows[11].Value}
	if len(m) != 12 || m[11] != want || m[11].Value < .8 {
		t.Errorf("%d numbers, the last is %v, want %v", len(m), m[11], want)
	}
	if got := m.Steps(); !slices.Equal(got, []int{1, 4, 7}) {
		t.Errorf("steps %v", got)
	}
	_, err = measured(gallery, 1, "x")
	demand.Error(t, err, "has no panel \"x\"")
}
