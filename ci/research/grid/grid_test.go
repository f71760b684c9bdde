package grid

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
)

// TestGrid: the picture is well-formed XML with all names, cells and remarks, whatever their texts hold.
func TestGrid(t *testing.T) {
	g := Grid{Title: "a < b", Columns: []string{"x & y", "z"}, Rows: []string{"one"}, About: []string{"the <first>"},
		Cells: [][]Cell{{{Text: "1", Fill: "#ff0000", Ink: "#000000", About: "x: 1 > 0"}, {Text: "2", Fill: "#00ff00"}}},
		Left:  50, Wide: 40, Legend: [][2]string{{"+", "better"}}}
	var texts, fills []string
	for d := xml.NewDecoder(strings.NewReader(string(g.SVG()))); ; {
		token, err := d.Token()
		if token == nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			break
		}
		switch token := token.(type) {
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				texts = append(texts, text)
			}
		case xml.StartElement:
			for _, a := range token.Attr {
				if token.Name.Local == "rect" && a.Name.Local == "fill" {
					fills = append(fills, a.Value)
				}
			}
		}
	}
	want := []string{"a < b", "x & y", "z", "the <first>", "one", "x: 1 > 0", "1", "2", "+", "better"}
	if !slices.Equal(texts, want) {
		t.Errorf("texts %q, want %q", texts, want)
	}
	if !slices.Equal(fills, []string{"#ffffff", "#ff0000", "#00ff00"}) {
		t.Errorf("fills %q", fills)
	}
	g.Legend[0][1] = strings.Repeat("m", 60) // of 6 pixels at least
	if wide := string(g.SVG()); !strings.Contains(wide, `width="504"`) {
		t.Errorf("the legend is cut off: %s", wide[:200])
	}
}
