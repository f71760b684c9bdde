package notebook

import (
	"bytes"
	"image"
	"image/png"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
)

// Each panel makes two outputs, a picture and then a chart, so a page without scripts shows the picture.
func TestChartsAreTwoOutputs(t *testing.T) {
	r := record(t)
	fig, _ := sample(t)
	Charts(fig)
	picture, chart := "[image/png text/plain]", "["+ValuesMIME+" text/html text/plain]"
	if got := r.types(); !slices.Equal(got, []string{picture, chart, picture, chart}) {
		t.Fatalf("outputs %v, want %s and %s of each panel", got, picture, chart)
	}
	for _, i := range []int{1, 3} {
		html := r.content(t, i, htmlMIME)
		if strings.Count(html, "<script") != 1 || strings.Contains(html, "<script src") || strings.Contains(html, "<img") {
			t.Errorf("output %d is not one inline script with nothing else to show", i)
		}
		hosts := regexp.MustCompile(`https?://[^/"]+`).FindAllString(html, -1)
		if !slices.Equal(hosts, []string{"https://go-echarts.github.io"}) {
			t.Errorf("hosts %v, want only the one for pages that Jupyter does not serve", hosts)
		}
	}
	if text := r.content(t, 0, plainMIME); text != "Picture: Panel <a> (fig99-a)" {
		t.Errorf("text %q", text)
	}
}

// The picture is small, and every line keeps its colour.
func TestPicture(t *testing.T) {
	r := record(t)
	fig, _ := sample(t)
	Charts(fig)
	data := r.messages[0].data[pngMIME].([]byte)
	if len(data) > 40<<10 {
		t.Errorf("%d bytes", len(data))
	}
	picture, err := png.Decode(bytes.NewReader(data))
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
		case r > 200 && g < 60 && b < 60:
			count["ours"]++
		case b > 160 && r < 60:
			count["everything"]++
		}
	}
	for _, color := range []string{"white", "ours", "everything"} {
		if count[color] < 500 {
			t.Errorf("%d pixels are %s: %v", count[color], color, count)
		}
	}
}

func TestPlot(t *testing.T) {
	r := record(t)
	Plot(3, "A title", "x", "y", Curve("one", []float64{1, 2}, []float64{3, 4}),
		Dashed("two", []float64{1, 2}, []float64{5, 6}))
	html := r.content(t, 1, htmlMIME)
	demand.Words(t, html, `"title":"(3) A title"`, `"value":[2,4]`, `"value":[1,5]`, `"type":"dashed"`,
		figures.Others[0], figures.Others[1])
	if strings.Contains(html, "seed") {
		t.Error("a curve without seeds mentions seeds")
	}
}

// A chart emits its data, so it can be compared without its pixels.
func TestChartsCarryTheirData(t *testing.T) {
	r := record(t)
	fig, _ := sample(t)
	Charts(fig)
	Plot(7, "My own", "x", "y", Curve("line", []float64{0, 1.5}, []float64{1. / 3, -2e-7}))
	three := map[string]float64{}
	for _, name := range []string{"fig99/a/ours/0", "fig99/a/ours/1", "fig99/a/ours/2"} {
		three[name], three[name+"/low"], three[name+"/high"] = .3, -.97062, 1.57062
	}
	for i, want := range map[int]map[string]float64{
		1: three, 5: {"chart/7/line/0": .333333, "chart/7/line/1.5": -2e-7},
	} {
		got, ok := r.messages[i].data[ValuesMIME].(map[string]any)["values"].(map[string]float64)
		if !ok || !maps.Equal(got, want) {
			t.Errorf("output %d emits %v, want %v", i, got, want)
		}
	}
}

func TestFilms(t *testing.T) {
	r := record(t)
	fig, _ := sample(t)
	fig.Panels[1].Films = []figures.Film{{Name: "sac", Title: "An episode", SVG: []byte("<svg/>")}}
	Films(fig)
	if got := r.types(); !slices.Equal(got, []string{"[image/svg+xml text/plain]"}) {
		t.Fatalf("outputs %v", got)
	}
	if svg, text := r.content(t, 0, svgMIME), r.content(t, 0, plainMIME); svg != "<svg/>" ||
		text != "Film: An episode (fig99-b-sac-film)" {
		t.Errorf("%q, %q", svg, text)
	}
}

func TestMeansAndBinned(t *testing.T) {
	points := func(s figures.Series) (all []float64) {
		for _, p := range s.Points {
			all = append(all, p.X, p.Mean)
		}
		return all
	}
	means := Means("a", []int32{3, 1, 3, 1, 3, 7, 7, 8}, []float64{1, 10, 2, 20, 6, 4, math.NaN(), math.NaN()})
	if got := points(means); means.Name != "a" || !slices.Equal(got, []float64{1, 15, 3, 3, 7, 4}) {
		t.Errorf("means by group %v", got)
	}
	x, y := []float64{5, 1, 4, 2, 3}, []float64{50, 10, 40, 20, 30}
	if got := points(Binned("b", 2, x, y)); !slices.Equal(got, []float64{1.5, 15, 4, 40}) {
		t.Errorf("bins %v", got)
	}
	if got := points(Binned("b", 9, x[:2], y[:2])); !slices.Equal(got, []float64{1, 10, 5, 50}) {
		t.Errorf("more bins than points: %v", got)
	}
	if got := points(Binned("b", 3, nil, nil)); len(got) > 0 {
		t.Errorf("bins of no points: %v", got)
	}
}
