package main

import (
	"context"
	"encoding/json"
	"image"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/lab"
	"tvps/replicate/notebook"
)

func TestDefaults(t *testing.T) {
	for _, name := range []string{"TVPS_RESULTS", "TVPS_OUT", "TVPS_ROOT"} {
		t.Setenv(name, "")
	}
	o := withDefaults(notebook.Options{}, "fig01")
	if o.Scale != "small" || o.Seeds != "" || o.Results != "results" ||
		o.Out != filepath.Join("figures", "out", "fig01") || o.Workers < 1 {
		t.Errorf("%+v", o)
	}
	t.Setenv("TVPS_RESULTS", "/r")
	t.Setenv("TVPS_OUT", "/o")
	if o := withDefaults(notebook.Options{}, "fig01"); o.Results != "/r" || o.Out != "/o/fig01" {
		t.Errorf("%+v", o)
	}
	if o := withDefaults(notebook.Options{Out: "/mine"}, "fig01"); o.Out != "/mine" {
		t.Errorf("%+v", o)
	}
}

// miniature returns options for panel a with very little to compute.
func miniature(t *testing.T) notebook.Options {
	dir := t.TempDir()
	t.Setenv("TVPS_CACHE", filepath.Join(dir, "cache"))
	return notebook.Options{
		Scale: "tiny", Seeds: "0", Panels: []string{"a"}, Backend: "go", Workers: 1,
		Results: filepath.Join(dir, "results"), Out: filepath.Join(dir, "out"),
		Set: []string{"steps=7", "first=1", "stride=2", "n=30", "test-n=40", "epochs=2", "max-updates=3", "g-updates=3",
			"batch=16", "g-batch=16"},
	}
}

// A computed figure and one from the store leave the same outputs.
func TestFigureTwice(t *testing.T) {
	o := miniature(t)
	last := func() (text, id string, made *lab.Result) {
		r, err := record(t, func() (err error) { made, err = figure(t.Context(), 1, o); return err })
		demand.NoError(t, err)
		m := r[len(r)-1]
		for _, other := range r {
			if other.ID != m.ID || m.ID == "" {
				t.Errorf("an output of its own: %v", other)
			}
		}
		return m.Data[notebook.PlainMIME].(string), m.ID, made
	}
	first, id, computed := last()
	if want := "Figure 1, scale tiny: 4 runs, all finished."; first != want || computed.Report.Computed == 0 {
		t.Errorf("%q, want %q", first, want)
	}
	again, other, stored := last()
	if again != first || stored.Report.Computed > 0 {
		t.Errorf("the second time: %q, computed %d runs", again, stored.Report.Computed)
	}
	if id == other {
		t.Error("both cells use the same display id: one bar would replace the other")
	}
	for _, s := range computed.Figure.Source {
		if strings.Contains(s, "Commit ") {
			t.Errorf("the chart names the commit: %q", s)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Out, "provenance.json")); err != nil {
		t.Error(err)
	}
}

func TestFigureErrors(t *testing.T) {
	for _, c := range []struct {
		number int
		change func(*notebook.Options)
		want   string
	}{
		{99, func(*notebook.Options) {}, "there is no figure 99"},
		{1, func(o *notebook.Options) { o.Scale = "tinny" }, `did you mean "tiny"`},
		{1, func(o *notebook.Options) { o.Seeds = "0-" }, `seeds: "0-" is neither a seed`},
		{1, func(o *notebook.Options) { o.Set = []string{"epohcs=3"} }, `did you mean "epochs"`},
		{1, func(o *notebook.Options) { o.Backend = "tpu" }, `the backend "tpu"`},
	} {
		o := miniature(t)
		c.change(&o)
		r, err := record(t, func() error { _, err := figure(t.Context(), c.number, o); return err })
		demand.Error(t, err, c.want)
		if len(r) > 0 {
			t.Errorf("something was shown before: %v", r)
		}
	}
}

// A cell names the figure that it made.
func TestCalls(t *testing.T) {
	all := calls()
	ask := func(name string, args any) (any, error) {
		text, err := json.Marshal(args)
		demand.NoError(t, err)
		var result any
		_, err = record(t, func() (err error) { result, err = all[name](context.Background(), text); return err })
		return result, err
	}
	_, err := ask("tables", notebook.Drawing{})
	demand.Error(t, err, "call notebook.Figure first")
	made, err := ask("figure", notebook.FigureArgs{Number: 1, Options: miniature(t)})
	demand.NoError(t, err)
	for _, name := range []string{"charts", "tables", "claims", "provenance"} {
		_, err := ask(name, made)
		demand.NoError(t, err)
	}
}

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

func TestFirstSentence(t *testing.T) {
	for caption, want := range map[string]string{"One. Two. Three.": "One.", "At .5 it ends.": "At .5 it ends.", "": ""} {
		demand.Equal(t, firstSentence(caption), want, "the first sentence of %q", caption)
	}
}
