package figures

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a static picture: 8 by 5 inches, 1600 by 1000 pixels as PNG. A panel whose legend has many rows has a taller
// picture, so that the chart keeps its size.
const (
	pictureWidth  = 8 * vg.Inch
	pictureHeight = 5 * vg.Inch
	chartHeight   = 228 * vg.Length(1) // at least, axes included, points
	margin        = 12 * vg.Length(1)  // points
	room          = pictureWidth - 2*margin
	dotsPerInch   = 200
)

var (
	ink      = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	faintInk = color.NRGBA{R: 0x55, G: 0x55, B: 0x55, A: 0xff}

	titleText  = textStyle(12, xfont.WeightBold, ink)
	sampleText = textStyle(9, xfont.WeightNormal, faintInk)
	legendText = textStyle(10, xfont.WeightNormal, ink)
	axisText   = textStyle(10, xfont.WeightNormal, ink)
	tickText   = textStyle(9, xfont.WeightNormal, ink)
	noteText   = textStyle(7.5, xfont.WeightNormal, faintInk)
)

// textStyle is upright Liberation Sans, which gonum/plot brings along.
func textStyle(points vg.Length, weight xfont.Weight, ink color.Color) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: points, Weight: weight},
		XAlign:  text.XLeft,
		YAlign:  text.YTop,
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

var (
	oneFont  = []byte("font-family:Liberation Sans;")
	anyFonts = []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
)

// svg names fonts and embeds none: Liberation Sans, or Arial or Helvetica, which have the same widths.
func (s sheet) svg() ([]byte, error) {
	canvas := vgsvg.New(pictureWidth, s.height)
	s.draw(draw.NewCanvas(canvas, pictureWidth, s.height))
	picture, err := written(canvas)
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(picture, oneFont, anyFonts), nil
}

// SVG draws one panel of a valid figure as [PNG] does; a chart of lines takes a tenth of its bytes.
func SVG(fig Figure, p Chart) ([]byte, error) { return newSheet(fig, p).svg() }

// PNG draws one panel of a valid figure, 1600 pixels wide and 1000 high (higher for long footnotes).
func PNG(fig Figure, p Chart) ([]byte, error) { return newSheet(fig, p).png() }

func (s sheet) png() ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(pictureWidth, s.height), vgimg.UseDPI(dotsPerInch))
	s.draw(draw.NewCanvas(canvas, pictureWidth, s.height))
	return written(vgimg.PngCanvas{Canvas: canvas})
}

func written(from io.WriterTo) ([]byte, error) {
	var buffer bytes.Buffer
	if _, err := from.WriteTo(&buffer); err != nil {
		return nil, fmt.Errorf("figures: cannot encode the picture: %w", err)
	}
	return buffer.Bytes(), nil
}

// sheet is the layout of one picture, from top to bottom: title, legend, chart, footnotes.
type sheet struct {
	panel  Chart
	height vg.Length
	title  []string // wrapped lines
	sample string   // at the right of a title of one line
	legend [][]line // rows
	notes  []string // wrapped lines
}

func newSheet(fig Figure, panel Chart) sheet {
	s := bareSheet(panel)
	s.title = wrap(titleText, panelTitle(panel), room)
	if len(s.title) == 1 && titleText.Width(s.title[0])+sampleText.Width(panel.Sample)+3*gap < noteShare*room {
		s.sample = panel.Sample
	}
	for _, note := range append([]string{panel.bandNote()}, fig.Source...) {
		if !fig.Compact { // a small picture is next to its caption
			s.notes = append(s.notes, wrap(noteText, note, noteShare*room)...)
		}
	}
	s.height = max(pictureHeight, s.headHeight()+chartHeight+s.footHeight())
	return s
}

// bareSheet has no title and no footnotes: they stand next to the picture on a page.
func bareSheet(panel Chart) sheet {
	panel = panel.shown()
	return sheet{panel: panel, height: pictureHeight, legend: legendRows(panel.lines())}
}

// noteShare is the part of the width that footnotes take: a browser that has none of an
// SVG's fonts may use a wider one.
const noteShare = .86

func panelTitle(p Chart) string { return strings.TrimSpace("(" + p.Key + ") " + p.Title) }

const (
	titleLine  = 16 * vg.Length(1) // line heights, points
	legendLine = 15 * vg.Length(1)
	noteLine   = 9.5 * vg.Length(1)
	swatch     = 30 * vg.Length(1) // width of a line's sample
	gap        = 6 * vg.Length(1)
)

func (s sheet) headHeight() vg.Length {
	return margin + vg.Length(len(s.title))*titleLine + vg.Length(len(s.legend))*legendLine + gap
}

func (s sheet) footHeight() vg.Length {
	return gap + vg.Length(len(s.notes))*noteLine + margin
}

func (s sheet) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	y := c.Max.Y - margin
	for _, line := range s.title {
		c.FillText(titleText, vg.Point{X: c.Min.X + margin, Y: y}, line)
		y -= titleLine
	}
	if s.sample != "" {
		at := vg.Point{X: c.Max.X - margin - sampleText.Width(s.sample)/noteShare, Y: y + titleLine - 1.5}
		c.FillText(sampleText, at, s.sample)
	}
	for _, row := range s.legend {
		drawLegendRow(c, row, c.Min.X+margin, y)
		y -= legendLine
	}
	y = c.Min.Y + s.footHeight() - gap
	for _, line := range s.notes {
		c.FillText(noteText, vg.Point{X: c.Min.X + margin, Y: y}, line)
		y -= noteLine
	}
	newPlot(s.panel).Draw(draw.Crop(c, margin, -margin, s.footHeight(), -s.headHeight()))
}

// legendRows puts the entries of the legend next to each other, in as many rows as the width requires.
func legendRows(lines []line) [][]line {
	var rows [][]line
	used := room
	for _, e := range lines {
		if used += e.width(); used > room {
			rows = append(rows, nil)
			used = e.width()
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
	}
	return rows
}

func (e line) width() vg.Length {
	return swatch + gap + legendText.Width(e.label) + 3*gap
}

func drawLegendRow(c draw.Canvas, row []line, x, top vg.Length) {
	middle := top - 6
	for _, e := range row {
		if len(e.bands) > 0 {
			low, high, end := middle-4, middle+4, x+swatch
			c.FillPolygon(faded(opaque(e.color)), []vg.Point{{X: x, Y: low}, {X: end, Y: low}, {X: end, Y: high}, {X: x, Y: high}})
		}
		c.StrokeLine2(lineStyle(e.color, e.dash), x, middle, x+swatch, middle)
		label := legendText
		label.YAlign = text.YCenter
		c.FillText(label, vg.Point{X: x + swatch + gap, Y: middle + 1}, e.label) // centred on its small letters
		x += e.width()
	}
}

// wrap breaks a sentence into lines no wider than room.
func wrap(style text.Style, sentence string, room vg.Length) []string {
	var lines []string
	for _, word := range strings.Fields(sentence) {
		if last := len(lines) - 1; last >= 0 && style.Width(lines[last]+" "+word) <= room {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
