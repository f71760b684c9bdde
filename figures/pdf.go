package figures

import (
	"image/color"
	"regexp"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfClock matches the times at which a PDF was made.
var pdfClock = regexp.MustCompile(`(/(?:CreationDate|ModDate) \(D:)\d{14}`)

// pdf draws the text as outlines.
func (s sheet) pdf() ([]byte, error) {
	canvas := vgpdf.New(pictureWidth, s.height)
	s.draw(draw.NewCanvas(pdfCanvas{canvas}, pictureWidth, s.height))
	picture, err := written(canvas)
	if err != nil {
		return nil, err
	}
	// A time of the same length keeps the offsets in the file's index valid.
	return pdfClock.ReplaceAll(picture, []byte("${1}20000101000000")), nil
}

// pdfCanvas corrects three faults of gonum's PDF canvas. Bold text and characters outside code
// page 1252, such as a minus sign or ω, are drawn as outlines. Translucent colours would be too
// dark.
type pdfCanvas struct{ vg.Canvas }

// SetColor implements vg.Canvas.
func (p pdfCanvas) SetColor(c color.Color) {
	p.Canvas.SetColor(straight(color.NRGBAModel.Convert(c).(color.NRGBA)))
}

// straight is a colour that is not multiplied by its alpha, as a PDF needs it.
type straight color.NRGBA

// RGBA breaks the contract of color.Color on purpose.
func (s straight) RGBA() (r, g, b, a uint32) {
	return 257 * uint32(s.R), 257 * uint32(s.G), 257 * uint32(s.B), 257 * uint32(s.A)
}

// FillString implements vg.Canvas.
func (p pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	var buffer sfnt.Buffer
	em := fixed.I(int(face.Face.UnitsPerEm())) // so that glyphs come in font units
	scale := face.Font.Size / vg.Length(face.Face.UnitsPerEm())
	before := sfnt.GlyphIndex(0)
	for i, r := range text { // the font is built in: it can be read, and where it has no kerning that is 0
		glyph, _ := face.Face.GlyphIndex(&buffer, r)
		if i > 0 {
			kern, _ := face.Face.Kern(&buffer, before, glyph, em, 0)
			at.X += scale * units(kern)
		}
		if segments, _ := face.Face.LoadGlyph(&buffer, glyph, em, nil); len(segments) > 0 {
			p.Fill(glyphPath(segments, at, scale))
		}
		advance, _ := face.Face.GlyphAdvance(&buffer, glyph, em, 0)
		at.X += scale * units(advance)
		before = glyph
	}
}

// glyphPath moves a glyph, whose y points down, to its place on the canvas.
func glyphPath(segments sfnt.Segments, at vg.Point, scale vg.Length) vg.Path {
	to := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + scale*units(p.X), Y: at.Y - scale*units(p.Y)}
	}
	var path vg.Path
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(path) > 0 {
				path.Close()
			}
			path.Move(to(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(to(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(to(s.Args[0]), to(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(to(s.Args[0]), to(s.Args[1]), to(s.Args[2]))
		}
	}
	path.Close()
	return path
}

func units(v fixed.Int26_6) vg.Length { return vg.Length(v) / 64 }
