package figures

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
)

// SideBySide returns a film that shows films next to each other, in rows of at most two. Each must be an SVG with width
// and height in pixels. Their animations start together. The film's SVG has the title, too.
func SideBySide(name, title string, films []Film) (Film, error) {
	const columns = 2
	var inner bytes.Buffer
	width, height, x, y, row := 0, 0, 0, 0, 0
	for i, film := range films {
		w, h, err := svgSize(film.SVG)
		if err != nil {
			return Film{}, fmt.Errorf("figures: film %s: %w", film.Name, err)
		}
		if i%columns == 0 {
			x, y, row = 0, y+row, 0
		}
		fmt.Fprintf(&inner, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">\n%s</svg>\n", x, y, w, h, film.SVG)
		x, row = x+w, max(row, h)
		width, height = max(width, x), y+row
	}
	var escaped bytes.Buffer
	if err := xml.EscapeText(&escaped, []byte(title)); err != nil {
		return Film{}, err
	}
	svg := fmt.Appendf(nil, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"+
		"<title>%s</title>\n%s</svg>\n", width, height, width, height, escaped.Bytes(), inner.Bytes())
	return Film{Name: name, Title: title, SVG: svg}, nil
}

// TitleOf returns the title of an SVG, as of one that [SideBySide] made; empty if it has none.
func TitleOf(svg []byte) string {
	var root struct {
		Title string `xml:"title"`
	}
	if xml.Unmarshal(svg, &root) != nil {
		return ""
	}
	return root.Title
}

// svgSize returns the size of an SVG in pixels.
func svgSize(svg []byte) (width, height int, err error) {
	var root struct {
		XMLName xml.Name
		Width   string `xml:"width,attr"`
		Height  string `xml:"height,attr"`
	}
	if err := xml.Unmarshal(svg, &root); err != nil {
		return 0, 0, fmt.Errorf("it is no SVG: %w", err)
	}
	width, errWidth := strconv.Atoi(root.Width)
	height, errHeight := strconv.Atoi(root.Height)
	if errWidth != nil || errHeight != nil || root.XMLName.Local != "svg" {
		return 0, 0, fmt.Errorf("it is no SVG with width and height in pixels, got <%s width=%q height=%q>",
			root.XMLName.Local, root.Width, root.Height)
	}
	return width, height, nil
}
