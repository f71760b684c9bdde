package figures

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// DefaultScript is where pages find echarts unless [WithScript] says otherwise.
const DefaultScript = "https://go-echarts.github.io/go-echarts-assets/assets/" + opts.EchartsJS

// Option adjusts [Page], [Snippet] and [Write].
type Option func(*settings)

type settings struct {
	script string
	cell   []string // nil unless for a notebook's cell
}

// WithScript makes pages load echarts from src: an address, or a path as the browser
// resolves it from the page, such as "/files/echarts.min.js" in Jupyter.
func WithScript(src string) Option { return func(s *settings) { s.script = src } }

// WithCell makes a [Snippet] for the output of a notebook cell: without a picture of its
// own, for the static picture is an output of its own before it, which the script hides
// once the chart is drawn. It loads echarts from the first of sources that answers, where
// {base} stands for Jupyter's base URL, and, on pages that Jupyter does not serve, such as
// an export, from [DefaultScript] or what WithScript names.
func WithCell(sources ...string) Option {
	return func(s *settings) { s.cell = append([]string{}, sources...) }
}

func newSettings(options []Option) settings {
	s := settings{script: DefaultScript}
	for _, option := range options {
		option(&s)
	}
	return s
}

var (
	//go:embed page.js
	pageJS     string
	drawScript = strings.TrimSpace(regexp.MustCompile(`(?m)^\s*//.*\n`).ReplaceAllString(pageJS, "")) // no comments: each cell has a copy

	//go:embed page.html
	pageText     string
	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// Page returns index.html: every panel as an interactive chart, with the static SVG in
// its place until echarts is there. Page looks for an echarts.min.js beside itself
// first, so a folder that holds one works offline.
func Page(fig Figure, options ...Option) ([]byte, error) {
	if err := fig.Validate(); err != nil {
		return nil, err
	}
	type film struct{ Stem, Title string }
	type section struct {
		Stem, Title, Alt string
		Notes            []string
		Films            []film
	}
	title := cmp.Or(fig.Title, fig.Name)
	data := struct {
		Title, Caption string
		Panels         []section
		Source         []string
		Script         template.JS
	}{Title: title, Caption: fig.Caption, Source: fig.Source}
	for _, p := range fig.Panels {
		notes := Figure{}.footnotes(p) // the source stands once, at the foot of the page
		var films []film
		for _, f := range p.Films {
			films = append(films, film{fig.FilmStem(p, f), f.Title})
		}
		data.Panels = append(data.Panels, section{fig.FileStem(p), panelTitle(p), p.AltText(), notes, films})
	}
	script, err := pageScript(describe(fig, fig.Panels), []string{opts.EchartsJS, newSettings(options).script}, nil)
	if err != nil {
		return nil, err
	}
	data.Script = template.JS(script)
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, data); err != nil {
		return nil, fmt.Errorf("figures: cannot write the page of %s: %w", fig.Name, err)
	}
	return page.Bytes(), nil
}

// Snippet returns one panel as a piece of HTML. It carries its own static picture (but
// see [WithCell]), and one script that draws at once if echarts is loaded and otherwise
// loads it first: JupyterLab does not wait for one script before it runs the next.
func Snippet(fig Figure, panel string, options ...Option) (string, error) {
	picture, err := SVG(fig, panel) // validates
	if err != nil {
		return "", err
	}
	p, err := fig.Panel(panel)
	if err != nil {
		return "", err
	}
	o := newSettings(options)
	notes := strings.Join(fig.footnotes(p), " ")
	all := describe(fig, []Panel{p})
	if o.cell != nil {
		return cellSnippet(all[0], panelTitle(p), notes, o)
	}
	script, err := pageScript(all, []string{o.script}, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("<p><b>%s</b></p>\n<div data-chart=%q style=\"width:100%%\"><img alt=\"%s\" src=\"data:image/svg+xml;base64,%s\"></div>\n<p><small>%s</small></p>\n<script>\n%s\n</script>\n",
		html.EscapeString(panelTitle(p)), all[0].Key, html.EscapeString(p.AltText()),
		base64.StdEncoding.EncodeToString(picture), html.EscapeString(notes), script), nil
}

// cellSnippet shows nothing without its script. Its key names the chart's content, since
// JupyterLab puts several notebooks into one page.
func cellSnippet(c chart, title, notes string, o settings) (string, error) {
	c.Title, c.Notes = title, notes
	content, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("figures: cannot describe the chart %s: %w", c.Key, err)
	}
	c.Key = fmt.Sprintf("%s-%x", c.Key, sha256.Sum256(content))[:len(c.Key)+9]
	script, err := pageScript([]chart{c}, o.cell, []string{o.script})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("<div data-chart=%q style=\"width:100%%\"></div>\n<script>\n%s\n</script>\n", c.Key, script), nil
}

