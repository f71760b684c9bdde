package figures_test

import (
	"math"
	"strconv"
	"testing"

	"tvps/figures"
	"tvps/figures/looks"
	_ "tvps/replicate/robots"
	_ "tvps/replicate/supervised" // declare their looks, for the other tests, too
)

// Colours of one group can occur in one chart.
var groups = [][]string{
	{"everything", "recent", "finetune", "pretrained", "ours", "exact"},
	{"everything", "recent", "finetune", "ours", "exact", "metaweightnet"},
	{"everything", "standard", "metaweightnet", "ours", "exact"},
	{"everything", "exact", "method1", "method2", "finetune", "recent"},
	{"sac", "sac-omega", "sac-context", "sac-context-omega", "nothing", "random", "constant"},
}

// Matrices of Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
var blindness = map[string][3][3]float64{
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

func TestColoursDifferForColourBlindEyes(t *testing.T) {
	light := func(color string) string { return color }
	for page, on := range map[string]func(string) string{"light": light, "dark": figures.Dark} {
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

// TestDashesDiffer: lines of one chart are told apart in one grey, too.
func TestDashesDiffer(t *testing.T) {
	for _, names := range groups {
		dashes := map[string]string{}
		for _, name := range names {
			look := looks.Of(name)
			if other := dashes[look.Dash]; other != "" && look.Label != other {
				t.Errorf("%s and %s have the dashes %q", name, other, look.Dash)
			}
			dashes[look.Dash] = look.Label
		}
	}
}

// TestOrder: tables list learners as they are declared from top to bottom.
func TestOrder(t *testing.T) {
	if looks.Compare("standard", "metaweightnet") > 0 || looks.Compare("metaweightnet", "ours") > 0 {
		t.Error("Meta-Weight-Net is not between the standard propensity and Ours")
	}
}

// seen returns CIE L*a*b* (D65) of a series's colour on a page as the eye sees it.
func seen(t *testing.T, name string, on func(string) string, eye [3][3]float64) [3]float64 {
	t.Helper()
	look := looks.Of(name)
	value, err := strconv.ParseUint(on(look.Color)[1:], 16, 32)
	if err != nil || len(look.Color) != 7 || look.Label == "" || look.Label == name { // as an unknown one has
		t.Fatalf("%s: no look %+v, %v", name, look, err)
	}
	var linear [3]float64
	for i := range 3 {
		linear[i] = math.Pow(float64(value>>(16-8*i)&0xff)/255, 2.2)
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
