package figures

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
)

// parsedChart is a chart of a page or snippet.
type parsedChart struct {
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

// chartsOf parses the charts out of a page or snippet.
func chartsOf(t *testing.T, page string) []parsedChart {
	t.Helper()
	var all []parsedChart
	argument(t, page, 0, &all)
	return all
}

// argument parses an argument of the call of chart.js.
func argument(t *testing.T, page string, number int, into any) {
	t.Helper()
	start := strings.LastIndex(page, "})([")
	if start < 0 {
		t.Fatal("the page has no charts")
	}
	in := page[start+3:]
	for ; number > 0; number-- {
		_, in, _ = strings.Cut(in, ",\n")
	}
	demand.NoError(t, json.NewDecoder(strings.NewReader(in)).Decode(into))
}

func TestPageHoldsTheSeries(t *testing.T) {
	page, err := Page(sampleFigure(t))
	demand.NoError(t, err)
	chart := chartsOf(t, string(page))[0]
	want := []string{"Everything", "Recent (mean)", "Ours"}
	if chart.Key != "fig01-a" || !slices.Equal(chart.Option.Legend.Data, want) {
		t.Errorf("key %s, legend %v, want fig01-a and %v", chart.Key, chart.Option.Legend.Data, want)
	}
	if zoom := chart.Option.DataZoom; len(zoom) != 2 || zoom[0].Type != "inside" || zoom[1].Type != "slider" {
		t.Errorf("zoom %v", zoom)
	}
	series := chart.Option.Series
	if len(series) != 4 || series[3].Type != "custom" || series[3].Name != "Ours" || series[2].Color != "#d62728" {
		t.Fatalf("series %+v, want reference, mean line, curve and its band", series)
	}
	demand.Near(t, "reference", series[0].Data[0].Value[1], 0)
	demand.Near(t, "mean line", series[1].Data[1].Value[1], -0.05) // mean of .1 and -.2
	demand.Near(t, "curve at 2", series[2].Data[1].Value[1], -0.1)
	demand.Near(t, "band low at 1", series[3].Data[0].Value[1], 0.2-0.248414)
	demand.Near(t, "band high at 1", series[3].Data[0].Value[2], 0.2+0.248414)
	demand.Equal(t, series[2].Data[0].Name, "<b>Ours</b> 0.20 [−0.05, 0.45]\nseed 0: 0.10, 1: 0.20, 2: 0.30", "tooltip")
}

// samplePage is the page of the sample with everything that a page can show, on two panels.
func samplePage(t *testing.T) (Figure, string) {
	t.Helper()
	fig := fullFigure(t)
	page, err := Page(fig)
	demand.NoError(t, err)
	return fig, string(page)
}

// TestLegendOfMeans: a series that is a curve in one panel and its mean in another is in the legend once as each.
func TestLegendOfMeans(t *testing.T) {
	panels := sampleFigure(t).Panels
	curve := panels[0]
	curve.Key, curve.Series = "b", slices.Clone(curve.Series)
	curve.Series[0].Mean = false
	twin := curve
	twin.Key, twin.Series = "c", slices.Clone(curve.Series)
	twin.Series[0].Label = "Other"
	for _, c := range []struct {
		panels []Chart
		want   string
	}{{panels, "Recent (mean)"}, {append(panels, curve), "mean of Recent (panel a)"},
		{append(panels, curve, twin), "panel c: Other"}} {
		var labels []string
		for _, item := range legendOf(c.panels) {
			labels = append(labels, item.Label)
		}
		if !slices.Contains(labels, c.want) || len(labels) != len(c.panels)+2 {
			t.Errorf("the legend is %q and lacks %q", labels, c.want)
		}
	}
}

// body is what a page shows without its script, tags and entities.
func body(page string) string {
	page = regexp.MustCompile(`(?s)<head>.*</head>|<script>.*</script>`).ReplaceAllString(page, "")
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, ""))
}

