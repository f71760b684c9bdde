package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tvps/ci/research/grid"
	"tvps/ci/research/natural/charts"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// What images-declared.md compares with Everything by four seeds, and at which limits of minibatches.
var (
	lengthLearners = []string{"recent", "finetune", "ours", "exact", "pretrained"}
	lengthLimits   = []string{"100", "300", "1000", "all"}
)

func lengthCommand() *cobra.Command {
	tables := filepath.Join("figures", "gallery", "archive", "length")
	cmd := &cobra.Command{
		Use:   "length",
		Short: "Draw and list how the differences to Everything on images depend on the length of training",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cells := [][]string{append([]string{"picture", "minus Everything, in points"}, lengthLimits...)}
			for _, name := range []string{"b", "c", "b-reinit", "c-reinit"} {
				chart, err := lengthChart(tables, name[:1], name[1:])
				if err == nil && len(chart.Series) > 0 {
					err = charts.Draw(filepath.Join(tables, name+".svg"), chart)
				}
				if err != nil {
					return err
				}
				for _, s := range chart.Series {
					cells = append(cells, append([]string{name, s.Label}, lengthCells(s.Points)...))
				}
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), grid.Markdown(cells))
			return err
		},
	}
	cmd.Flags().StringVar(&tables, "tables", tables, "folder with a drawn figure for each limit, and of the pictures")
	return cmd
}

// lengthCells has the interval of each limit, empty where there is no point.
func lengthCells(points []figures.Point) []string {
	cells := make([]string, len(lengthLimits))
	for _, p := range points {
		mean, low, high := figures.Short(statistics.Estimate{Mean: p.Mean, Low: p.Low, High: p.High, N: p.N}, figures.Points)
		cells[int(p.X)] = fmt.Sprintf("%s [%s, %s]", mean, low, high)
	}
	return cells
}

// lengthChart shows the difference of each learner to Everything at the limits of which all seeds are in the tables.
func lengthChart(tables, panel, start string) (figures.Chart, error) {
	title := "Figure 1" + panel + " by length of training"
	if start != "" {
		title += ", from new random weights"
	}
	chart := figures.Chart{Key: panel, Title: title, Unit: figures.Points,
		XLabel: "limit of minibatches", XNames: lengthLimits, YLabel: "accuracy minus Everything",
		Bands: "Bands: 95% interval over 4 seeds and the steps.", Reference: figures.NewReference("everything", 0)}
	for _, name := range lengthLearners {
		var points []figures.Point
		for x, limit := range lengthLimits {
			rows, err := readTable(filepath.Join(tables, limit+start), "fig01-"+panel+".csv")
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return chart, fmt.Errorf("%s: %w", limit+start, err)
			}
			m, err := claims.NewEffect(rows, paper.Part{Panel: panel, Series: name, Base: "everything"}, "accuracy", true)
			if err != nil { // not run
				continue
			}
			if e := m.Interval(statistics.Level); e.N == 4 {
				points = append(points, figures.Point{X: float64(x), Mean: e.Mean, Low: e.Low, High: e.High, N: e.N})
			}
		}
		if len(points) > 0 {
			chart.Series = append(chart.Series, figures.NewSeries(name, points))
		}
	}
	return chart, nil
}