// AltText describes the panel's picture to those who cannot see it.
func (p Panel) AltText() string {
	labels := make([]string, len(p.Series))
	for i, s := range p.Series {
		labels[i] = s.text()
	}
	return fmt.Sprintf("%s: %s against %s for %s", panelTitle(p), p.YLabel, p.XLabel, strings.Join(labels, ", "))
}

// chart is a panel as page.js takes it.
type chart struct {
	Key    string         `json:"key"`
	XLabel string         `json:"xlabel"`
	Option map[string]any `json:"option"`
	Title  string         `json:"title,omitempty"` // these two in a notebook's cell only
	Notes  string         `json:"notes,omitempty"`
}

func describe(fig Figure, panels []Panel) []chart {
	var all []chart
	for _, p := range panels {
		stem := fig.FileStem(p)
		all = append(all, chart{Key: stem, XLabel: html.EscapeString(p.XLabel), Option: chartOption(stem, p)})
	}
	return all
}

// pageScript calls page.js. JSON escapes < and >, so no text of the figure can end the
// script.
func pageScript(charts []chart, sources, elsewhere []string) (string, error) {
	call := make([]string, 3)
	for i, argument := range []any{charts, sources, append([]string{}, elsewhere...)} {
		text, err := json.Marshal(argument)
		if err != nil {
			return "", fmt.Errorf("figures: cannot describe the charts: %w", err)
		}
		call[i] = string(text)
	}
	return fmt.Sprintf("%s(%s);", drawScript, strings.Join(call, ",\n")), nil
}

// chartOption describes a panel in the words of ECharts. What takes a function, the
// drawing of bands and the tooltip, is added in page.js.
func chartOption(id string, p Panel) map[string]any {
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{ChartID: id}), // go-echarts would draw lots
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", AxisPointer: &opts.AxisPointer{Type: "line"}}),
		charts.WithGridOpts(opts.Grid{Left: "75px", Right: "30px", Top: "60px", Bottom: "95px"}),
		charts.WithDataZoomOpts(
			opts.DataZoom{Type: "inside", FilterMode: "none"},
			opts.DataZoom{Type: "slider", FilterMode: "none"}),
	)
	setAxes(line, p)
	var legend []string
	xlow, xhigh := p.xRange()
	if r := p.Reference; r != nil {
		legend = append(legend, r.Label)
		line.MultiSeries = append(line.MultiSeries, referenceLine(*r, xlow, xhigh))
	}
	for _, s := range p.Series {
		legend = append(legend, s.text())
		line.MultiSeries = append(line.MultiSeries, seriesLine(s, xlow, xhigh))
		for _, run := range s.bands() {
			line.MultiSeries = append(line.MultiSeries, seriesBand(s, run))
		}
	}
	line.SetGlobalOptions(charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Top: "10px", Left: "75px", Right: "30px", Data: legend}))
	line.Validate()
	return line.JSON()
}

