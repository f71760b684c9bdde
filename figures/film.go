package figures

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
)

// SideBySide returns a film that shows films next to each other, in rows of at most two. Each must be an SVG with width
// and height in pixels. Their animations start together. The film's SVG has the title, too, and no size: it
// fills its column.
func SideBySide(name, title string, films []Film) (Film, error) {
	const columns = 2
	var inner bytes.Buffer
	width, height, x, y, row := 0, 0, 0, 0, 0
	for i, film := range films {
		var root svg
		if err := xml.Unmarshal(film.SVG, &root); err != nil || root.Width == 0 || root.Height == 0 {
			return Film{}, fmt.Errorf("figures: film %s is no SVG with width and height in pixels (%v)", film.Name, err)
		}
		w, h := root.Width, root.Height
		if i%columns == 0 {
			x, y, row = 0, y+row, 0
		}
		fmt.Fprintf(&inner, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">\n%s</svg>\n", x, y, w, h, film.SVG)
		x, row = x+w, max(row, h)
		width, height = max(width, x), y+row
	}
	all := fmt.Appendf(nil, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\">\n<title>%s</title>\n%s</svg>\n",
		width, height, html.EscapeString(title), inner.Bytes())
	return Film{Name: name, Title: title, SVG: all}, nil
}

// svg is the root of a film.
type svg struct {
	Width  int    `xml:"width,attr"` // pixels
	Height int    `xml:"height,attr"`
	Title  string `xml:"title"`
}

// TitleOf returns the title of an SVG, as of one that [SideBySide] made; empty if it has none.
func TitleOf(film []byte) string {
	var root svg
	if xml.Unmarshal(film, &root) != nil {
		return ""
	}
	return root.Title
}
