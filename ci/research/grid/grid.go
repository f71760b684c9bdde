// Package grid writes tables, as studies show their results: of coloured cells, or in Markdown.
package grid

import (
	"fmt"
	"html"
	"strings"
)

// Grid is a table of coloured cells with a word in each.
type Grid struct {
	Title         string
	Columns, Rows []string    // names
	About         []string    // of the rows, under the pointer; nil for nothing
	Cells         [][]Cell    // [row][column]
	Left, Wide    int         // width of the names of rows, and of a cell, in pixels
	Legend        [][2]string // a mark, and what it means
}

// Cell is a cell of a [Grid].
type Cell struct {
	Text, Fill, Ink string
	About           string // under the pointer; "" for nothing
}

// SVG draws the grid on white, for pages that show pictures alone.
func (g Grid) SVG() []byte {
	const top, high = 110, 22
	legend := g.Left
	for _, l := range g.Legend {
		legend += legendWidth(l)
	}
	width, height := max(legend, g.Left+g.Wide*len(g.Columns)+70), top+high*len(g.Rows)+40
	var b strings.Builder
	title := func(text string) string {
		if text == "" {
			return ""
		}
		return "<title>" + html.EscapeString(text) + "</title>"
	}
	text := func(x, y int, more, about, content string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" %s>%s%s</text>`+"\n", x, y, more, title(about), html.EscapeString(content))
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" `+
		`fill="#222222" font-size="12" font-family="'Liberation Sans',Arial,Helvetica,sans-serif">%s`+
		`<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n", width, height, width, height, title(g.Title))
	for j, name := range g.Columns {
		x := g.Left + g.Wide*j + g.Wide/2
		text(x, top-8, fmt.Sprintf(`transform="rotate(-45 %d %d)"`, x, top-8), "", name)
	}
	for i, name := range g.Rows {
		y, about := top+high*i, ""
		if g.About != nil {
			about = g.About[i]
		}
		text(g.Left-8, y+15, `text-anchor="end"`, about, name)
		for j, c := range g.Cells[i] {
			x := g.Left + g.Wide*j
			fmt.Fprintf(&b, `<g>%s<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, title(c.About), x+1, y+1, g.Wide-2,
				high-2, c.Fill)
			text(x+g.Wide/2, y+15, fmt.Sprintf(`text-anchor="middle" fill="%s"`, c.Ink), "", c.Text)
			b.WriteString("</g>")
		}
	}
	x := g.Left
	for _, l := range g.Legend {
		fmt.Fprintf(&b, `<text x="%d" y="%d"><tspan font-weight="bold">%s</tspan> %s</text>`+"\n", x, height-14,
			html.EscapeString(l[0]), html.EscapeString(l[1]))
		x += legendWidth(l)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// legendWidth is the width of a mark with its meaning, in pixels.
func legendWidth(l [2]string) int { return 34 + 7*len(l[1]) }

// Markdown is a table whose first row is its head. Cells are Markdown themselves.
func Markdown(rows [][]string) string {
	var b strings.Builder
	for i, cells := range rows {
		b.WriteString(strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |\n", "  |", " |")) // no two spaces for an empty cell
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		}
	}
	return b.String()
}
