package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"tvps/figures"
	"tvps/figures/looks"
)

// TinyNote stands where verdicts would: at the scale tiny nothing is judged.
const TinyNote = "The scale tiny checks the program, not the paper: no claim is judged."

// print writes a figure to the terminal: a line for each panel with the means of its series, a line for each claim, and
// where the page is, or the folder of a figure without one.
func (l *Lab) print(o Options, r *Result) error {
	l.printLines(r)
	what := "Page"
	if o.Compact {
		what = "Files"
	}
	_, err := fmt.Fprintf(l.Stdout, "%s: %s\n", what, o.made())
	return err
}

// made is the page of a figure, or its folder where it has none.
func (o Options) made() string {
	if o.Compact {
		return o.Out
	}
	return filepath.Join(o.Out, figures.PageFile)
}

// printLines writes panels and claims, a line each.
func (l *Lab) printLines(r *Result) {
	width := l.width()
	line := func(text string) { fmt.Fprintln(l.Stdout, cut(text, width)) }
	line(r.Figure.Title)
	for i, t := range r.Figure.Tables {
		var means []string
		for _, row := range t.Rows {
			means = append(means, looks.Of(row.Series).Label+" "+t.Value(row.Mean.Mean))
		}
		p := r.Figure.Panels[i]
		fmt.Fprintf(l.Stdout, "  %s  %s: %s\n", p.Key, p.Title, strings.Join(means, ", "))
	}
	fmt.Fprintln(l.Stdout, r.Figure.Tally)
	for i, shown := range r.Figure.Claims { // none at the scale tiny
		text := shown.Text
		if there, _, more := strings.Cut(shown.Gallery, " ("); more {
			text = there + ". " + text
		}
		for part := range strings.SplitSeq(r.Claims[i].Line(text), "\n") {
			line(part)
		}
	}
}

// width is that of the terminal, or 120 where the output is none.
func (l *Lab) width() int {
	if file, ok := l.Stdout.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return max(columns, 100) // a narrower terminal breaks the lines
		}
	}
	return 120
}

// cut shortens a line to the width.
func cut(text string, width int) string {
	if letters := []rune(text); len(letters) > width {
		return string(letters[:width-1]) + "…"
	}
	return text
}
