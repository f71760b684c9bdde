package figures

import (
	"encoding/base64"
	"html"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// TestHeatMap: the picture has a pixel for each cell, the first row at the bottom, in the colours of the scale; the
// table and the chart have the values.
func TestHeatMap(t *testing.T) {
	m := HeatMap{Key: "map", XLabel: "past", YLabel: "present", ValueLabel: "worth <1>", XNames: []string{"a", "b", "c"},
		YNames: []string{"u", "v"}, Values: [][]float64{{0, .5, 1}, {1, .25, -3}}, Low: 0, High: 1}
	fig := Figure{Name: "own"}
	part, err := m.Part(fig)
	demand.NoError(t, err)
	picture := string(part.Picture)
	data := regexp.MustCompile(`base64,([^"]+)`).FindStringSubmatch(picture)
	cells, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data[1])))
	if err != nil || cells.Bounds().Dx() != 3 || cells.Bounds().Dy() != 2 {
		t.Fatalf("%v, %v", err, cells.Bounds())
	}
	for _, c := range []struct {
		x, y  int
		value float64
	}{{0, 1, 0}, {1, 1, .5}, {2, 1, 1}, {0, 0, 1}, {1, 0, .25}, {2, 0, 0}} {
		if color.NRGBAModel.Convert(cells.At(c.x, c.y)) != m.tone(c.value) {
			t.Errorf("cell %d, %d is %v, want %v", c.x, c.y, cells.At(c.x, c.y), m.tone(c.value))
		}
	}
	if m.tone(0) != opaque(scale[0]) || m.tone(.25) != opaque(scale[1]) || m.tone(1) != opaque(scale[4]) {
		t.Error("the colours are not those of the scale")
	}
	if strings.Contains(picture, "<1>") || !strings.Contains(html.UnescapeString(picture), "worth <1>") {
		t.Error("the text of the picture is not escaped")
	}
	if row := strings.Join(part.Points.Rows[1], " "); row != "u 0.00 0.50 1.00" || part.Stem != "own-map" {
		t.Errorf("%s: last row of the table %q", part.Stem, row)
	}
	panel := Chart{Key: "a", XLabel: "x", YLabel: "y", XNames: []string{"mon", "tue"},
		Series: []Series{{Name: "s", Color: "#000000", Points: []Point{{X: 0}, {X: 1}}}}}
	fig.Panels = []Chart{panel}
	script, err := Script(fig, []HeatMap{m})
	demand.NoError(t, err)
	demand.Words(t, string(script), `"key":"own-map"`, `[1,1,0.25]`, `"data":["mon","tue"]`, `worth \u003c1\u003e`)
	if rows := pointsOf(panel).Rows; rows[1][0] != "tue" {
		t.Errorf("x = 1 is %q in the table", rows[1][0])
	}
	fig.Panels[0].XNames = panel.XNames[:1]
	demand.Error(t, fig.Validate(), "1 names of x")
	m.Values[1] = m.Values[1][:2]
	_, err = m.Part(fig)
	demand.Error(t, err, "a row of 3 finite values")
}
