package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tvps/figures"
	"tvps/replicate/notebook"

	"golang.org/x/image/draw"
)

// pictureWidth is the width of static pictures in a notebook, in pixels.
const pictureWidth = 600

// charts shows every panel of a figure as a picture and an interactive chart, and the caption in one line.
func charts(fig figures.Figure) error {
	for _, p := range fig.Panels {
		if err := chart(fig, p); err != nil {
			return err
		}
	}
	if fig.Caption != "" {
		notebook.Say(firstSentence(fig.Caption))
	}
	return nil
}

// broken matches the end of a line of a chart's script, after which the statement or list continues, and the space at
// the begin of the next. A notebook stores each line as a string of its own.
var broken = regexp.MustCompile(`([;{,(\[])\n\s*`)

// firstSentence is the caption in a notebook. The others, and what a panel's points are, stand on the figure's page.
func firstSentence(caption string) string {
	first, _, more := strings.Cut(caption, ". ")
	if more {
		first += "."
	}
	return first
}

func chart(fig figures.Figure, p figures.Chart) error {
	snippet, err := figures.Snippet(fig, p)
	if err != nil {
		return err
	}
	picture, err := figures.PNG(fig, p)
	if err != nil {
		return err
	}
	if picture, err = smaller(picture); err != nil {
		return err
	}
	name := fmt.Sprintf("%s (%s)", p.Title, figures.Stem(fig.Name, p.Key))
	notebook.Display(map[string]any{notebook.PNGMIME: picture, notebook.PlainMIME: "Picture: " + name})
	notebook.Show(broken.ReplaceAllString(snippet, "$1"), "Interactive chart: "+name, pointsOf(fig.Name, p))
	return nil
}

// pointsOf returns the points of a panel's series for `go run ./kernel check`: the mean at x has the name
// FIGURE/PANEL/SERIES/x, and the ends of its interval, if it has one, that name with /low and /high. All numbers have 6
// digits.
func pointsOf(figure string, p figures.Chart) map[string]float64 {
	all := map[string]float64{}
	for _, s := range p.Series {
		for _, at := range s.Points {
			if math.IsNaN(at.Mean + at.Low + at.High) {
				continue // JSON has no such number: the checker misses it
			}
			name := fmt.Sprintf("%s/%s/%s/%s", figure, p.Key, s.Name, digits(at.X))
			all[name] = rounded(at.Mean)
			if at.Low != at.Mean || at.High != at.Mean {
				all[name+"/low"], all[name+"/high"] = rounded(at.Low), rounded(at.High)
			}
		}
	}
	return all
}

// plot shows the chart of a cell.
func plot(c notebook.Chart) error {
	p := figures.Chart{Key: fmt.Sprint(c.Number), Title: c.Title, XLabel: c.XLabel, YLabel: c.YLabel, XNames: c.XNames,
		YRange: c.YRange}
	for i, line := range c.Curves {
		s := figures.Series{Name: line.Name}
		if line.Learner {
			s = figures.NewSeries(line.Name, nil)
		} else if line.Dashed {
			s.Dash = "6 3"
		}
		s.Color = cmp.Or(line.Color, s.Color)
		s = s.Styled(i)
		for k := range min(len(line.X), len(line.Y)) {
			s.Points = append(s.Points, figures.Exactly(line.X[k], line.Y[k]))
		}
		p.Series = append(p.Series, s)
	}
	return chart(figures.Figure{Name: "chart", Panels: []figures.Chart{p}}, p)
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(digits(x), 64) // its own text is a number
	return y
}

// smaller scales a picture down and reduces its colours to a palette of 32: about an eighth of the bytes.
func smaller(picture []byte) ([]byte, error) {
	large, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("cannot decode the picture of a chart: %w", err)
	}
	size := large.Bounds().Size()
	bounds := image.Rect(0, 0, pictureWidth, size.Y*pictureWidth/size.X)
	scaled := image.NewRGBA(bounds)
	draw.CatmullRom.Scale(scaled, bounds, large, large.Bounds(), draw.Src, nil)
	indexed := image.NewPaletted(bounds, palette(scaled, 32))
	draw.Draw(indexed, bounds, scaled, bounds.Min, draw.Src) // each pixel gets the nearest colour
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, indexed); err != nil {
		return nil, fmt.Errorf("cannot encode the picture of a chart: %w", err)
	}
	return small.Bytes(), nil
}

// palette returns the n most frequent colours, rounded to 5 bits per channel. Without rounding, the many shades of
// smoothed edges would displace the colours of thin lines.
func palette(picture *image.RGBA, n int) color.Palette {
	count := map[color.RGBA]int{}
	for i := 0; i < len(picture.Pix); i += 4 {
		p := picture.Pix[i : i+3]
		count[color.RGBA{round5(p[0]), round5(p[1]), round5(p[2]), 255}]++
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var out color.Palette
	for _, c := range colours[:min(n, len(colours))] {
		out = append(out, c)
	}
	return out
}

// round5 keeps the 5 highest bits and fills the lower ones from them, so that white stays white.
func round5(v uint8) uint8 { return v>>3<<3 | v>>5 }
