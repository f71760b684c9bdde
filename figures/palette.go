package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/figures/looks"
)

// others are looks for series of which none is declared, such as one for each time.
var others = []looks.Look{{Color: "#0072b2"}, {Color: "#e69f00", Dash: "6 3"}, {Color: "#009e73", Dash: "2 3"},
	{Color: "#d62728", Dash: "8 3 2 3"}, {Color: "#cc79a7", Dash: "10 4"}, {Color: "#56b4e9", Dash: "8 3 2 3 2 3"},
	{Color: "#4a1486", Dash: "14 3 5 3"}, {Color: "#000000", Dash: "1 6"}}

// Styled returns the series with the i-th of eight looks that differ, where it has no colour.
func (s Series) Styled(i int) Series {
	if look := others[i%len(others)]; s.Color == "" {
		s.Color, s.Dash = look.Color, cmp.Or(s.Dash, look.Dash)
	}
	return s
}

// NewSeries returns a series with the look that its name has in every figure.
func NewSeries(name string, points []Point) Series {
	look := looks.Of(name)
	return Series{Name: name, Label: look.Label, Color: look.Color, Dash: look.Dash, Points: points}
}

// NewReference returns a horizontal line that looks like the series of that name.
func NewReference(name string, value float64) *Reference {
	look := looks.Of(name)
	return &Reference{Value: value, Label: look.Label, Color: look.Color, Dash: look.Dash}
}

// Zero returns a line at 0 that differs from every series of [Series.Styled].
func Zero(label string) *Reference { return &Reference{Label: label, Color: "#777777", Dash: "20 4"} }

// darkPaper is the background of a page in dark mode, as in page.css.
const darkPaper = "#15181c"

// Dark returns the colour that stands for color on a dark page. It is the same colour unless
// its contrast with the page would be below 3, which is too low for a line (WCAG 2.2, 1.4.11):
// then it is the colour of the same hue and saturation whose lightness is the complement.
func Dark(color string) string {
	color = strings.ToLower(color)
	if contrast(color, darkPaper) >= 3 {
		return color
	}
	c := channels(color)
	shift := 1 - slices.Max(c[:]) - slices.Min(c[:]) // adds to the lightness (max+min)/2
	out := "#"
	for _, v := range c {
		out += fmt.Sprintf("%02x", int(math.Round(255*min(1, max(0, v+shift)))))
	}
	return out
}

// channels returns red, green and blue of "#rrggbb" from 0 to 1.
func channels(color string) [3]float64 {
	rgb := opaque(color)
	return [3]float64{float64(rgb.R) / 255, float64(rgb.G) / 255, float64(rgb.B) / 255}
}

// contrast returns the contrast ratio of two colours as WCAG defines it, from 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// luminance returns the relative luminance of a colour as WCAG defines it.
func luminance(color string) float64 {
	sum := 0.0
	for i, v := range channels(color) {
		linear := math.Pow((v+.055)/1.055, 2.4)
		if v <= .04045 {
			linear = v / 12.92
		}
		sum += [3]float64{.2126, .7152, .0722}[i] * linear
	}
	return sum
}
