package figures

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chartsOf parses the charts out of a page or snippet.
func chartsOf(t *testing.T, page string) []struct {
	Key    string
	Option struct {
		Series []struct {
			Name, Type, Color string
			Data              []struct {
				Name  string
				Value []float64
			}
		}
		DataZoom []struct{ Type string }
		Legend   struct{ Data []string }
	}
} {
	t.Helper()
	start := strings.LastIndex(page, "})([")
	if start < 0 {
		t.Fatal("the page has no charts")
	}
	var all []struct {
		Key    string
		Option struct {
			Series []struct {
				Name, Type, Color string
				Data              []struct {
					Name  string
					Value []float64
				}
			}
			DataZoom []struct{ Type string }
			Legend   struct{ Data []string }
		}
	}
	if err := json.NewDecoder(strings.NewReader(page[start+3:])).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPageHoldsTheSeries(t *testing.T) {
	page, err := Page(sampleFigure(t))
	if err != nil {
		t.Fatal(err)
	}
	chart := chartsOf(t, string(page))[0]
	if want := []string{"Everything", "Recent (mean)", "Ours"}; chart.Key != "fig01-a" || !slices.Equal(chart.Option.Legend.Data, want) {
		t.Errorf("key %s, legend %v, want fig01-a and %v", chart.Key, chart.Option.Legend.Data, want)
	}
	if zoom := chart.Option.DataZoom; len(zoom) != 2 || zoom[0].Type != "inside" || zoom[1].Type != "slider" {
		t.Errorf("zoom %v", zoom)
	}
	series := chart.Option.Series
	if len(series) != 4 || series[3].Type != "custom" || series[3].Name != "Ours" || series[2].Color != "#d62728" {
		t.Fatalf("series %+v, want reference, mean line, curve and its band", series)
	}
	near(t, "reference", series[0].Data[0].Value[1], 0)
	near(t, "mean line", series[1].Data[1].Value[1], -0.05) // mean of .1 and -.2
	near(t, "curve at 2", series[2].Data[1].Value[1], -0.1)
	near(t, "band low at 1", series[3].Data[0].Value[1], 0.2-0.248414)
	near(t, "band high at 1", series[3].Data[0].Value[2], 0.2+0.248414)
	if text := series[2].Data[0].Name; !strings.Contains(text, "<b>Ours</b> 0.2 [−0.04841, 0.4484] · seed 0: 0.1, 1: 0.2, 2: 0.3") {
		t.Errorf("tooltip text %q", text)
	}
}

func TestPageAroundTheCharts(t *testing.T) {
	fig := sampleFigure(t)
	second := fig.Panels[0]
	second.Key = "b"
	fig.Panels = append(fig.Panels, second)
	page, err := Page(fig, WithScript("lib/echarts.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<img src="fig01-a.svg"`, `<img src="fig01-b.svg"`, "<noscript>", "Offline, put that file into this folder",
		"Data: made up for a test.", "A note of the panel.", "Above 0 is better.", `["echarts.min.js","lib/echarts.min.js"]`,
		"(a) Gaussian &lt;script&gt; &amp; co",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`\b(?:id|data-chart)="[^"']+"`).FindAllString(string(page), -1) {
		if ids[m] {
			t.Errorf("%s occurs twice", m)
		}
		ids[m] = true
	}
	if len(ids) != 4 {
		t.Errorf("ids %v, want one section and one chart for each panel", ids)
	}
	for range 5 {
		if again, _ := Page(fig, WithScript("lib/echarts.min.js")); !bytes.Equal(page, again) {
			t.Fatal("the page differs from one time to the next")
		}
	}
}

func TestTextCannotLeaveTheScript(t *testing.T) {
	fig := sampleFigure(t)
	fig.Panels[0].Series[1].Label = "</script><b>x"
	fig.Panels[0].XLabel = "</script><i>"
	page, err := Page(fig)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "</script>"); n != 1 {
		t.Errorf("%d ends of scripts, want 1", n)
	}
	if text := chartsOf(t, string(page))[0].Option.Series[2].Data[0].Name; !strings.Contains(text, "&lt;/script&gt;") {
		t.Errorf("the tooltip's HTML holds raw text: %s", text)
	}
}

func TestSnippetStandsAlone(t *testing.T) {
	fig := sampleFigure(t)
	snippet, err := Snippet(fig, "a", WithScript("/files/echarts.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(snippet, "<script") != 1 || strings.Contains(snippet, "<script src") {
		t.Error("JupyterLab does not wait for a script with src: there must be one inline script")
	}
	for _, want := range []string{"data:image/svg+xml;base64,", `["/files/echarts.min.js"]`, `data-chart="fig01-a"`, "Scale: tiny."} {
		if !strings.Contains(snippet, want) {
			t.Errorf("the snippet lacks %q", want)
		}
	}
	if len(chartsOf(t, snippet)) != 1 {
		t.Error("the snippet holds more than its panel")
	}
	if again, _ := Snippet(fig, "a", WithScript("/files/echarts.min.js")); again != snippet {
		t.Error("the snippet differs from one time to the next")
	}
}

// In a cell the static picture is another output, so nothing may show without the script,
// and no other host is asked on a page that Jupyter serves.
func TestSnippetForACell(t *testing.T) {
	fig := sampleFigure(t)
	snippet, err := Snippet(fig, "a", WithCell("{base}lab/echarts.min.js", "/mine.js"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(snippet, "<script>")
	key := regexp.MustCompile(`^<div data-chart="(fig01-a-[0-9a-f]{8})" style="width:100%"></div>\n$`).FindStringSubmatch(before)
	if key == nil {
		t.Fatalf("without its script the snippet shows %q", before)
	}
	if strings.Count(snippet, "<script") != 1 {
		t.Error("there must be one inline script")
	}
	for _, want := range []string{"[\"{base}lab/echarts.min.js\",\"/mine.js\"],\n[\"" + DefaultScript + "\"]);", `"title":"(a) Gaussian \u003cscript\u003e`, "Scale: tiny.", `"key":"` + key[1] + `"`} {
		if !strings.Contains(snippet, want) {
			t.Errorf("the snippet lacks %q", want)
		}
	}
	if strings.Contains(snippet, "AMD loader") {
		t.Error("the script carries its comments")
	}
	fig.Panels[0].Series[1].Points[0].Mean += .001
	other, err := Snippet(fig, "a", WithCell())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(other, key[1]) {
		t.Error("another chart has the same key: on one page it would be drawn in the wrong place")
	}
}

func TestRoundRange(t *testing.T) {
	for _, c := range [][4]float64{{-0.17, 0.15, -0.2, 0.15}, {-0.02, 0.49, -0.1, 0.5}, {3, 1960, 0, 2000}} {
		low, high, step := roundRange(c[0], c[1])
		if steps := (high - low) / step; math.Abs(steps-math.Round(steps)) > 1e-9 || steps > 10 {
			t.Errorf("roundRange(%v, %v) has a step of %v, %v of which fill it", c[0], c[1], step, steps)
		}
		if low != c[2] || high != c[3] {
			t.Errorf("roundRange(%v, %v) = %v, %v, want %v, %v", c[0], c[1], low, high, c[2], c[3])
		}
	}
}
