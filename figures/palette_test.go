package figures

import (
	"math"
	"strings"
	"testing"

	"tvps/figures/looks"
)

// Every line can be seen on a dark page, and one that already can keeps its colour.
func TestDark(t *testing.T) {
	if len(looks.All()) < 16 {
		t.Errorf("%d looks are declared", len(looks.All()))
	}
	for _, look := range looks.All() {
		if c := contrast(Dark(look.Color), darkPaper); c < 3 {
			t.Errorf("%s: contrast %.1f, want at least 3", look.Name, c)
		}
	}
	for _, look := range others {
		if look.Dash == Zero("").Dash {
			t.Errorf("%s has the dashes of the line at 0", look.Color)
		}
		if c := contrast(Dark(look.Color), darkPaper); c < 3 {
			t.Errorf("%s: contrast %.1f, want at least 3", look.Color, c)
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
	if !strings.Contains(string(CSS(Figure{})), "--paper: "+darkPaper) {
		t.Errorf("the style's dark background is not %s", darkPaper)
	}
}

func TestUnknownSeriesKeepTheirName(t *testing.T) {
	if s := NewSeries("t=40", nil); s.Label != "t=40" || !hexColor.MatchString(s.Color) {
		t.Errorf("%+v", s)
	}
	if _, known := looks.Of("t=40"); known {
		t.Error("an unknown series counts as known")
	}
}
