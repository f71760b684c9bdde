package figures

import (
	"fmt"
	"io"
	"math"
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

// Cells returns the table as text: a line of headings, then one for each series.
func (s Summary) Cells() [][]string {
	base, _ := looks.Of(s.Base)
	minus := "minus " + base.Label
	if s.Unit != "" {
		minus += "," + string(s.Unit)
	}
	lines := [][]string{{"series", "mean", minus, "95% interval", "n", "steps above"}}
	for _, r := range s.Rows {
		lines = append(lines, s.line(r))
	}
	return lines
}

func (s Summary) line(r SummaryRow) []string {
	look, _ := looks.Of(r.Series)
	line := []string{look.Label, s.Value(r.Mean.Mean), "", "", fmt.Sprint(r.Difference.N), ""}
	if r.Series == s.Base {
		return line
	}
	var low, high string
	line[2], low, high = s.Gain(r)
	line[3] = "none (one seed)"
	if r.Difference.N > 1 {
		line[3] = fmt.Sprintf("[%s, %s]", low, high)
	}
	line[5] = fmt.Sprintf("%.0f%% of %d", 100*r.ShareAbove, r.Steps)
	return line
}

// Gain is the difference of a series to the base, and the ends of its interval, without the unit.
func (s Summary) Gain(r SummaryRow) (mean, low, high string) {
	d := r.Difference
	if s.Unit != "" {
		return Short(d, s.Unit)
	}
	decimals := s.decimals()
	return statistics.Signed(decimals, d.Mean), statistics.Signed(decimals, d.Low), statistics.Signed(decimals, d.High)
}

// Value is a mean in percent if the metric is a share, otherwise with three digits of the largest one.
func (s Summary) Value(mean float64) string {
	if s.Unit != "" {
		return fmt.Sprintf("%.1f%%", 100*mean)
	}
	return strings.TrimPrefix(statistics.Signed(s.decimals(), mean), "+")
}

// decimals are those of three digits of the largest mean, at most four.
func (s Summary) decimals() int {
	largest := 0.
	for _, r := range s.Rows {
		largest = max(largest, math.Abs(r.Mean.Mean))
	}
	if largest == 0 {
		return 0
	}
	return min(4, max(0, 2-int(math.Floor(math.Log10(largest)))))
}
