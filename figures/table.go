package figures

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"tvps/data/statistics"
	"tvps/figures/looks"
)

// PrintTable writes the summary as an aligned table for a terminal: series, mean, difference
// to the base with its interval over seeds, number of seeds, share of steps above the base.
func PrintTable(out io.Writer, s Summary) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Panel %s, %s\n", s.Panel, s.Metric)
	for _, line := range s.Cells() {
		fmt.Fprintf(w, "  %s\n", strings.Join(line, "\t"))
	}
	return w.Flush()
}

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

// Cells returns the table as text: a line of headings, then one for each series.
func (s Summary) Cells() [][]string {
	base, _ := looks.Of(s.Base)
	lines := [][]string{{"series", "mean", "minus " + base.Label, "95% interval", "n", "steps above"}}
	for _, r := range s.Rows {
		lines = append(lines, tableLine(r, s.Base))
	}
	return lines
}

func tableLine(r SummaryRow, base string) []string {
	look, _ := looks.Of(r.Series)
	line := []string{look.Label, fmt.Sprintf("%.4f", r.Mean.Mean), "", "", fmt.Sprint(r.Difference.N), ""}
	if r.Series == base {
		return line
	}
	d := r.Difference
	line[2] = statistics.Signed(4, d.Mean)
	line[3] = "none (one seed)"
	if d.N > 1 {
		line[3] = fmt.Sprintf("[%s, %s]", statistics.Signed(4, d.Low), statistics.Signed(4, d.High))
	}
	line[5] = fmt.Sprintf("%.0f%% of %d", 100*r.ShareAbove, r.Steps)
	return line
}