func TestPageIsAccessible(t *testing.T) {
	_, page := samplePage(t)
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`\b(id|data-chart)="([^"']+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[0]] {
			t.Errorf("%s occurs twice", m[0])
		}
		ids[m[0]] = true
	}
	for _, m := range regexp.MustCompile(`\b(?:data-copy|aria-describedby)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !ids[`id="`+m[1]+`"`] {
			t.Errorf("%s refers to nothing", m[0])
		}
	}
	for _, want := range []string{`id="fig01-a"`, `id="fig01-b"`, `data-chart="fig01-a"`, `data-chart="fig01-b"`} {
		if !ids[want] {
			t.Errorf("the page lacks %s", want)
		}
	}
	level := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(page, -1) {
		next := int(m[1][0] - '0')
		if next > level+1 || next == 1 && level > 0 {
			t.Errorf("a heading of level %d follows one of level %d", next, level)
		}
		level = next
	}
	if strings.Count(page, "<th ") != strings.Count(page, `scope="`) || strings.Contains(page, "<th>") {
		t.Error("a heading of a table does not say what it is the heading of")
	}
	for _, table := range regexp.MustCompile(`(?s)<table.*?</table>`).FindAllString(page, -1) {
		demand.Words(t, table, "<caption")
	}
	live := `role="img" aria-label="Interactive chart: Accuracy minus Everything against Time step t for Recent (mean), `
	demand.Words(t, page,
		`<html lang="en">`, `name="viewport"`, "<noscript>", "prefers-color-scheme: dark", "@media print", ":focus-visible",
		live, `<svg role="img" aria-label="Chart: Accuracy minus Everything`,
		`tabindex="0" role="region" aria-label="Means of panel a"`)
	if _, again := samplePage(t); again != page {
		t.Error("the page differs from one time to the next")
	}
}

// A claim's line has its verdict as a word with a mark, and each number once; a part of an earlier claim is referred
// to. All parts with their statistic unfold.
func TestPageShowsTheClaims(t *testing.T) {
	fig := fullFigure(t)
	again := fig.Claims[0]
	again.ID, again.Text = "5", "Ours is better again"
	fig.Claims = append(fig.Claims, again)
	fig.Claims[1].Gallery = "gallery: holds (8 seeds)"
	text, err := Page(fig)
	demand.NoError(t, err)
	_, list, _ := strings.Cut(string(text), `<section id="claims">`)
	list, _, _ = strings.Cut(list, "</section>")
	demand.Words(t, list,
		`<span class="verdict mixed">partly</span>`, `<span class="verdict confirmed">holds</span>`,
		`<span class="verdict contradicted">does not hold</span>`, `<span class="verdict open">undecided</span>`,
		`<span class="verdict missing">not run</span>`, "&lt;much&gt; better", "(Section 9)", "<code>go run ./make 2</code>",
		`<span class="gallery">gallery: holds (8 seeds)</span>`, "parts shown in claim 1<")
	shown := body(list)
	demand.Words(t, shown,
		"partly Ours is better Ours minus Everything: a +12.5 [+10.0, +15.0] points, holds"+
			"b (made up) 0.0 [-20.0, +20.0] points, undecided\n", // never minus zero
		"Ours minus Everything (claimed above 0)a+0.125 [+0.100, +0.150], n = 3, every 2nd stepholdsgo run ./make 1 --panel a",
		"steps of Ours: a +7.0 (one seed, so no interval)", "time of Ours: b not measured")
	demand.Equal(t, strings.Count(shown, "+12.5"), 1, "times that a number stands in lines")
	for _, o := range []Outcome{Confirmed, Mixed, Contradicted, Open, Missing} {
		demand.Words(t, string(CSS(fig)), "."+string(o)+"::before {")
	}
}

