package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Look is the appearance that a series of a given name has in every figure.
type Look struct {
	Name  string // as in the CSV
	Label string // for people
	Color string // "#rrggbb"
	Style Style
}

// Looks is the table of declared series, in the order in which tables list them: learners declare theirs (packages
// supervised and robots). Colours that occur in one chart can be told apart with red- and green-blindness. Two names
// share a colour if they have the same role: Ours is Method 2, and plain SAC is the base that other agents are compared
// with, as Everything is.
var Looks []Look

// Declare adds the look of a series, or replaces the one of the same name. Call it from a package's initialisation:
// figures read the table without a lock.
func Declare(l Look) {
	if i := lookIndex(l.Name); i < len(Looks) {
		Looks[i] = l
		return
	}
	Looks = append(Looks, l)
}

// Others are colours for series that [Looks] does not know, such as one for each time.
var Others = []string{"#0072b2", "#e69f00", "#009e73", "#d62728", "#cc79a7", "#56b4e9", "#4a1486", "#000000"}

// LookUp returns the look of a series name. An unknown name is its own label, in dark
// grey, and known is false: give such series colours from [Others].
func LookUp(name string) (look Look, known bool) {
	if i := lookIndex(name); i < len(Looks) {
		return Looks[i], true
	}
	return Look{Name: name, Label: name, Color: "#4d4d4d"}, false
}

// NewSeries returns a series with the look that its name has in every figure.
func NewSeries(name string, points []Point) Series {
	look, _ := LookUp(name)
	return Series{Name: name, Label: look.Label, Color: look.Color, Style: look.Style, Points: points}
}

// NewReference returns a horizontal line that looks like the series of that name.
func NewReference(name string, value float64) *Reference {
	look, _ := LookUp(name)
	return &Reference{Value: value, Label: look.Label, Color: look.Color}
}

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

// lookIndex is the place of a name in Looks, len(Looks) for unknown names.
func lookIndex(name string) int {
	i := slices.IndexFunc(Looks, func(l Look) bool { return l.Name == name })
	if i < 0 {
		return len(Looks)
	}
	return i
}
