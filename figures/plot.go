package figures

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	lineWidth   = 1.5 * vg.Length(1) // points
	bandOpacity = 0.18
	fewPoints   = 30 // a series with at most so many points has a dot at each
)

// newPlot turns a valid panel, as it is shown, into axes with grid, bands, reference line and curves,
// without title and legend, which the sheet places.
func newPlot(p Chart) *plot.Plot {
	plt := plot.New()
	styleAxis(&plt.X, p.XLabel)
	styleAxis(&plt.Y, p.YLabel)
	plt.Y.Label.TextStyle.YAlign = text.YBottom

	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: color.Gray{Y: 0xe4}, Width: 0.5}
	plt.Add(grid)
	lines := p.lines()
	for _, l := range lines {
		for _, run := range l.bands {
			plt.Add(band{outline(run), faded(opaque(l.color))})
		}
	}
	for _, l := range lines {
		plt.Add(l)
	}

	plt.X.Min, plt.X.Max = p.xRange()
	plt.Y.Min, plt.Y.Max = p.low, p.high
	marks := ticks(plt.X.Min, plt.X.Max, p.wholeX())
	for i := range marks {
		marks[i].Label = p.xText(marks[i].Value, marks[i].Label)
	}
	plt.X.Tick.Marker = plot.ConstantTicks(marks)
	plt.Y.Tick.Marker = plot.ConstantTicks(ticks(plt.Y.Min, plt.Y.Max, false))
	return plt
}

func styleAxis(axis *plot.Axis, label string) {
	axis.Label.Text = label
	axis.Label.TextStyle.Font = axisText.Font
	axis.Label.TextStyle.Color = ink
	axis.Label.Padding = 3
	axis.Tick.Label.Font = tickText.Font
	axis.Tick.Label.Color = ink
	axis.LineStyle = draw.LineStyle{Color: ink, Width: 0.7}
	axis.Tick.LineStyle = draw.LineStyle{Color: ink, Width: 0.7}
	axis.Tick.Length = 4
	axis.Padding = 4
}

// ticks returns about eight labelled ticks at multiples of a round step, all with as many decimals as the step needs;
// with whole, at whole numbers alone.
func ticks(low, high float64, whole bool) []plot.Tick {
	step := niceStep(low, high)
	if whole {
		step = max(step, 1)
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var marks []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		label := strconv.FormatFloat(i*step+0, 'f', decimals, 64)
		marks = append(marks, plot.Tick{Value: i * step, Label: properMinus(label)})
	}
	return marks
}

// band is the area between the lower and upper ends of the intervals.
type band struct {
	outline plotter.XYs
	color   color.NRGBA
}

// outline has the lower ends from left to right, then the upper ends back.
func outline(run []Point) (around plotter.XYs) {
	for _, p := range run {
		around = append(around, plotter.XY{X: p.X, Y: p.Low})
	}
	for _, p := range slices.Backward(run) {
		around = append(around, plotter.XY{X: p.X, Y: p.High})
	}
	return around
}

// Plot implements plot.Plotter: the area, or a bar if the band is a single point.
func (b band) Plot(c draw.Canvas, plt *plot.Plot) {
	at := onCanvas(c, plt, b.outline)
	if len(at) == 2 {
		c.StrokeLines(draw.LineStyle{Color: b.color, Width: 6}, c.ClipLinesXY(at)...)
		return
	}
	if clipped := c.ClipPolygonXY(at); len(clipped) > 0 {
		c.FillPolygon(b.color, clipped)
	}
}

// Plot implements plot.Plotter.
func (l line) Plot(c draw.Canvas, plt *plot.Plot) {
	var points plotter.XYs
	for i, m := range l.marks {
		if !l.level || i == 0 || i == len(l.marks)-1 {
			points = append(points, plotter.XY{X: m.x, Y: m.y})
		}
	}
	at := onCanvas(c, plt, points)
	style := lineStyle(l.color, l.dash)
	c.StrokeLines(style, c.ClipLinesXY(at)...)
	if !l.dotted() {
		return
	}
	for _, p := range at {
		c.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: 2.2, Shape: draw.CircleGlyph{}}, p)
	}
}

// onCanvas converts data to positions on the canvas.
func onCanvas(c draw.Canvas, plt *plot.Plot, data plotter.XYs) []vg.Point {
	x, y := plt.Transforms(&c)
	at := make([]vg.Point, len(data))
	for i, p := range data {
		at[i] = vg.Point{X: x(p.X), Y: y(p.Y)}
	}
	return at
}

func lineStyle(color, dash string) draw.LineStyle {
	style := draw.LineStyle{Color: opaque(color), Width: lineWidth}
	for _, length := range strings.Fields(dash) { // of pixels, three quarters of a point
		pixels, _ := strconv.ParseFloat(length, 64)
		style.Dashes = append(style.Dashes, vg.Length(.75*pixels))
	}
	return style
}

// opaque parses "#rrggbb", which Validate has checked.
func opaque(hex string) color.NRGBA {
	rgb, _ := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xff}
}

// faded is the colour of a line's band.
func faded(c color.NRGBA) color.NRGBA {
	c.A = uint8(math.Round(bandOpacity * 255))
	return c
}
