package figures

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// PrintTable writes the summary as an aligned table for a terminal: series, mean, difference
// to the base with its interval over seeds, number of seeds, share of steps above the base.
func PrintTable(w io.Writer, s Summary) error {
	_, err := fmt.Fprintf(w, "Panel %s, %s\n%s", s.Panel, s.Metric, align(s.Cells()))
	return err
}

// Cells returns the table as text: a line of headings, then one for each series.
func (s Summary) Cells() [][]string {
	base, _ := LookUp(s.Base)
	lines := [][]string{{"series", "mean", "minus " + base.Label, "95% interval", "n", "steps above"}}
	for _, r := range s.Rows {
		lines = append(lines, tableLine(r, s.Base))
	}
	return lines
}

func tableLine(r SummaryRow, base string) []string {
	look, _ := LookUp(r.Series)
	line := []string{look.Label, fmt.Sprintf("%.4f", r.Mean.Mean), "", "", fmt.Sprint(r.Difference.N), ""}
	if r.Series == base {
		return line
	}
	d := r.Difference
	line[2] = Signed(4, d.Mean)
	line[3] = "none (one seed)"
	if d.N > 1 {
		line[3] = fmt.Sprintf("[%s, %s]", Signed(4, d.Low), Signed(4, d.High))
	}
	line[5] = fmt.Sprintf("%.0f%% of %d", 100*r.ShareAbove, r.Steps)
	return line
}

// align pads the columns to equal width: the first to the left, the others to the right.
func align(lines [][]string) string {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				text += "  " + cell + pad
			} else {
				text += "  " + pad + cell
			}
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return b.String()
}

// Signed formats a number with its sign to so many decimals, never as minus zero.
func Signed(decimals int, v float64) string {
	text := fmt.Sprintf("%+.*f", decimals, v)
	if strings.Trim(text, "-0.") == "" {
		return "+" + text[1:]
	}
	return text
}
