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
	lines := [][]string{{"series", "mean", s.minus(), "95% interval", "n", "steps above"}}
	for _, r := range s.Rows {
		lines = append(lines, s.line(r))
	}
	return lines
}

// minus is the head of the differences, as "minus Everything, points".
func (s Summary) minus() string {
	text := "minus " + looks.Of(s.Base).Label
	if s.Unit == "" {
		return text
	}
	return text + "," + string(s.Unit)
}

// Gains has the differences with an interval in a line, as "minus Everything, points (steps above): Ours +1.1 [+0.2,
// +2.0] (73%)"; empty for none.
func (s Summary) Gains() string {
	var found []string
	for _, r := range s.Rows {
		if line := s.line(r); r.Series != s.Base && r.Difference.N > 1 {
			found = append(found, fmt.Sprintf("%s %s %s (%.0f%%)", line[0], line[2], line[3], 100*r.ShareAbove))
		}
	}
	if found == nil {
		return ""
	}
	return fmt.Sprintf("%s, with 95%% intervals over seeds (steps above): %s", s.minus(), strings.Join(found, "; "))
}

func (s Summary) line(r SummaryRow) []string {
	line := []string{looks.Of(r.Series).Label, s.Value(r.Mean.Mean), "", "", fmt.Sprint(r.Difference.N), ""}
	if r.Series == s.Base {
		return line
	}
	var low, high string
	line[2], low, high = s.gain(r)
	line[3] = "none (one seed)"
	if r.Difference.N > 1 {
		line[3] = fmt.Sprintf("[%s, %s]", low, high)
	}
	line[5] = fmt.Sprintf("%.0f%% of %d", 100*r.ShareAbove, r.Steps)
	return line
}

// gain is the difference of a series to the base, and the ends of its interval, without the unit.
func (s Summary) gain(r SummaryRow) (mean, low, high string) {
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
	return signed(s.decimals(), mean, false)
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

// Short writes the mean and the ends of the interval in a unit, without its name, to as many digits as a line needs.
func Short(e statistics.Estimate, unit Unit) (mean, low, high string) {
	usual := 2
	if unit != "" {
		e.Mean, e.Low, e.High, usual = 100*e.Mean, 100*e.Low, 100*e.High, 1
	}
	more := e.Decimals(usual) - usual
	write := func(v float64) string {
		decimals := 1
		switch size := math.Abs(v); {
		case unit != "":
		case size < 1:
			decimals = 2
		case size >= 100:
			decimals = 0
		}
		return signed(decimals+more, v, unit != Percent)
	}
	return write(e.Mean), write(e.Low), write(e.High)
}
