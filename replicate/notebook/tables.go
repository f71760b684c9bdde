package notebook

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/lab"
)

// Tables shows a table for each panel, and emits its numbers: the mean of each series and its difference to the base
// series.
func Tables(r *lab.Result) {
	for _, t := range r.Figure.Tables {
		Exit(summary(r.Figure.Name, t))
	}
}

func summary(figure string, t figures.Summary) error {
	var text bytes.Buffer
	if err := figures.PrintTable(&text, t); err != nil {
		return err
	}
	values := map[string]float64{}
	for _, r := range t.Rows {
		name := fmt.Sprintf("%s/%s/%s", figure, t.Panel, r.Series)
		values[name+"/"+t.Metric] = r.Mean.Mean
		if r.Series != t.Base {
			values[name+"/minus-"+t.Base] = r.Difference.Mean
		}
	}
	head := fmt.Sprintf("<p><b>Panel %s, %s</b></p>\n", html.EscapeString(t.Panel), t.Metric)
	Show(head+Table(t.Cells()), text.String(), values)
	return nil
}

// Claims shows each claim of the paper with its verdict and what was measured, as the figure's page does. At the tiny
// scale none is judged.
func Claims(r *lab.Result) {
	if len(r.Figure.Claims) == 0 {
		output.display(small("", r.Figure.Tally))
		return
	}
	showAnswer(r.Figure)
	showClaims(r.Figure, nil)
}

// showAnswer shows the sentence that answers a figure's question, and how many claims have which verdict.
func showAnswer(fig figures.Figure) {
	var sentences []string
	for _, a := range fig.Answer {
		sentences = append(sentences, fmt.Sprintf("%s: %s.", a.Verdict.Word, a.Text))
	}
	answer := strings.Join(append(sentences, fig.Tally+"."), "\n")
	Show("<p><b>"+strings.ReplaceAll(html.EscapeString(answer), "\n", "<br>\n")+"</b></p>", answer, nil)
}

func showClaims(fig figures.Figure, values map[string]float64) {
	rows := [][]string{{"verdict", "claim", "measured here", "in the paper"}}
	var text []string
	for _, l := range figures.Lines(fig.Claims) {
		rows = append(rows, []string{l.Verdict.Word, l.Text, l.String(), l.Place})
		text = append(text, fmt.Sprintf("%s: %s (%s). %s", l.Verdict.Word, l.Text, l.Place, l))
	}
	Show(Table(rows), strings.Join(text, "\n"), values)
}

// Provenance shows how the figure was made: scale, seeds, backend, versions and all settings. It leaves out what
// differs between machines or days.
func Provenance(r *lab.Result) {
	made := r.Record.MadeBy
	rows := [][]string{{"", ""},
		{"scale", string(r.Record.Scale)},
		{"seeds", strings.Trim(fmt.Sprint(r.Record.Seeds), "[]")},
		{"backend", strings.TrimSpace(made.Backend + " " + made.Versions["plugin"])},
		{"GoMLX", made.Versions["github.com/gomlx/gomlx"]},
		{"Go", made.Versions["go"]},
		{"runs", fmt.Sprint(len(r.Record.Runs))},
	}
	for _, panel := range slices.Sorted(maps.Keys(r.Record.Settings)) {
		settings := r.Record.Settings[panel]
		var all []string
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			all = append(all, name+"="+settings[name])
		}
		rows = append(rows, []string{"settings of panel " + panel, strings.Join(all, ", ")})
	}
	var text []string
	for _, row := range rows[1:] {
		text = append(text, row[0]+": "+row[1])
	}
	Show(Table(rows), strings.Join(text, "\n"), nil)
}

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
	content := map[string]any{"values": values}
	if showsGallery && !computes {
		content["from"] = "gallery"
	}
	return content
}

// showsGallery and computes say what this cell, which is a program of its own, has called: Found or Measured, and
// Figure.
var showsGallery, computes bool

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
