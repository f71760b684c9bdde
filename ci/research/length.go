package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"tvps/ci/research/grid"
	"tvps/ci/research/natural/charts"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/figures/looks"
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
			changes, err := lengthChanges(tables)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), grid.Markdown(cells), "\n", grid.Markdown(changes))
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
		cells[int(p.X)] = lengthCell(statistics.Estimate{Mean: p.Mean, Low: p.Low, High: p.High, N: p.N})
	}
	return cells
}

func lengthCell(e statistics.Estimate) string {
	mean, low, high := figures.Short(e, figures.Points)
	return fmt.Sprintf("%s [%s, %s]", mean, low, high)
}

// lengthRows reads the table of a panel in one of the folders; none if it is not there.
func lengthRows(tables, folder, panel string) ([]figures.Row, error) {
	rows, err := readTable(filepath.Join(tables, folder), "fig01-"+panel+".csv")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return rows, nil
}

// lengthChange is a comparison of two lengths of training on a panel.
type lengthChange struct {
	panel, what string
	from, to    string // folders of at most 100 minibatches, and of all
	level       float64
}

var lengthComparisons = []lengthChange{
	{"b", "one network, 3 steps, 95%", "100", "all", statistics.Level},
	{"c", "one network, 3 steps, 95%", "100", "all", statistics.Level},
	{"c", "one network, 11 steps, 97.5%", "one-100", "one-all", .975}, // declared
	{"b", "Figure 1, other networks, 95%", "../../fig01", "../../medium/fig01", statistics.Level},
	{"c", "Figure 1, other networks, 95%", "../../fig01", "../../medium/fig01", statistics.Level},
}

// lengthChanges lists by how much Ours minus Everything, and Ours minus Recent, change from 100 minibatches to all of
// them, over four seeds and the steps.
func lengthChanges(tables string) ([][]string, error) {
	cells := [][]string{{"picture", "compared", "Ours minus", "change from 100 to all, in points"}}
	for _, c := range lengthComparisons {
		from, err := lengthRows(tables, c.from, c.panel)
		if err != nil {
			return nil, err
		}
		to, err := lengthRows(tables, c.to, c.panel)
		if err != nil {
			return nil, err
		}
		for _, base := range []string{"everything", "recent"} {
			rows := slices.Concat(oursMinus(base, to, "to"), oursMinus(base, from, "from"))
			m, err := claims.NewEffect(rows, paper.Part{Panel: c.panel, Series: "to", Base: "from"}, "accuracy", true)
			if err != nil { // not run
				continue
			}
			if e := m.Interval(c.level); e.N == 4 {
				cells = append(cells, []string{c.panel, c.what, looks.Of(base).Label, lengthCell(e)})
			}
		}
	}
	return cells, nil
}

// oursMinus are rows of a series of that name: Ours minus base, where both were measured.
func oursMinus(base string, rows []figures.Row, name string) (out []figures.Row) {
	of := map[figures.Row]float64{} // by everything but the value
	for _, r := range rows {
		value := r.Value
		r.Value = 0
		of[r] = value
	}
	for r, value := range of {
		if r.Series != "ours" {
			continue
		}
		other := r
		other.Series = base
		if of, ok := of[other]; ok {
			r.Series, r.Value = name, value-of
			out = append(out, r)
		}
	}
	return out
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
			rows, err := lengthRows(tables, limit+start, panel)
			if err != nil {
				return chart, err
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
