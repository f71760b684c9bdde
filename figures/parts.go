package figures

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	//go:embed page.css
	styleText string
	//go:embed parts.html
	partsText string

	parts = template.Must(template.New("parts").Funcs(template.FuncMap{"lines": Lines}).Parse(partsText))
)

// Parts returns templates for pieces of a page, to parse a page's own template with:
//
//	verdict    a [Verdict]
//	answer     an []Answer, as a paragraph
//	verdicts   a []Claim, as a list that unfolds
//	means      a [Summary], as a table
//	chart      a [PanelPart]: its picture
//	numbers    a [PanelPart]: table of means, notes, table of the points
//	panel      a [PanelPart]: both
//	command    a command line (string) with a button to copy it; once on a page
//
// The page's style sheet is [CSS].
func Parts() *template.Template { return template.Must(parts.Clone()) }

// CSS returns the style sheet of [Parts], in light and dark, for screen and print, with the
// colours of the figure.
func CSS(fig Figure) template.CSS {
	var colors []string
	for _, p := range fig.Panels {
		colors = append(colors, p.colors()...)
	}
	slices.Sort(colors)
	dark := ""
	for _, c := range slices.Compact(colors) {
		if d := Dark(c); d != c {
			dark += fmt.Sprintf(" %s: %s;", colorName(c), d)
		}
	}
	if dark == "" {
		return template.CSS(styleText)
	}
	return template.CSS(styleText + "@media screen and (prefers-color-scheme: dark) { :root {" + dark + " } }\n")
}

// colors lists the colours of everything that is drawn, in lower case.
func (p Chart) colors() []string {
	var out []string
	for _, e := range p.lines() {
		out = append(out, strings.ToLower(e.color))
	}
	return out
}

// colorName is the CSS variable that replaces a colour of a series where it is set.
func colorName(color string) string { return "--c-" + strings.ToLower(strings.TrimPrefix(color, "#")) }

// PanelPart is a panel as the template "panel" of [Parts] shows it.
type PanelPart struct {
	Stem    string // of the panel's files
	Title   string
	Sample  string        // what is drawn; empty for nothing to say
	Alt     string        // describes the chart
	Picture template.HTML // SVG without title and notes, which takes the colours of [CSS]
	Notes   []string
	Means   *Summary // nil for none
	Points  pointTable

	// On a figure's own page, which has its files next to it.
	Live  bool // draw an interactive chart instead of the picture
	Files []string
}

// NewPanelPart returns a panel with its picture, notes, table of the points, and table of
// means if the figure has it. Nothing in it refers to another file.
func NewPanelPart(fig Figure, p Chart) (PanelPart, error) {
	if err := fig.Validate(); err != nil {
		return PanelPart{}, err
	}
	picture, err := inlineSVG(p)
	if err != nil {
		return PanelPart{}, err
	}
	part := PanelPart{
		Stem: Stem(fig.Name, p.Key), Title: p.Title, Sample: p.Sample, Alt: p.alt(), Picture: picture,
		Notes: p.footnotes(), Points: pointsOf(p),
	}
	if i := slices.IndexFunc(fig.Tables, func(s Summary) bool { return s.Panel == p.Key }); i >= 0 {
		part.Means = &fig.Tables[i]
	}
	return part, nil
}

var (
	svgColor  = regexp.MustCompile(`(fill|stroke):(#[0-9A-Fa-f]{6})`) // a colour in a style
	svgSpaces = regexp.MustCompile(`\s+xmlns(:xlink)?="[^"]*"`)       // which SVG within HTML does without
)

// inlineSVG draws a panel for a page that prints title and notes itself, as an element that
// takes its colours from the page's variables.
func inlineSVG(p Chart) (template.HTML, error) {
	picture, err := bareSheet(p).svg()
	if err != nil {
		return "", err
	}
	_, element, _ := bytes.Cut(picture, []byte("<svg"))
	variable := map[string]string{"#ffffff": "--sheet", "#222222": "--ink", "#e4e4e4": "--grid"}
	for _, c := range p.colors() {
		variable[c] = colorName(c)
	}
	known := slices.Sorted(maps.Keys(variable))
	element = svgSpaces.ReplaceAll(element, nil)
	text := svgColor.ReplaceAllStringFunc(string(element), func(match string) string {
		property, color, _ := strings.Cut(match, ":")
		if i := slices.IndexFunc(known, func(k string) bool { return alike(k, color) }); i >= 0 {
			return fmt.Sprintf("%s:var(%s,%s)", property, variable[known[i]], color)
		}
		return match
	})
	label := html.EscapeString("Chart: " + p.alt())
	return template.HTML(`<svg role="img" aria-label="` + label + `"` + text), nil
}

// alike reports whether two colours differ by rounding only, as a band's from its line's.
func alike(a, b string) bool {
	x, y := channels(a), channels(b)
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1.5/255 {
			return false
		}
	}
	return true
}

// pointTable is what a chart shows, as text.
type pointTable struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// pointsOf lists every point of a panel: a row for each x, a column for each series.
func pointsOf(p Chart) pointTable {
	p = p.shown()
	fewest, most := p.seeds()
	t := pointTable{Head: []string{p.XLabel}}
	t.Caption = p.YLabel
	if p.Bands != "" {
		fewest, most = 0, 0
	}
	if most > 0 {
		t.Caption += ": mean over seeds"
	}
	if most > 1 {
		t.Caption += ", in brackets its 95% interval"
	}
	if fewest == most && most > 0 {
		t.Caption += fmt.Sprintf("; n = %d", most)
	}
	if r := p.Reference; r != nil {
		t.Caption += fmt.Sprintf("; %s is the line at %s", r.Label, p.number(r.Value))
	}
	at := map[float64][]string{}
	for i, s := range p.Series {
		t.Head = append(t.Head, s.text())
		for _, point := range s.Points {
			if at[point.X] == nil {
				at[point.X] = make([]string, len(p.Series))
			}
			at[point.X][i] = p.text(point)
			if fewest < most {
				at[point.X][i] += fmt.Sprintf(", n = %d", point.N)
			}
		}
	}
	for _, x := range slices.Sorted(maps.Keys(at)) {
		label := p.xText(x, properMinus(strconv.FormatFloat(x, 'g', -1, 64)))
		t.Rows = append(t.Rows, append([]string{label}, at[x]...))
	}
	if row := meanRow(p); row != nil {
		t.Rows = append(t.Rows, row)
	}
	return t
}

// meanRow holds the heights of the constant lines; nil if there are none.
func meanRow(p Chart) []string {
	row := make([]string, len(p.Series))
	for i, s := range p.Series {
		if s.Mean {
			row[i] = p.number(s.mean())
		}
	}
	if strings.Join(row, "") == "" {
		return nil
	}
	return append([]string{"mean over all steps"}, row...)
}