// TestShort: a number has the digits that a line needs, in hundredths where it is a share, and more where an interval
// that excludes 0 would seem to touch it.
func TestShort(t *testing.T) {
	for _, c := range []struct {
		e    statistics.Estimate
		unit Unit
		want string
	}{
		{estimate(.28402, .27, .3, 3), Points, "+28.4 [+27.0, +30.0] points"},
		{estimate(.96035, .95, .97, 3), Percent, "96.0 [95.0, 97.0]%"},
		{estimate(-.0001, -.01, .0099, 3), Points, "0.0 [-1.0, +1.0] points"},
		{estimate(-141.6, -200, -99.96, 3), "", "-142 [-200, -100.0]"},
		{estimate(-.413, -1.5, .2, 3), "", "-0.41 [-1.5, +0.20]"},
		{estimate(.0008, .0001, .0014, 8), Points, "+0.08 [+0.01, +0.14] points"},
		{estimate(-.3, -.6, -.0007, 8), "", "-0.300 [-0.600, -0.001]"},
		{estimate(1e-9, 1e-9, 1e-9, 2), "", "0.00000 [0.00000, 0.00000]"},
	} {
		demand.Equal(t, (ClaimPart{Effect: c.e, Unit: c.unit}).text(), c.want, "%+v", c.e)
	}
	demand.Equal(t, (ClaimPart{Effect: estimate(.0008, .0001, .0014, 8), Unit: Points, Level: "97.5%"}).text(),
		"+0.08 [+0.01, +0.14] points (97.5%)", "an interval of another level")
	if e := (estimate(.0009, .0002, .0016, 8)); e.String() != "+0.0009 [+0.0002, +0.0016], n = 8" {
		t.Errorf("%s", e)
	}
}

// What the page says, it says once; the picture in it repeats neither title nor notes, but
// the picture in a file of its own has them.
func TestNoTextTwice(t *testing.T) {
	fig, page := samplePage(t)
	texts := append([]string{fig.Title, fig.Caption, fig.Command, "Only here.", "In both panels."}, fig.Source...)
	texts = append(texts, "Made of <dots>")
	for _, c := range fig.Claims {
		texts = append(texts, c.Text, c.Says)
	}
	shown := body(page)
	for _, text := range texts {
		demand.Equal(t, strings.Count(shown, text), 1, "times that %q stands on the page", text)
	}
	demand.Words(t, shown, "Panel b: Made of <dots>.")
	for _, p := range fig.Panels {
		file, err := newSheet(fig, p).svg()
		demand.NoError(t, err)
		demand.Words(t, string(file), html.EscapeString(panelTitle(p)), "Scale: tiny.")
		inline, err := inlineSVG(p)
		if err != nil || strings.Contains(string(inline), "Gaussian") || strings.Contains(string(inline), "Only here") {
			t.Errorf("the picture on the page has title or notes, %v", err)
		}
		demand.Words(t, string(inline), "Accuracy minus Everything", ">Ours<")
	}
}

// The colours of the picture on the page are variables, whose values depend on the mode.
func TestInlinePictureTakesTheColoursOfThePage(t *testing.T) {
	fig, page := samplePage(t)
	demand.Words(t, page,
		"fill:var(--sheet,#FFFFFF)", "fill:var(--ink,#222222)",
		"stroke:var(--c-d62728,#D62728)", "fill:var(--c-d62728,#D52627)")
	if bare := svgColor.FindString(page[strings.Index(page, "<body "):strings.Index(page, "<script>")]); bare != "" {
		t.Errorf("a colour is fixed: %s", bare)
	}
	if css := string(CSS(fig)); strings.Contains(css, "--c-d62728") {
		t.Error("a colour that is legible on a dark page is replaced")
	}
	fig.Panels[0].Series[1].Color = "#000000"
	demand.Words(t, string(CSS(fig)), "@media screen and (prefers-color-scheme: dark) { :root { --c-000000: #ffffff; } }")
}

// Next to the page, above it, then the network, where the browser checks the script.
func TestSourcesOfECharts(t *testing.T) {
	_, page := samplePage(t)
	var sources []networkScript
	argument(t, page, 1, &sources)
	want := []networkScript{{Src: "echarts.min.js"}, {Src: "../echarts.min.js"}, published}
	demand.List(t, sources, want, "sources")
}