func setAxes(line *charts.Line, p Panel) {
	xlow, xhigh := p.xRange()
	x := opts.XAxis{Type: "value", Name: p.XLabel, NameLocation: "center", NameGap: 30, Min: xlow, Max: xhigh,
		AxisLine: &opts.AxisLine{OnZero: opts.Bool(false)}, SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
		AxisLabel: &opts.AxisLabel{HideOverlap: opts.Bool(true)}}
	if p.wholeX() {
		x.MinInterval = 1
	}
	low, high, step := roundRange(p.yRange())
	if p.YRange != nil {
		low, high = p.YRange[0], p.YRange[1]
	}
	y := opts.YAxis{Type: "value", Name: p.YLabel, NameLocation: "center", NameGap: 55, Min: low, Max: high, MaxInterval: step,
		AxisLine: &opts.AxisLine{Show: opts.Bool(true), OnZero: opts.Bool(false)}}
	line.SetGlobalOptions(charts.WithXAxisOpts(x), charts.WithYAxisOpts(y))
}

// roundRange widens the limits to multiples of a round step, so that the axis ends at its
// ticks if these are no further apart.
func roundRange(low, high float64) (from, to, step float64) {
	step = niceStep(low, high, 8, false)
	round := func(units float64) float64 { // by division where step < 1: 3/100, not 3*0.01
		if step < 1 {
			return units / math.Round(1/step)
		}
		return units * step
	}
	return round(math.Floor(low / step)), round(math.Ceil(high / step)), step
}

func referenceLine(r Reference, xlow, xhigh float64) charts.SingleSeries {
	data := []opts.LineData{{Value: []float64{xlow, r.Value}}, {Value: []float64{xhigh, r.Value}}}
	return curveOf(r.Label, r.Color, "solid", data, false)
}

func seriesLine(s Series, xlow, xhigh float64) charts.SingleSeries {
	kind := "solid"
	if s.Style != Line {
		kind = "dashed"
	}
	data := make([]opts.LineData, 0, len(s.Points)+2)
	if s.Style == MeanLine && xlow < s.Points[0].X {
		data = append(data, opts.LineData{Value: []float64{xlow, s.mean()}})
	}
	for _, p := range s.Points {
		y := p.Mean
		if s.Style == MeanLine {
			y = s.mean()
		}
		data = append(data, opts.LineData{Name: pointText(s, p), Value: []float64{p.X, y}})
	}
	if s.Style == MeanLine && s.Points[len(s.Points)-1].X < xhigh {
		data = append(data, opts.LineData{Value: []float64{xhigh, s.mean()}})
	}
	return curveOf(s.text(), s.Color, kind, data, s.Style != MeanLine && len(s.Points) <= fewPoints)
}

func curveOf(name, color, kind string, data []opts.LineData, dots bool) charts.SingleSeries {
	return charts.SingleSeries{
		Name: name, Type: "line", Data: data, Color: color,
		ShowSymbol: opts.Bool(dots), Symbol: "circle", SymbolSize: 5,
		LineStyle: &opts.LineStyle{Color: color, Width: 2, Type: kind},
		ItemStyle: &opts.ItemStyle{Color: color},
	}
}

// seriesBand has the series's name, so that the legend switches both.
func seriesBand(s Series, run []Point) charts.SingleSeries {
	data := make([]opts.CustomData, len(run))
	for i, p := range run {
		data[i] = opts.CustomData{Value: []float64{p.X, p.Low, p.High}}
	}
	return charts.SingleSeries{
		Name: s.text(), Type: "custom", Data: data, Color: s.Color,
		Encode:    &opts.Encode{X: 0, Y: []int{1, 2}},
		ItemStyle: &opts.ItemStyle{Color: s.Color},
	}
}

// pointText is a point's line in the tooltip, as HTML: mean, interval, value of each seed.
func pointText(s Series, p Point) string {
	var b strings.Builder
	b.WriteString("<b>" + html.EscapeString(s.text()) + "</b> ")
	if s.Style == MeanLine {
		b.WriteString(number(s.mean()) + " over all steps; here ")
	}
	b.WriteString(number(p.Mean))
	if p.N > 1 {
		b.WriteString(" [" + number(p.Low) + ", " + number(p.High) + "]")
	}
	lead := " · seed "
	for _, seed := range p.Seeds {
		b.WriteString(lead + strconv.FormatInt(seed.Seed, 10) + ": " + number(seed.Value))
		lead = ", "
	}
	return b.String()
}

// number writes a value with four significant digits and a proper minus sign.
func number(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 4, 64), "-", "−", 1)
}
