package figures

import (
	"image/color"
	"math"
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
	for _, s := range p.Series {
		for _, run := range p.bands(s) {
			plt.Add(newBand(run, opaque(s.Color)))
		}
	}
	xlow, xhigh := p.xRange()
	if r := p.Reference; r != nil {
		plt.Add(&curve{points: level(xlow, xhigh, r.Value), style: lineStyle(r.Color, r.Dash)})
	}
	for _, s := range p.Series {
		plt.Add(newCurve(s, xlow, xhigh))
	}

	plt.X.Min, plt.X.Max = xlow, xhigh
	plt.Y.Min, plt.Y.Max = p.low, p.high
	marks := ticks(plt.X.Min, plt.X.Max, 8, p.wholeX())
	for i := range marks {
		marks[i].Label = p.xText(marks[i].Value, marks[i].Label)
	}
	plt.X.Tick.Marker = plot.ConstantTicks(marks)
	plt.Y.Tick.Marker = plot.ConstantTicks(ticks(plt.Y.Min, plt.Y.Max, 8, false))
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

// ticks returns about count labelled ticks at multiples of a round step, all with as
// many decimals as the step needs.
func ticks(low, high float64, count int, whole bool) []plot.Tick {
	step := niceStep(low, high, count, whole)
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
	outline plotter.XYs // lower ends from left to right, upper ends back
	color   color.NRGBA
}

func newBand(run []Point, line color.NRGBA) *band {
	b := &band{color: faded(line)}
	for _, p := range run {
		b.outline = append(b.outline, plotter.XY{X: p.X, Y: p.Low})
	}
	for i := len(run) - 1; i >= 0; i-- {
		b.outline = append(b.outline, plotter.XY{X: run[i].X, Y: run[i].High})
	}
	return b
}

// Plot implements plot.Plotter: the area, or a bar if the band is a single point.
func (b *band) Plot(c draw.Canvas, plt *plot.Plot) {
	at := onCanvas(c, plt, b.outline)
	if len(at) == 2 {
		c.StrokeLines(draw.LineStyle{Color: b.color, Width: 6}, c.ClipLinesXY(at)...)
		return
	}
	if clipped := c.ClipPolygonXY(at); len(clipped) > 0 {
		c.FillPolygon(b.color, clipped)
	}
}

// curve is a line, with a dot at each point if dots is set.
type curve struct {
	points plotter.XYs
	style  draw.LineStyle
	dots   bool
}

func newCurve(s Series, xlow, xhigh float64) *curve {
	c := &curve{style: lineStyle(s.Color, s.Dash)}
	if s.Mean {
		c.points = level(xlow, xhigh, s.mean())
		return c
	}
	for _, p := range s.Points {
		c.points = append(c.points, plotter.XY{X: p.X, Y: p.Mean})
	}
	c.dots = len(s.Points) <= fewPoints
	return c
}

// Plot implements plot.Plotter.
func (l *curve) Plot(c draw.Canvas, plt *plot.Plot) {
	at := onCanvas(c, plt, l.points)
	c.StrokeLines(l.style, c.ClipLinesXY(at)...)
	if !l.dots {
		return
	}
	for _, p := range at {
		c.DrawGlyph(draw.GlyphStyle{Color: l.style.Color, Radius: 2.2, Shape: draw.CircleGlyph{}}, p)
	}
}

// level is a horizontal line.
func level(xlow, xhigh, y float64) plotter.XYs { return plotter.XYs{{X: xlow, Y: y}, {X: xhigh, Y: y}} }

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
