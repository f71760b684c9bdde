package figures

import (
	"math"
	"strings"
	"testing"
)

// Colours of one group can occur in one chart.
var groups = [][]string{
	{"everything", "recent", "finetune", "pretrained", "ours", "exact"},
	{"everything", "standard", "metaweightnet", "ours", "exact"},
	{"everything", "exact", "method1", "method2", "finetune", "recent"},
	{"sac", "sac-omega", "sac-context", "sac-context-omega"},
}

// Matrices of Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
var blindness = map[string][3][3]float64{
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

func TestColoursDifferForColourBlindEyes(t *testing.T) {
	light := func(color string) string { return color }
	for page, on := range map[string]func(string) string{"light": light, "dark": Dark} {
		for eye, matrix := range blindness {
			for _, names := range groups {
				for i, a := range names {
					for _, b := range names[:i] {
						if d := distance(seen(t, a, on, matrix), seen(t, b, on, matrix)); d < 15 {
							t.Errorf("%s page, %s: %s and %s differ by %.0f, want at least 15", page, eye, a, b, d)
						}
					}
				}
			}
		}
	}
}

// Every line can be seen on a dark page, and one that already can keeps its colour.
func TestDark(t *testing.T) {
	for _, look := range Looks {
		if c := contrast(Dark(look.Color), darkPaper); c < 3 {
			t.Errorf("%s: contrast %.1f, want at least 3", look.Name, c)
		}
	}
	for _, color := range Others {
		if c := contrast(Dark(color), darkPaper); c < 3 {
			t.Errorf("%s: contrast %.1f, want at least 3", color, c)
		}
	}
	for color, want := range map[string]string{"#000000": "#ffffff", "#595959": "#a6a6a6", "#D62728": "#d62728"} {
		if got := Dark(color); got != want {
			t.Errorf("Dark(%s) = %s, want %s", color, got, want)
		}
	}
	if c := contrast("#000000", "#ffffff"); math.Abs(c-21) > 1e-9 {
		t.Errorf("the contrast of black and white is %v, want 21", c)
	}
	if !strings.Contains(string(CSS()), "--paper: "+darkPaper) {
		t.Errorf("the style's dark background is not %s", darkPaper)
	}
}

// seen returns CIE L*a*b* (D65) of a series's colour on a page as the eye sees it.
func seen(t *testing.T, name string, on func(string) string, eye [3][3]float64) [3]float64 {
	look, known := LookUp(name)
	if !known || !hexColor.MatchString(look.Color) || look.Label == "" {
		t.Fatalf("%s: no look %+v", name, look)
	}
	r, g, b, _ := opaque(on(look.Color)).RGBA()
	var linear [3]float64
	for i, v := range []uint32{r, g, b} {
		linear[i] = math.Pow(float64(v)/65535, 2.2)
	}
	rgb := times(eye, linear)
	xyz := times([3][3]float64{
		{0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505},
		{0.2126, 0.7152, 0.0722},
		{0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089},
	}, rgb)
	for i, v := range xyz {
		xyz[i] = math.Cbrt(max(v, 0))
	}
	return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

func times(m [3][3]float64, v [3]float64) (out [3]float64) {
	for i := range 3 {
		for j := range 3 {
			out[i] += m[i][j] * v[j]
		}
	}
	return out
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(a[0]-b[0], math.Hypot(a[1]-b[1], a[2]-b[2]))
}

func TestUnknownSeriesKeepTheirName(t *testing.T) {
	if s := NewSeries("t=40", nil); s.Label != "t=40" || !hexColor.MatchString(s.Color) {
		t.Errorf("%+v", s)
	}
	if _, known := LookUp("t=40"); known {
		t.Error("an unknown series counts as known")
	}
}
