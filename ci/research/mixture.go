package main

import (
	"fmt"
	"path/filepath"

	"tvps/ci/research/grid"
	"tvps/ci/research/natural/charts"
	"tvps/figures"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// The streams of mixture-declared.md.
var mixtureStreams = []stream{
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
			chart := figures.Chart{Key: "a", Title: "Ours with the mixture minus Ours", XLabel: "step",
				YLabel: "accuracy on step t + 1 minus that of Ours", Unit: figures.Points, Reference: figures.Zero("Ours")}
			for _, d := range mixtureDifferences {
				cells[0] = append(cells[0], fmt.Sprintf("`%s` minus `%s`", d[0], d[1]))
			}
			for i, s := range mixtureStreams {
				results, course, err := mixtureResults(tables, s)
				if err != nil {
					return err
				}
				cells = append(cells, append([]string{s.title}, results...))
				chart.Series = append(chart.Series, figures.Series{Name: s.folder, Label: s.title, Points: course}.Styled(i))
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

// mixtureResults has a cell for each difference on a stream, in points of accuracy, and the difference to Ours by step.
func mixtureResults(tables string, s stream) (cells []string, course []figures.Point, err error) {
	rows, err := s.rows(tables)
	if err != nil {
		return nil, nil, err
	}
	for i, d := range mixtureDifferences {
		difference, err := s.difference(rows, d[0], d[1])
		if err != nil {
			return nil, nil, err
		}
		if d == [2]string{"mixture", "ours"} {
			course = difference.steps
		}
		if i < 2 {
			cells = append(cells, difference.judged(.995))
		} else {
			cells = append(cells, difference.seeds(.95).Text(2))
		}
	}
	return cells, course, nil
}
