package natural

import (
	"fmt"

	"tvps/ci/research/grid"
	"tvps/data/statistics"
)

func percent(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }

// relative is an interval in percent.
func relative(i statistics.Estimate) string {
	return fmt.Sprintf("%+.2f%% [%+.2f, %+.2f]", 100*i.Mean, 100*i.Low, 100*i.High)
}

// row formats the cells of a row.
func row(cells ...any) (out []string) {
	for _, c := range cells {
		out = append(out, fmt.Sprint(c))
	}
	return out
}

// markdown is a table between blank lines. The first row is its head.
func markdown(rows [][]string) string { return "\n" + grid.Markdown(rows) + "\n" }