// The table behind a chart holds the chart's points: same x, mean, interval and seeds. The table of means has the
// numbers that a terminal shows.
func TestTableEqualsPoints(t *testing.T) {
	fig, page := samplePage(t)
	fig.Panels[0].Series[1].Points[1].N = 1 // a panel with different numbers of seeds
	uneven := pointsOf(fig.Panels[0])
	demand.Equal(t, uneven.Rows[1][2], "−0.10, n = 1", "the point of one seed")
	if strings.Contains(uneven.Caption, "n =") {
		t.Errorf("the caption gives one number of seeds for all: %s", uneven.Caption)
	}
	exact := Chart{Key: "a", Series: []Series{{Name: "s", Points: Course([]float64{.1})}}}
	demand.Equal(t, pointsOf(exact).Rows[0][1], "0.10", "the point without seeds")
	fig, _ = samplePage(t)
	for _, p := range fig.Panels {
		p = p.shown()
		table := pointsOf(p)
		head := []string{"Time step t", "Recent (mean)", "Ours"}
		if !slices.Equal(table.Head, head) || !strings.Contains(table.Caption, "n = 3") {
			t.Errorf("head %q, caption %q", table.Head, table.Caption)
		}
		for column, s := range p.Series {
			for row, point := range s.Points {
				want := p.text(point)
				if got := table.Rows[row]; got[0] != fmt.Sprint(point.X) || got[column+1] != want {
					t.Errorf("%s at %v: %q, want %q", s.Name, point.X, got, want)
				}
				demand.Words(t, page, "<td>"+want+"</td>")
			}
		}
		if last := table.Rows[len(table.Rows)-1]; !slices.Equal(last, []string{"mean over all steps", "−0.05", ""}) {
			t.Errorf("the constant line is %q", last)
		}
	}
	for _, cell := range slices.Concat(fig.Tables[0].Cells()...) {
		if cell != "" && !strings.Contains(html.UnescapeString(page), ">"+cell+"<") {
			t.Errorf("the table of means lacks %q", cell)
		}
	}
}

// The page links to its files, and a button copies the command as it stands there.
func TestPageLinks(t *testing.T) {
	_, page := samplePage(t)
	demand.Words(t, page,
		`<code id="command" tabindex="0">go run ./make 1 --set &#34;a&lt;b&#34;</code>`+
			`<button type="button" data-copy="command"`,
		`<a href="fig01-a.csv">`, `<a href="fig01-b.svg">`, `<a href="fig01-a.png">`, `<a href="fig01-a.pdf">`,
		`<a href="provenance.json">provenance.json</a>`, `All &lt;numbers&gt;: <a href="claims.json">claims.json</a>`,
		"Runs: <code>gaussian</code>")
}

// A figure without claims, tables, data and command has a page without their headings.
func TestPageWithoutTheRest(t *testing.T) {
	page, err := Page(sampleFigure(t))
	unwanted := regexp.MustCompile(`Claims|<h2>Data|Make this figure again|data-copy=|means"`)
	if found := unwanted.Find(page); err != nil || found != nil {
		t.Errorf("the page has %q, %v", found, err)
	}
}

func TestTextCannotLeaveTheScript(t *testing.T) {
	fig := sampleFigure(t)
	fig.Panels[0].Series[1].Label = "</script><b>x"
	fig.Panels[0].XLabel = "</script><i>"
	page, err := Page(fig)
	demand.NoError(t, err)
	demand.Equal(t, strings.Count(string(page), "</script>"), 1, "ends of scripts")
	demand.Words(t, chartsOf(t, string(page))[0].Option.Series[2].Data[0].Name, "&lt;/script&gt;")
}

// In a cell the static picture is another output, so the snippet shows nothing without its
// script; and it loads nothing from another host on a page that Jupyter serves.
func TestSnippetForACell(t *testing.T) {
	fig := sampleFigure(t)
	snippet, err := Snippet(fig, fig.Panels[0])
	demand.NoError(t, err)
	before, _, _ := strings.Cut(snippet, "<script>")
	element := regexp.MustCompile(`^<div data-chart="(fig01-a-[0-9a-f]{8})" style="width:100%"></div>\n$`)
	key := element.FindStringSubmatch(before)
	if key == nil {
		t.Fatalf("without its script the snippet shows %q", before)
	}
	if strings.Count(snippet, "<script") != 1 {
		t.Error("there must be one inline script")
	}
	demand.Words(t, snippet,
		"[\"{base}lab/extensions/tvps/static/echarts.min.js\",\"{base}files/echarts.min.js\"],\n[\""+published.Src+"\"]);",
		`"title":"(a) Gaussian \u003cscript\u003e`, "Scale: tiny.", `"key":"`+key[1]+`"`)
	fig.Panels[0].Series[1].Points[0].Mean += .001
	other, err := Snippet(fig, fig.Panels[0])
	demand.NoError(t, err)
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
