package notebook

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"slices"
	"strconv"

	"tvps/figures"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/floats"
)

// pictureWidth is the width of static pictures in a notebook, in pixels.
const pictureWidth = 900

// Charts shows every panel of a figure as a picture and an interactive chart, and the caption: see the package comment.
func Charts(fig figures.Figure) {
	for _, p := range fig.Panels {
		Exit(chart(fig, p))
	}
	if fig.Caption != "" {
		output.display(small("", fig.Caption))
	}
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
	name := fmt.Sprintf("%s (%s)", p.Title, fig.FileStem(p))
	output.display(message{data: map[string]any{pngMIME: picture, plainMIME: "Picture: " + name}})
	Show(snippet, "Interactive chart: "+name, pointsOf(fig.Name, p))
	return nil
}

// Films shows the animations of a figure.
func Films(fig figures.Figure) {
	for _, p := range fig.Panels {
		for _, film := range p.Films {
			text := fmt.Sprintf("Film: %s (%s)", film.Title, fig.FilmStem(p, film))
			output.display(message{data: map[string]any{svgMIME: string(film.SVG), plainMIME: text}})
		}
	}
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

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(digits(x), 64) // its own text is a number
	return y
}

// smaller scales a picture down and reduces its colours to a palette of 64: about a fifth of the bytes.
func smaller(picture []byte) ([]byte, error) {
	large, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("cannot decode the picture of a chart: %w", err)
	}
	size := large.Bounds().Size()
	bounds := image.Rect(0, 0, pictureWidth, size.Y*pictureWidth/size.X)
	scaled := image.NewRGBA(bounds)
	draw.CatmullRom.Scale(scaled, bounds, large, large.Bounds(), draw.Src, nil)
	indexed := image.NewPaletted(bounds, palette(scaled, 64))
	nearest := map[color.RGBA]uint8{} // the search for the nearest colour is slow, and most pixels are white
	for i := range indexed.Pix {
		c := color.RGBA{scaled.Pix[4*i], scaled.Pix[4*i+1], scaled.Pix[4*i+2], scaled.Pix[4*i+3]}
		index, known := nearest[c]
		if !known {
			index = uint8(indexed.Palette.Index(c))
			nearest[c] = index
		}
		indexed.Pix[i] = index
	}
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
	colours := slices.Collect(maps.Keys(count))
	slices.SortFunc(colours, func(a, b color.RGBA) int {
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

// Curve returns a line for [Plot] through the points (x[i], y[i]). x must increase.
func Curve(name string, x, y []float64) figures.Series {
	s := figures.Series{Name: name}
	for i := range min(len(x), len(y)) {
		s.Points = append(s.Points, figures.Point{X: x[i], Mean: y[i], Low: y[i], High: y[i]})
	}
	return s
}

// Dashed returns a dashed [Curve], for values that are known exactly.
func Dashed(name string, x, y []float64) figures.Series {
	s := Curve(name, x, y)
	s.Style = figures.Dashed
	return s
}

// Means returns a line for [Plot] through the mean of v in each group, such as a week; x is the group. NaN in v, a
// missing value, is left out.
func Means(name string, group []int32, v []float64) figures.Series {
	sum, count := map[int32]float64{}, map[int32]float64{}
	for i, g := range group {
		if !math.IsNaN(v[i]) {
			sum[g], count[g] = sum[g]+v[i], count[g]+1
		}
	}
	var x, mean []float64
	for _, g := range slices.Sorted(maps.Keys(count)) {
		x, mean = append(x, float64(g)), append(mean, sum[g]/count[g])
	}
	return Curve(name, x, mean)
}

// Binned returns a line for [Plot] through a cloud of points (x[i], y[i]): sorted by x and cut into n bins of equal
// size, it shows the mean of both coordinates in each bin.
func Binned(name string, n int, x, y []float64) figures.Series {
	order := make([]int, len(x))
	floats.ArgsortStable(slices.Clone(x), order)
	n = min(n, len(x))
	meanX, meanY := make([]float64, n), make([]float64, n)
	for k := range n {
		bin := order[k*len(x)/n : (k+1)*len(x)/n]
		for _, i := range bin {
			meanX[k] += x[i] / float64(len(bin))
			meanY[k] += y[i] / float64(len(bin))
		}
	}
	return Curve(name, meanX, meanY)
}

// Plot shows a chart with the given curves. The number identifies the chart in the notebook and in its golden file.
func Plot(number int, title, xlabel, ylabel string, curves ...figures.Series) {
	p := figures.Chart{Key: fmt.Sprint(number), Title: title, XLabel: xlabel, YLabel: ylabel, Series: curves}
	for i := range p.Series {
		if p.Series[i].Color == "" {
			p.Series[i].Color = figures.Others[i%len(figures.Others)]
		}
	}
	Charts(figures.Figure{Name: "chart", Panels: []figures.Chart{p}})
}
