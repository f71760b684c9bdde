package notebook

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Values shows numbers by name and emits them for `go run ./kernel check`.
func Values(values map[string]float64) {
	rows := [][]string{{"name", "value"}}
	var text []string
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Compare(inOrder(a), inOrder(b)) })
	for _, name := range names {
		number := fmt.Sprintf("%.4g", values[name])
		rows = append(rows, []string{name, number})
		text = append(text, name+" = "+number)
	}
	Show(Table(rows), strings.Join(text, "\n"), values)
}

var digitRuns = regexp.MustCompile(`\d+`)

// inOrder is a name for sorting: series next to each other, and numbers by their size.
func inOrder(name string) string {
	return digitRuns.ReplaceAllStringFunc(strings.ToLower(name), func(n string) string { return fmt.Sprintf("%9s", n) })
}

// valuesOf is the content of [ValuesMIME].
func valuesOf(values map[string]float64) map[string]any {
	numbers := map[string]any{} // a type that GoNB's pipe knows
	for name, v := range values {
		if numbers[name] = v; math.IsNaN(v) || math.IsInf(v, 0) {
			numbers[name] = fmt.Sprint(v) // JSON has no such number; `kernel check` refuses the text
		}
	}
	content := map[string]any{"values": numbers}
	if showsGallery && !computes {
		content["from"] = "gallery"
	}
	return content
}

// showsGallery and computes say what this cell, which is a program of its own, has called.
var showsGallery, computes bool

// mark notes a call, in the cell and in the program beside it.
func mark(call string) {
	showsGallery = showsGallery || call == "found" || call == "measured"
	computes = computes || call == "figure"
}

// Table returns an HTML table. The first row is the head; it is omitted if its cells are empty.
func Table(rows [][]string) string {
	var b strings.Builder
	b.WriteString("<table>\n")
	for i, row := range rows {
		tag := "td"
		if i == 0 {
			tag = "th"
			if strings.Join(row, "") == "" {
				continue
			}
		}
		b.WriteString("<tr>")
		for _, cell := range row {
			fmt.Fprintf(&b, "<%s style=\"text-align:left\">%s</%s>", tag, html.EscapeString(cell), tag)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>")
	return b.String()
}
