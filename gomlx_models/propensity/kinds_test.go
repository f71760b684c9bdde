package propensity_test

import (
	"bytes"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"testing"

	"tvps/data/random"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

var update = flag.Bool("update", false, "write kinds.svg and kinds.png")

// drift is a density p_t(x, y) of a number x and a class y, 0 or 1, for t from 0 to 1.
type drift struct {
	name string
	x    func(t, x float64) float64 // p_t(x)
	y    func(t, x float64) float64 // p_t(y=1|x)
	draw func(t, normal, uniform float64) float64
}

func normal(x, mean, sd float64) float64 {
	z := (x - mean) / sd
	return math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// share is p_t(y=1) of the drift of y.
func share(t float64) float64 { return .15 + .7*t }

var drifts = []drift{
	{"x drifts: its mean rises",
		func(t, x float64) float64 { return normal(x, 2*t-1, .8) },
		func(_, x float64) float64 { return sigmoid(3 * x) },
		func(t, n, _ float64) float64 { return 2*t - 1 + .8*n }},
	{"y drifts: class 1 grows more common",
		func(t, x float64) float64 { return share(t)*normal(x, .8, .8) + (1-share(t))*normal(x, -.8, .8) },
		func(t, x float64) float64 {
			one := share(t) * normal(x, .8, .8)
			return one / (one + (1-share(t))*normal(x, -.8, .8))
		},
		func(t, n, u float64) float64 {
			if u < share(t) {
				return .8 + .8*n
			}
			return -.8 + .8*n
		}},
	{"the rule drifts: its threshold rises",
		func(_, x float64) float64 { return normal(x, 0, 1) },
		func(t, x float64) float64 { return sigmoid(5 * (x - 2.4*t + 1.2)) },
		func(_, n, _ float64) float64 { return n }},
}

// omegas are the weights of the three kinds at T = 1.
func (d drift) omegas(t, x float64, y int) [3]float64 {
	of := func(t float64) float64 {
		if y == 1 {
			return d.y(t, x)
		}
		return 1 - d.y(t, x)
	}
	covariate, conditional := d.x(1, x)/d.x(t, x), of(1)/of(t)
	return [3]float64{covariate * conditional, covariate, conditional}
}

// TestKinds: the weights of the picture are what its formulas say, and the committed picture shows them. -update
// draws it.
func TestKinds(t *testing.T) {
	for i, d := range drifts {
		for at := 0.; at < 1; at += .25 {
			joint, covariate, conditional := 0., 0., 0. // means of omega under p_t
			const step = 1e-3
			for x := -8.; x < 8; x += step {
				for y, p := range []float64{1 - d.y(at, x), d.y(at, x)} {
					w, mass := d.omegas(at, x, y), d.x(at, x)*p*step
					joint, covariate, conditional = joint+w[0]*mass, covariate+w[1]*mass, conditional+w[2]*mass
				}
			}
			if math.Abs(joint-1)+math.Abs(covariate-1)+math.Abs(conditional-1) > 1e-3 {
				t.Errorf("%s: means of omega %v, %v, %v at %v", d.name, joint, covariate, conditional, at)
			}
			if w := d.omegas(at, .3, 1); (math.Abs(w[2]-1) < 1e-12) != (i == 0) || (math.Abs(w[1]-1) < 1e-12) != (i == 2) {
				t.Errorf("%s: weights %v", d.name, w)
			}
		}
	}
	svg := vgsvg.New(kindsWidth, kindsHeight)
	drawKinds(draw.New(svg))
	var picture bytes.Buffer
	if _, err := svg.WriteTo(&picture); err != nil {
		t.Fatal(err)
	}
	named := bytes.ReplaceAll(picture.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	if *update {
		png := vgimg.NewWith(vgimg.UseWH(kindsWidth, kindsHeight), vgimg.UseDPI(110))
		drawKinds(draw.New(png))
		var pixels bytes.Buffer
		if _, err := (vgimg.PngCanvas{Canvas: png}).WriteTo(&pixels); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{"kinds.svg": named, "kinds.png": pixels.Bytes()} {
			if err := os.WriteFile(name, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if read(t, "kinds.svg") != string(named) {
		t.Error("kinds.svg is not what this test draws; run it with -update")
	}
}

const kindsWidth, kindsHeight = 9 * vg.Inch, 7.6 * vg.Inch

func style(points vg.Length, weight xfont.Weight, ink color.Color) text.Style {
	return text.Style{Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: points, Weight: weight},
		XAlign: text.XLeft, YAlign: text.YCenter, Handler: text.Plain{Fonts: font.DefaultCache}}
}

var dark = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}

// shade is the colour of a weight: light grey for 0, blue for 1 and more.
func shade(w float64) color.Color {
	w = min(w, 1)
	mix := func(a, b float64) uint8 { return uint8(math.Round(a + (b-a)*w)) }
	return color.NRGBA{R: mix(0xdc, 0x00), G: mix(0xdc, 0x5a), B: mix(0xdc, 0xa0), A: 0xff}
}

// drawKinds draws a panel for each drift and kind: the rows over time, coloured by their weight.
func drawKinds(canvas draw.Canvas) {
	const left, top, gap, legend = 34, 44, 22, 44
	c := draw.Crop(canvas, left, -8, legend, -top)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	width, height := (c.Max.X-c.Min.X-2*gap)/3, (c.Max.Y-c.Min.Y-2*gap)/3
	head, label := style(11, xfont.WeightBold, dark), style(9, xfont.WeightNormal, dark)
	for k, name := range []string{"joint", "covariate", "conditional"} {
		x := c.Min.X + vg.Length(k)*(width+gap)
		canvas.FillText(head, vg.Point{X: x, Y: canvas.Max.Y - 12}, name)
		formula := []string{"p_T(x,y) / p_t(x,y)", "p_T(x) / p_t(x)", "p_T(y|x) / p_t(y|x)"}[k]
		canvas.FillText(label, vg.Point{X: x, Y: canvas.Max.Y - 25}, formula)
	}
	for i, d := range drifts {
		rng := random.New(1, "kinds", i)
		var points [3][2]plotter.XYs
		var shades [3][2][]color.Color
		for range 280 {
			t := rng.Float64()
			x, y := d.draw(t, rng.NormFloat64(), rng.Float64()), 0
			if rng.Float64() < d.y(t, x) {
				y = 1
			}
			for k, w := range d.omegas(t, x, y) {
				points[k][y] = append(points[k][y], plotter.XY{X: t, Y: x})
				shades[k][y] = append(shades[k][y], shade(w))
			}
		}
		for k := range points {
			p := plot.New()
			p.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: .5, Label: "t"}, {Value: 1, Label: "T"}}
			p.Y.Tick.Marker = plot.ConstantTicks{{Value: -2, Label: "-2"}, {Value: 0, Label: "0"}, {Value: 2, Label: "2"}}
			for _, axis := range []*plot.Axis{&p.X, &p.Y} {
				axis.Tick.Label.Font, axis.Tick.Label.Handler = label.Font, label.Handler
				axis.Tick.Label.Color, axis.Padding = dark, 0
			}
			for y, shape := range []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}} {
				s, err := plotter.NewScatter(points[k][y])
				if err != nil {
					panic(err) // the numbers are finite
				}
				s.GlyphStyleFunc = func(at int) draw.GlyphStyle {
					return draw.GlyphStyle{Color: shades[k][y][at], Radius: 2.3, Shape: shape}
				}
				p.Add(s)
			}
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -.02, 1.02, -3.2, 3.2
			x, y := c.Min.X+vg.Length(k)*(width+gap), c.Max.Y-vg.Length(i)*(height+gap)
			if k == 0 {
				canvas.FillText(style(10, xfont.WeightBold, dark), vg.Point{X: x, Y: y - 4}, d.name)
			}
			panel := draw.Canvas{Canvas: canvas.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - height - 8},
				Max: vg.Point{X: x + width, Y: y - 14}}}
			p.Draw(panel)
		}
	}
	canvas.FillText(label, vg.Point{X: 8, Y: c.Max.Y - 70}, "x")
	drawLegend(canvas, label, left)
}

// drawLegend draws what shapes and colours mean.
func drawLegend(canvas draw.Canvas, label text.Style, left vg.Length) {
	at := vg.Point{X: left, Y: 14}
	for y, shape := range []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}} {
		canvas.DrawGlyph(draw.GlyphStyle{Color: dark, Radius: 3, Shape: shape}, vg.Point{X: at.X, Y: at.Y})
		canvas.FillText(label, vg.Point{X: at.X + 7, Y: at.Y}, fmt.Sprint("class ", y))
		at.X += 60
	}
	at.X += 20
	canvas.FillText(label, at, "weight min(omega, 1):   0")
	at.X += 112
	for i := range 40 {
		canvas.SetColor(shade(float64(i) / 39))
		canvas.Fill(vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - 5}, Max: vg.Point{X: at.X + 3, Y: at.Y + 5}}.Path())
		at.X += 2.5
	}
	canvas.FillText(label, vg.Point{X: at.X + 6, Y: at.Y}, "1")
}
