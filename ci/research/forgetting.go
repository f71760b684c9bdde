package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"tvps/ci/research/grid"
	"tvps/ci/research/natural/charts"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// The streams of forgetting-declared.md, the first two in one picture, the others in another.
var forgettingStreams = []stream{
	{"Gaussian", "gaussian", "fig01-a.csv", 8},
	{"periodic Gaussian", "periodic", "fig01-a.csv", 8},
	{"CIFAR-10a", "cifar10a", "fig01-b.csv", 8},
	{"CIFAR-10b", "cifar10b", "fig01-c.csv", 8},
	{"CIFAR-10c", "cifar10c", "fig06-a.csv", 8},
}

// forgetters are the ways to forget by time, from the longest memory to the shortest: the order in which equals are
// chosen.
var forgetters = []string{"everything", "age-50", "last-50", "age-15", "last-15", "age-5", "last-5", "age-2", "last-2",
	"recent"}

// chosen is the series of the way that had the best mean accuracy at the steps before.
const chosen = "chosen"

// memories are the ways of each kind, from the last step alone to all steps.
var memories = []struct {
	label string
	ways  []string
}{
	{"half-life", []string{"recent", "age-2", "age-5", "age-15", "age-50", "everything"}},
	{"last steps", []string{"recent", "last-2", "last-5", "last-15", "last-50", "everything"}},
}

func forgettingCommand() *cobra.Command {
	tables := filepath.Join("figures", "gallery", "archive", "forgetting")
	out := tables
	cmd := &cobra.Command{
		Use:   "forgetting",
		Short: "Judge Ours against weights by age and against the last steps",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cells := [][]string{{"Ours minus"}, {"**chosen, judged**"}}
			for _, name := range forgetters {
				cells = append(cells, []string{"`" + name + "`"})
			}
			pictures := [2]figures.Chart{forgettingChart("Gaussian streams"), forgettingChart("images")}
			for i, s := range forgettingStreams {
				rows, err := s.rows(tables)
				if errors.Is(err, fs.ErrNotExist) { // not run
					continue
				} else if err != nil {
					return err
				}
				column, err := s.forgettingCells(rows)
				if err != nil {
					return err
				}
				for j, cell := range column {
					cells[j] = append(cells[j], cell)
				}
				if err := s.drawForgetting(&pictures[min(i/2, 1)], rows); err != nil {
					return err
				}
			}
			for i, name := range []string{"gaussian.svg", "images.svg"} {
				if err := charts.Draw(filepath.Join(out, name), pictures[i]); err != nil {
					return err
				}
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), grid.Markdown(cells))
			return err
		},
	}
	cmd.Flags().StringVar(&tables, "tables", tables, "folder with a drawn figure for each stream")
	cmd.Flags().StringVar(&out, "out", out, "folder of the pictures of the difference to Ours by the number of steps")
	return cmd
}

func forgettingChart(of string) figures.Chart {
	return figures.Chart{Key: "a", Title: "Forgetting by time, " + of, Unit: figures.Points,
		XLabel: "half-life, or number of last steps", XNames: []string{"1", "2", "5", "15", "50", "all"},
		YLabel: "accuracy minus Ours", Reference: figures.Zero("Ours"), Bands: "Bands: 95% interval over 8 seeds."}
}

// forgettingCells are the stream's title and Ours minus chosen, with its verdict, and minus each way to forget.
func (s stream) forgettingCells(rows []figures.Row) ([]string, error) {
	d, err := s.difference(slices.Concat(rows, chooseForgetting(rows)), "ours", chosen)
	if err != nil {
		return nil, err
	}
	cells := []string{s.title, d.judged(.99)}
	for _, name := range forgetters {
		if d, err = s.difference(rows, "ours", name); err != nil {
			return nil, err
		}
		cells = append(cells, d.seeds(statistics.Level).Text(2))
	}
	return cells, nil
}

// drawForgetting adds the differences of both kinds of forgetting to Ours to a chart.
func (s stream) drawForgetting(chart *figures.Chart, rows []figures.Row) error {
	for _, kind := range memories {
		name := s.title + ", " + kind.label
		line := figures.Series{Name: name, Label: name}.Styled(len(chart.Series))
		for x, way := range kind.ways {
			d, err := s.difference(rows, way, "ours")
			if err != nil {
				return err
			}
			e := d.seeds(statistics.Level)
			line.Points = append(line.Points, figures.Point{X: float64(x), Mean: e.Mean / 100, Low: e.Low / 100, High: e.High / 100, N: e.N})
		}
		chart.Series = append(chart.Series, line)
	}
	return nil
}

// chooseForgetting returns the rows of chosen: at each step of a seed the accuracy of the way to forget whose mean
// accuracy at the seed's steps before is the highest; at the first step Everything.
func chooseForgetting(rows []figures.Row) (out []figures.Row) {
	type place struct {
		seed int64
		t    int
	}
	type learner struct {
		seed   int64
		series string
	}
	at := map[place]map[string]figures.Row{} // by learner
	for _, r := range rows {
		if r.Metric == "accuracy" {
			here := place{r.Seed, r.T}
			if at[here] == nil {
				at[here] = map[string]figures.Row{}
			}
			at[here][r.Series] = r
		}
	}
	before := map[learner]float64{} // the sum over the steps before
	for _, here := range slices.SortedFunc(maps.Keys(at), func(a, b place) int { return cmp.Compare(a.t, b.t) }) {
		best := slices.MaxFunc(forgetters, func(a, b string) int {
			return cmp.Compare(math.Round(1e6*before[learner{here.seed, a}]), math.Round(1e6*before[learner{here.seed, b}]))
		})
		r := at[here][best]
		r.Series = chosen
		out = append(out, r)
		for _, name := range forgetters {
			before[learner{here.seed, name}] += at[here][name].Value
		}
	}
	return out
}
