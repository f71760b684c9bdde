package figures

import (
	"encoding/xml"
	"fmt"
	"testing"

	"tvps/ci/demand"
)

// Films stand in rows of two at their own sizes and keep their contents.
func TestSideBySide(t *testing.T) {
	var films []Film
	for i := range 3 {
		svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"><text>film %d</text></svg>`,
			100+i, 50+10*i, i)
		films = append(films, Film{Name: fmt.Sprint("f", i), SVG: []byte(svg)})
	}
	all, err := SideBySide("all", "Three & <more>", films)
	demand.NoError(t, err)
	var root struct {
		View  string `xml:"viewBox,attr"`
		Width string `xml:"width,attr"` // none, so that it takes that of its column
		Films []struct {
			X     int `xml:"x,attr"`
			Y     int `xml:"y,attr"`
			Width int `xml:"width,attr"`
			Film  struct {
				Text string `xml:"text"`
			} `xml:"svg"`
		} `xml:"svg"`
	}
	demand.NoError(t, xml.Unmarshal(all.SVG, &root))
	if root.View != "0 0 201 130" || root.Width != "" || len(root.Films) != 3 || all.Name != "all" ||
		all.Title != "Three & <more>" || TitleOf(all.SVG) != all.Title {
		t.Fatalf("%+v of %s", root, all.SVG)
	}
	for i, want := range [][2]int{{0, 0}, {100, 0}, {0, 60}} {
		f := root.Films[i]
		if f.X != want[0] || f.Y != want[1] || f.Width != 100+i || f.Film.Text != fmt.Sprint("film ", i) {
			t.Errorf("film %d is %+v, want it at %v", i, f, want)
		}
	}
	demand.Equal(t, TitleOf(films[0].SVG), "", "a film without title")
	for _, bad := range []string{"", "<svg/>", `<svg width="3em" height="2"/>`} {
		_, err := SideBySide("all", "", []Film{{Name: "bad", SVG: []byte(bad)}})
		demand.Error(t, err, "film bad")
	}
}
