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
	stem := f.FileStem(p)
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
	line := charts.NewLine()
	line.SetGlobalOptions(
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
	setAxes(line, p)
	var legend []string
	xlow, xhigh := p.xRange()
	if r := p.Reference; r != nil {
		legend = append(legend, r.Label)
		line.MultiSeries = append(line.MultiSeries, referenceLine(*r, xlow, xhigh))
	}
	for _, s := range p.Series {
		legend = append(legend, s.text())
		line.MultiSeries = append(line.MultiSeries, seriesLine(p, s, xlow, xhigh))
		for _, run := range p.bands(s) {
			line.MultiSeries = append(line.MultiSeries, seriesBand(s, run))
		}
	}
	line.SetGlobalOptions(charts.WithLegendOpts(opts.Legend{
		Show: opts.Bool(true), ItemWidth: 34, Top: "10px", Left: "75px", Right: "30px", Data: legend,
	}))
	line.Validate()
	return line.JSON()
}

func setAxes(line *charts.Line, p Chart) {
	xlow, xhigh := p.xRange()
	x := opts.XAxis{Type: "value", Name: p.XLabel, NameLocation: "center", NameGap: 30, Min: xlow, Max: xhigh,
		AxisLine: &opts.AxisLine{OnZero: opts.Bool(false)}, SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
		AxisLabel: &opts.AxisLabel{HideOverlap: opts.Bool(true)}}
	if p.wholeX() {
		x.MinInterval = 1 // chart.js shows whole numbers alone
	}
	if p.XNames != nil {
		x.Type, x.Min, x.Max, x.MinInterval = "category", nil, nil, 0
		line.SetXAxis(p.XNames)
	}
	y := opts.YAxis{Type: "value", Name: p.YLabel, NameLocation: "center", NameGap: 55,
		Min: p.low, Max: p.high, MaxInterval: p.step,
		AxisLine: &opts.AxisLine{Show: opts.Bool(true), OnZero: opts.Bool(false)}}
	line.SetGlobalOptions(charts.WithXAxisOpts(x), charts.WithYAxisOpts(y))
}

func referenceLine(r Reference, xlow, xhigh float64) charts.SingleSeries {
	data := []opts.LineData{{Value: []float64{xlow, r.Value}}, {Value: []float64{xhigh, r.Value}}}
	return curveOf(r.Label, r.Color, r.Dash, data, false)
}

func seriesLine(p Chart, s Series, xlow, xhigh float64) charts.SingleSeries {
	data := make([]opts.LineData, 0, len(s.Points)+2)
	if s.Mean && xlow < s.Points[0].X {
		data = append(data, opts.LineData{Value: []float64{xlow, s.mean()}})
	}
	for _, at := range s.Points {
		y := at.Mean
		if s.Mean {
			y = s.mean()
		}
		data = append(data, opts.LineData{Name: p.pointText(s, at), Value: []float64{at.X, y}})
	}
	if s.Mean && s.Points[len(s.Points)-1].X < xhigh {
		data = append(data, opts.LineData{Value: []float64{xhigh, s.mean()}})
	}
	return curveOf(s.text(), s.Color, s.Dash, data, !s.Mean && len(s.Points) <= fewPoints)
}

func curveOf(name, color, dash string, data []opts.LineData, dots bool) charts.SingleSeries {
	return charts.SingleSeries{
		Name: name, Type: "line", Data: data, Color: color,
		ShowSymbol: opts.Bool(dots), Symbol: "circle", SymbolSize: 5,
		LineStyle: &opts.LineStyle{Color: color, Width: 2, Type: dash},
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

// pointText is a point in the tooltip, as HTML: its series, mean and interval; after a line's end the values of seeds,
// which only a large chart has room for.
func (p Chart) pointText(s Series, at Point) string {
	text := "<b>" + html.EscapeString(s.text()) + "</b> "
	if s.Mean {
		text += p.number(s.mean()) + ", here "
	}
	text += p.text(at)
	lead := "\nseed "
	for _, seed := range at.Seeds {
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
