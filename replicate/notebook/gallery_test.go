package notebook

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/paper"
)

// The claims of every figure of the paper can be shown from the committed gallery.
func TestFound(t *testing.T) {
	gallery := filepath.Join("..", "..", "figures", "gallery")
	verdicts := t.TempDir() // the gallery without its pictures, which take long to reduce
	demand.Write(t, filepath.Join(verdicts, "verify.json"), demand.Read(t, filepath.Join(gallery, "verify.json")))
	for _, f := range paper.Figures() {
		r := record(t)
		demand.NoError(t, found(verdicts, f.Number))
		demand.Words(t, r.content(t, 1, plainMIME), "scale small", f.Caption, "go run ./replicate "+f.Command())
		for _, c := range f.Claims {
			demand.Words(t, r.content(t, 2, plainMIME), c.Place)
		}
	}
	for figure, words := range map[int]string{1: "holds on CIFAR-10; CLEAR not tested: On CIFAR-10a, CIFAR-10b and CLEAR, Ours",
		4: "holds on the Gaussian; CLEAR not tested: Ours is better than Everything, on the Gaussian and on CLEAR"} {
		r := record(t)
		demand.NoError(t, found(verdicts, figure))
		demand.Words(t, r.content(t, 0, plainMIME), "; CLEAR not tested.\n")
		demand.Words(t, r.content(t, 2, plainMIME), words)
		demand.Words(t, r.content(t, 2, htmlMIME), "; CLEAR not tested</td>")
	}
	r := record(t)
	if err := found(gallery, 14); err != nil || len(r.messages) != 4 || r.messages[1].data[svgMIME] == nil {
		t.Errorf("%v, outputs %v, want the answer, a picture, a sentence and the claims", err, r.types())
	}
	if v := r.messages[3].data[ValuesMIME]; v == nil || v.(map[string]any)["from"] != "gallery" {
		t.Errorf("the claims do not say that they are of the gallery: %v", v)
	}
	r = record(t)
	demand.NoError(t, found(gallery, 2))
	demand.Words(t, r.content(t, 5, plainMIME), "scale medium")
	demand.Error(t, found(t.TempDir(), 1), "verify.json")
}

// Numbers say that they are of the gallery unless the cell computes a figure.
func TestFromGallery(t *testing.T) {
	t.Cleanup(func() { showsGallery, computes = false, false })
	for _, c := range []struct {
		shows, computes bool
		want            any
	}{{false, false, nil}, {true, false, "gallery"}, {true, true, nil}} {
		if showsGallery, computes = c.shows, c.computes; valuesOf(nil)["from"] != c.want {
			t.Errorf("shows the gallery %v, computes %v: from %v", c.shows, c.computes, valuesOf(nil)["from"])
		}
	}
	showsGallery, computes = false, false
	if _, err := measured(t.TempDir(), 1, "a"); err == nil || !showsGallery {
		t.Errorf("after Measured: shows the gallery %v, %v", showsGallery, err)
	}
}

// The numbers are those of the figure's own seeds and steps, which may be in two tables.
func TestMeasured(t *testing.T) {
	gallery := t.TempDir()
	_, rows := sample(t)
	rows = rows[:6*2]
	for i := range rows {
		rows[i].Value += float64(rows[i].T) / 10
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
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("the mean over all steps", m.Mean("ours", 0, 7), .9)
	near("the mean of the last steps", m.Mean("ours", 4, 7), .95)
	near("the difference", m.Difference("ours", "everything", 4, 4), .3)
	near("the share above", m.Above("everything", "ours"), 0)
	near("the mean of seed 1", m.SeedMeans("ours")[1], 1)
	if got := m.Steps(); !slices.Equal(got, []int{1, 4, 7}) {
		t.Errorf("steps %v", got)
	}
	// A seed that has more steps counts no more than the others.
	near("the mean of unequal seeds", Measurements(append(rows,
		figures.Row{Series: "ours", Seed: 1, T: 8, Value: .2})).Mean("ours", 0, 9),
		(.8+(.9+1+1.1+.2)/4)/2)
	_, err = measured(gallery, 1, "x")
	demand.Error(t, err, "has no panel \"x\"")
}
