package main

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/lab"
	"tvps/replicate/notebook"
)

// tables shows the table of each panel.
func tables(r *lab.Result) error {
	for _, t := range r.Figure.Tables {
		if err := summary(r.Figure.Name, t); err != nil {
			return err
		}
	}
	return nil
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
	notebook.Show(head+notebook.Table(t.Cells()), text.String(), values)
	return nil
}

// showVerdicts shows what a computed figure says of the claims; at the tiny scale none is judged.
func showVerdicts(r *lab.Result) error {
	if len(r.Figure.Claims) == 0 {
		notebook.Say(r.Figure.Tally)
		return nil
	}
	showAnswer(r.Figure)
	showClaims(r.Figure, "", nil)
	return nil
}

// showAnswer shows the sentence that answers a figure's question, and how many claims have which verdict.
func showAnswer(fig figures.Figure) {
	var sentences []string
	for _, a := range fig.Answer {
		sentences = append(sentences, fmt.Sprintf("%s: %s.", a.Verdict.Word, a.Text))
	}
	answer := strings.Join(append(sentences, fig.Tally+"."), "\n")
	notebook.Show("<p><b>"+strings.ReplaceAll(html.EscapeString(answer), "\n", "<br>\n")+"</b></p>", answer, nil)
}

// showClaims shows the claims, folded, below them a sentence if it is not empty, and numbers unless they are nil.
func showClaims(fig figures.Figure, sentence string, values map[string]float64) {
	rows := [][]string{{"verdict", "claim", "measured here", "in the paper"}}
	var text []string
	for _, l := range figures.Lines(fig.Claims) {
		rows = append(rows, []string{l.Verdict.Word, l.Text, l.String(), l.Place})
		text = append(text, fmt.Sprintf("%s: %s (%s). %s", l.Verdict.Word, l.Text, l.Place, l))
	}
	page := notebook.Table(rows)
	if sentence != "" {
		page += "\n<p><small>" + html.EscapeString(sentence) + "</small></p>"
		text = append(text, sentence)
	}
	notebook.Show(notebook.Folded("The claims, one by one", page), strings.Join(text, "\n"), values)
}

// provenance shows, folded, scale, seeds, backend, versions and all settings of a computed figure.
func provenance(r *lab.Result) error {
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
	notebook.Show(notebook.Folded("How it was made", notebook.Table(rows)), strings.Join(text, "\n"), nil)
	return nil
}
