package figures

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// alt is the panel's picture in words, for those who cannot see it.
func (p Chart) alt() string {
	labels := make([]string, len(p.Series))
	for i, s := range p.Series {
		labels[i] = s.text()
	}
	return fmt.Sprintf("%s against %s for %s", p.YLabel, p.XLabel, strings.Join(labels, ", "))
}

// chart is a panel as chart.js takes it.
type chart struct {
	Key    string         `json:"key"`
	XLabel string         `json:"xlabel"`
	Option map[string]any `json:"option"`
	Title  string         `json:"title,omitempty"` // these two in a notebook's cell only
	Notes  string         `json:"notes,omitempty"`
}

func (f Figure) chart(p Chart) chart {
	stem := Stem(f.Name, p.Key)
	return chart{Key: stem, XLabel: html.EscapeString(p.XLabel), Option: chartOption(stem, p.shown())}
}

// drawCall calls chart.js with these charts, the sources of echarts, and further arguments in
// JavaScript. JSON escapes < and >, so no text of the figure can end the script.
func drawCall(charts []chart, sources any, more ...string) (string, error) {
	var call []string
	for _, argument := range []any{charts, sources} {
		text, err := json.Marshal(argument)
		if err != nil {
			return "", fmt.Errorf("figures: cannot describe the charts: %w", err)
		}
		call = append(call, string(text))
	}
	return fmt.Sprintf("%s(%s);", drawScript, strings.Join(append(call, more...), ",\n")), nil
}

// chartOption is the panel's chart as ECharts describes it. chart.js adds what takes a
// function: the bands and the tooltip.
func chartOption(id string, p Chart) map[string]any {
	out := charts.NewLine()
	out.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{ChartID: id}), // otherwise go-echarts draws a random one
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{
			Show: opts.Bool(true), Trigger: "axis", AxisPointer: &opts.AxisPointer{Type: "line"},
		}),
		charts.WithGridOpts(opts.Grid{Left: "75px", Right: "30px", Top: "60px", Bottom: "95px"}),
		charts.WithDataZoomOpts(
			opts.DataZoom{Type: "inside", FilterMode: "none"},
			opts.DataZoom{Type: "slider", FilterMode: "none"}),
	)
	setAxes(out, p)
	var legend []string
	for _, l := range p.lines() {
		legend = append(legend, l.label)
		out.MultiSeries = append(out.MultiSeries, p.curve(l))
		for _, run := range l.bands {
			out.MultiSeries = append(out.MultiSeries, l.band(run))
		}
	}
	out.SetGlobalOptions(charts.WithLegendOpts(opts.Legend{
		Show: opts.Bool(true), ItemWidth: 34, Top: "10px", Left: "75px", Right: "30px", Data: legend,
	}))
	out.Validate()
	return out.JSON()
}

func setAxes(out *charts.Line, p Chart) {
	xlow, xhigh := p.xRange()
	x := opts.XAxis{Type: "value", Name: p.XLabel, NameLocation: "center", NameGap: 30, Min: xlow, Max: xhigh,
		AxisLine: &opts.AxisLine{OnZero: opts.Bool(false)}, SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
		AxisLabel: &opts.AxisLabel{HideOverlap: opts.Bool(true)}}
	if p.wholeX() {
		x.MinInterval = 1 // chart.js shows whole numbers alone
	}
	if p.XNames != nil {
		x.Type, x.Min, x.Max, x.MinInterval = "category", nil, nil, 0
		out.SetXAxis(p.XNames)
	}
	y := opts.YAxis{Type: "value", Name: p.YLabel, NameLocation: "center", NameGap: 55,
		Min: p.low, Max: p.high, MaxInterval: p.step,
		AxisLine: &opts.AxisLine{Show: opts.Bool(true), OnZero: opts.Bool(false)}}
	out.SetGlobalOptions(charts.WithXAxisOpts(x), charts.WithYAxisOpts(y))
}

// curve is a line of the panel, with the tooltips of its points.
func (p Chart) curve(l line) charts.SingleSeries {
	data := make([]opts.LineData, len(l.marks))
	for i, m := range l.marks {
		data[i] = opts.LineData{Name: p.tooltip(l, m), Value: []float64{m.x, m.y}}
	}
	return charts.SingleSeries{
		Name: l.label, Type: "line", Data: data, Color: l.color,
		ShowSymbol: opts.Bool(l.dotted()), Symbol: "circle", SymbolSize: 5,
		LineStyle: &opts.LineStyle{Color: l.color, Width: 2, Type: l.dash},
		ItemStyle: &opts.ItemStyle{Color: l.color},
	}
}

// band has the line's name, so that the legend switches both.
func (l line) band(run []Point) charts.SingleSeries {
	data := make([]opts.CustomData, len(run))
	for i, p := range run {
		data[i] = opts.CustomData{Value: []float64{p.X, p.Low, p.High}}
	}
	return charts.SingleSeries{
		Name: l.label, Type: "custom", Data: data, Color: l.color,
		Encode:    &opts.Encode{X: 0, Y: []int{1, 2}},
		ItemStyle: &opts.ItemStyle{Color: l.color},
	}
}

// tooltip is a measured point of a line, as HTML: its series, mean and interval; after a line's end the values of
// seeds, which only a large chart has room for.
func (p Chart) tooltip(l line, m mark) string {
	if m.of == nil {
		return ""
	}
	text := "<b>" + html.EscapeString(l.label) + "</b> "
	if l.level {
		text += p.number(m.y) + ", here "
	}
	text += p.text(*m.of)
	lead := "\nseed "
	for _, seed := range m.of.Seeds {
		text += fmt.Sprintf("%s%d: %s", lead, seed.Seed, p.number(seed.Value))
		lead = ", "
	}
	return text
}

// text is the mean, with its interval if there is one.
func (p Chart) text(at Point) string {
	if at.N < 2 {
		return p.number(at.Mean)
	}
	return fmt.Sprintf("%s [%s, %s]", p.number(at.Mean), p.number(at.Low), p.number(at.High))
}

func properMinus(number string) string { return strings.Replace(number, "-", "−", 1) }
