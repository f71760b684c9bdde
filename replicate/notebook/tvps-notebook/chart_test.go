package main

import (
	"image"
	"image/png"
	"maps"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/notebook"
)

// The picture is small, and every line keeps its colour.
func TestPicture(t *testing.T) {
	fig, _ := sample(t)
	r, err := record(t, func() error { return charts(fig) })
	demand.NoError(t, err)
	data := r.content(t, 0, notebook.PNGMIME)
	if len(data) > 40<<10 {
		t.Errorf("%d bytes", len(data))
	}
	picture, err := png.Decode(strings.NewReader(data))
	demand.NoError(t, err)
	indexed, ok := picture.(*image.Paletted)
	if !ok || indexed.Bounds().Dx() != pictureWidth {
		t.Fatalf("a picture of %T, %v", picture, picture.Bounds())
	}
	count := map[string]int{}
	for _, index := range indexed.Pix {
		r, g, b, _ := indexed.Palette[index].RGBA()
		switch r, g, b := r>>8, g>>8, b>>8; {
		case r == 255 && g == 255 && b == 255:
			count["white"]++
		case r > g+60 && r > b+60: // also where a dash is mixed with white
			count["ours"]++
		case b > r+60:
			count["everything"]++
		}
	}
	for _, color := range []string{"white", "ours", "everything"} {
		if count[color] < 300 {
			t.Errorf("%d pixels are %s: %v", count[color], color, count)
		}
	}
}

func TestPlot(t *testing.T) {
	x := []float64{1, 2}
	r, err := record(t, func() error {
		return plot(notebook.Chart{Number: 3, Title: "A title", XLabel: "x", YLabel: "y", XNames: []string{"Mon", "Tue", "Wed"},
			YRange: &[2]float64{0, 9}, Curves: []notebook.Series{notebook.Curve("one", x, []float64{3, 4}),
				notebook.Dashed("two", x, []float64{5, 6}), notebook.Learner("ours", x, x)}})
	})
	demand.NoError(t, err)
	html := r.content(t, 1, notebook.HTMLMIME)
	demand.Words(t, html, `"title":"(3) A title"`, `"value":[2,4]`, `"value":[1,5]`, `"type":"6 3"`,
		figures.Series{}.Styled(0).Color, figures.Series{}.Styled(1).Color, figures.NewSeries("ours", nil).Color, `"name":"Ours"`, `"Tue"`)
	if strings.Contains(html, "seed") {
		t.Error("a curve without seeds mentions seeds")
	}
}

// Each panel makes two outputs, a picture and then a chart, so a page without scripts shows the picture. A chart emits
// its data, so it can be compared without its pixels.
func TestChartsCarryTheirData(t *testing.T) {
	fig, _ := sample(t)
	r, err := record(t, func() error { return charts(fig) })
	demand.NoError(t, err)
	picture, chart := "[image/png text/plain]", "["+notebook.ValuesMIME+" text/html text/plain]"
	if got := r.types(); !slices.Equal(got, []string{picture, chart, picture, chart}) {
		t.Fatalf("outputs %v, want %s and %s of each panel", got, picture, chart)
	}
	demand.Equal(t, r.content(t, 0, notebook.PlainMIME), "Picture: Panel <a> (fig99-a)", "text")
	line := notebook.Curve("line", []float64{0, 1.5}, []float64{1. / 3, -2e-7})
	own, err := record(t, func() error { return plot(notebook.Chart{Number: 7, Curves: []notebook.Series{line}}) })
	demand.NoError(t, err)
	three := map[string]float64{}
	for _, name := range []string{"fig99/a/ours/0", "fig99/a/ours/1", "fig99/a/ours/2"} {
		three[name], three[name+"/low"], three[name+"/high"] = .3, -.97062, 1.57062
	}
	for _, m := range []struct{ got, want map[string]float64 }{{r.values(1), three},
		{own.values(1), map[string]float64{"chart/7/line/0": .333333, "chart/7/line/1.5": -2e-7}}} {
		if !maps.Equal(m.got, m.want) {
			t.Errorf("a chart emits %v, want %v", m.got, m.want)
		}
	}
}

func TestFilms(t *testing.T) {
	fig, _ := sample(t)
	fig.Panels[1].Films = []figures.Film{{Name: "sac", Title: "An episode", SVG: []byte("<svg/>")}}
	r, err := record(t, func() error { return films(fig) })
	demand.NoError(t, err)
	if got := r.types(); !slices.Equal(got, []string{"[image/svg+xml text/plain]"}) {
		t.Fatalf("outputs %v", got)
	}
	if svg, text := r.content(t, 0, notebook.SVGMIME), r.content(t, 0, notebook.PlainMIME); svg != "<svg/>" ||
		text != "Film: An episode (fig99-b-sac-film)" {
		t.Errorf("%q, %q", svg, text)
	}
}

func TestFirstSentence(t *testing.T) {
	for caption, want := range map[string]string{"One. Two. Three.": "One.", "At .5 it ends.": "At .5 it ends.", "": ""} {
		demand.Equal(t, firstSentence(caption), want, "the first sentence of %q", caption)
	}
}
