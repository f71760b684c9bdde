package notebook

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/lab"
)

// Tables shows a table for each panel, and emits its numbers: the mean of each series and its difference to the base
// series.
func Tables(r *lab.Result) {
	for _, t := range r.Figure.Tables {
		Exit(summary(output, r.Figure.Name, t))
	}
}

func summary(out sink, figure string, t figures.Summary) error {
	var text bytes.Buffer
	if err := figures.PrintTable(&text, t); err != nil {
		return err
	}
	base, _ := figures.LookUp(t.Base)
	rows := [][]string{{"series", "mean " + t.Metric, "minus " + base.Label, "95% interval", "seeds", "steps above"}}
	values := map[string]float64{}
	for _, r := range t.Rows {
		name := fmt.Sprintf("%s/%s/%s", figure, t.Panel, r.Series)
		values[name+"/"+t.Metric] = r.Mean.Mean
		row := []string{label(r.Series), fmt.Sprintf("%.4f", r.Mean.Mean), "", "", fmt.Sprint(r.Mean.N), ""}
		if r.Series != t.Base {
			values[name+"/minus-"+t.Base] = r.Difference.Mean
			row[2], row[3] = fmt.Sprintf("%+.4f", r.Difference.Mean), interval(r.Difference)
			row[5] = fmt.Sprintf("%.0f%% of %d", 100*r.ShareAbove, r.Steps)
		}
		rows = append(rows, row)
	}
	show(out, fmt.Sprintf("<p><b>Panel %s</b></p>\n%s", html.EscapeString(t.Panel), table(rows)), text.String(), values)
	return nil
}

func label(series string) string {
	look, _ := figures.LookUp(series)
	return look.Label
}

func interval(e figures.Estimate) string {
	if e.N < 2 {
		return "none (one seed)"
	}
	return fmt.Sprintf("[%+.4f, %+.4f]", e.Low, e.High)
}

// Claims shows each claim of the paper with its verdict, and the measured effect of each of its parts.
func Claims(r *lab.Result) { showClaims(output, r.Claims, nil) }

func showClaims(out sink, judged []claims.Judged, values map[string]float64) {
	rows := [][]string{{"verdict", "claim", "where", "measured", "95% interval", "seeds"}}
	var text []string
	for _, c := range judged {
		rows = append(rows, []string{string(c.Verdict), c.Text, c.Place, "", "", ""})
		for _, p := range c.Shown() {
			where := "panel " + p.Panel + ": " + p.Result()
			rows = append(rows, []string{"", "", where, p.What(), interval(p.Effect), fmt.Sprint(p.Effect.N)})
		}
		text = append(text, c.String())
	}
	show(out, table(rows), strings.Join(text, "\n"), values)
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
	show(output, table(rows), strings.Join(text, "\n"), nil)
}

// Values shows numbers by name and emits them for `go run ./kernel check`.
func Values(values map[string]float64) {
	rows := [][]string{{"name", "value"}}
	var text []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		number := fmt.Sprintf("%.4g", values[name])
		rows = append(rows, []string{name, number})
		text = append(text, name+" = "+number)
	}
	show(output, table(rows), strings.Join(text, "\n"), values)
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

// table returns an HTML table. The first row is the head; it is omitted if its cells are empty.
func table(rows [][]string) string {
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
