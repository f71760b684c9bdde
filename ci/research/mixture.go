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
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// mixtureMargin is that of mixture-declared.md in points of accuracy.
const mixtureMargin = .3

// mixtureStreams are the declared ones, with the folders and tables of their figures, and the numbers of their seeds.
var mixtureStreams = []struct {
	title, folder, table string
	seeds                int
}{
	{"Gaussian", "gaussian", "fig01-a.csv", 8},
	{"periodic Gaussian", "periodic", "fig01-a.csv", 8},
	{"CIFAR-10a", "cifar10a", "fig01-b.csv", 8},
	{"CIFAR-10b", "cifar10b", "fig01-c.csv", 8},
	{"CIFAR-10c", "cifar10c", "fig06-a.csv", 8},
	{"CIFAR-10b, 20 epochs, four seeds", "cifar10b-medium", "fig01-c.csv", 4},
}

// mixtureDifferences are the declared ones. The first two are judged: with 99.5% each, all ten err in at most 5%.
var mixtureDifferences = [][2]string{{"exact-mixture", "exact"}, {"mixture", "ours"}, {"mixture", "standard"},
	{"mixture", "everything"}}

func mixtureCommand() *cobra.Command {
	tables := filepath.Join("figures", "gallery", "archive", "mixture")
	out := filepath.Join(tables, "mixture.svg")
	cmd := &cobra.Command{
		Use:   "mixture",
		Short: "Judge weights by the mixture of all times against weights by the time of each sample",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cells := [][]string{{"stream"}}
			chart := figures.Chart{Key: "a", Title: "Ours with the mixture minus Ours", XLabel: "step", YLabel: "accuracy on step t + 1",
				Unit: figures.Points, Reference: figures.Zero("Ours")}
			for _, d := range mixtureDifferences {
				cells[0] = append(cells[0], fmt.Sprintf("`%s` minus `%s`", d[0], d[1]))
			}
			for i, s := range mixtureStreams {
				results, course, err := mixtureResults(filepath.Join(tables, s.folder), s.table, s.seeds)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("%s: %w", filepath.Join(tables, s.folder), err)
				}
				cells = append(cells, append([]string{s.title}, results...))
				if len(course) > 0 {
					chart.Series = append(chart.Series, figures.Series{Name: s.folder, Label: s.title, Points: course}.Styled(i))
				}
			}
			if err := charts.Draw(out, chart); err != nil {
				return err
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), grid.Markdown(cells))
			return err
		},
	}
	cmd.Flags().StringVar(&tables, "tables", tables, "folder with a drawn figure for each stream")
	cmd.Flags().StringVar(&out, "out", out, "picture of the difference to Ours by step")
	return cmd
}

// mixtureResults has a cell for each difference on a stream, in points of accuracy, and the difference to Ours by step;
// without a folder "not run".
func mixtureResults(dir, table string, seeds int) (cells []string, course []figures.Point, err error) {
	rows, err := readTable(dir, table)
	if err != nil {
		return []string{"not run"}, nil, err
	}
	for i, d := range mixtureDifferences {
		points, err := figures.Means(rows, rows[0].Panel, "accuracy", d[0], d[1])
		if err != nil {
			return nil, nil, err
		}
		if d == [2]string{"mixture", "ours"} {
			course = points
		}
		means := make([]float64, seeds)
		for _, p := range points {
			if p.N != seeds {
				return nil, nil, fmt.Errorf("%s minus %s has %d seeds of %d at step %g", d[0], d[1], p.N, seeds, p.X)
			}
			for seed, v := range p.Seeds {
				means[seed] += 100 * v.Value / float64(len(points))
			}
		}
		interval := statistics.OverSeeds(means)
		if i < 2 {
			cells = append(cells, interval(.995).Text(2)+", "+mixtureVerdict(interval(.995)))
		} else {
			cells = append(cells, interval(.95).Text(2))
		}
	}
	return cells, course, nil
}

// readTable reads a table of a drawn figure. Without the folder or the table it is fs.ErrNotExist.
func readTable(dir, table string) ([]figures.Row, error) {
	folder, err := figures.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	return folder.Rows(table)
}

// mixtureVerdict is better or worse if the interval excludes 0, and no difference if it lies within the margin.
func mixtureVerdict(e statistics.Estimate) string {
	switch {
	case e.Low > 0:
		return "better"
	case e.High < 0:
		return "worse"
	case -mixtureMargin <= e.Low && e.High <= mixtureMargin:
		return "no difference"
	}
	return "undecided"
}
