package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
				}
				if err != nil {
					return err
				}
				rows = append(rows, chooseForgetting(rows)...)
				cells[0] = append(cells[0], s.title)
				for j, name := range append([]string{chosen}, forgetters...) {
					_, interval, err := s.difference(rows, "ours", name)
					if err != nil {
						return err
					}
					cell := interval(statistics.Level).Text(2)
					if name == chosen {
						cell = judged(interval(.99))
					}
					cells[j+1] = append(cells[j+1], cell)
				}
				picture := &pictures[min(i/2, 1)]
				for _, kind := range []string{"age", "last"} {
					x, err := s.forgetting(rows, kind)
					if err != nil {
						return err
					}
					picture.Series = append(picture.Series, x.Styled(len(picture.Series)))
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

// memories are the numbers of steps, from the last one alone to all.
var memories = []string{"1", "2", "5", "15", "50", "all"}

func forgettingChart(of string) figures.Chart {
	return figures.Chart{Key: "a", Title: "Forgetting by time, " + of, Unit: figures.Points, XNames: memories,
		XLabel: "half-life, or number of last steps", YLabel: "accuracy minus Ours", Reference: figures.Zero("Ours"),
		Bands: "Bands: 95% interval over 8 seeds."}
}

// forgetting is the difference of a kind of forgetting to Ours, by the number of steps.
func (s stream) forgetting(rows []figures.Row, kind string) (figures.Series, error) {
	label := map[string]string{"age": "half-life", "last": "last steps"}[kind]
	out := figures.Series{Name: s.folder + " " + kind, Label: s.title + ", " + label}
	for x, steps := range memories {
		name := kind + "-" + steps
		if x == 0 {
			name = "recent"
		} else if steps == "all" {
			name = "everything"
		}
		_, interval, err := s.difference(rows, name, "ours")
		if err != nil {
			return out, err
		}
		e := interval(statistics.Level)
		out.Points = append(out.Points, figures.Point{X: float64(x), Mean: e.Mean / 100, Low: e.Low / 100, High: e.High / 100, N: e.N})
	}
	return out, nil
}

// chooseForgetting returns the rows of chosen: at each step of a seed the accuracy of the way to forget whose mean
// accuracy at the seed's steps before is the highest; at the first step Everything.
func chooseForgetting(rows []figures.Row) (out []figures.Row) {
	bySeed := map[int64]map[int]map[string]figures.Row{}
	for _, r := range rows {
		if r.Metric != "accuracy" {
			continue
		}
		if bySeed[r.Seed] == nil {
			bySeed[r.Seed] = map[int]map[string]figures.Row{}
		}
		if bySeed[r.Seed][r.T] == nil {
			bySeed[r.Seed][r.T] = map[string]figures.Row{}
		}
		bySeed[r.Seed][r.T][r.Series] = r
	}
	for _, steps := range bySeed {
		total := map[string]float64{}
		for _, t := range slices.Sorted(maps.Keys(steps)) {
			best := slices.MaxFunc(forgetters, func(a, b string) int { return cmp.Compare(total[a], total[b]) })
			r := steps[t][best]
			r.Series = chosen
			out = append(out, r)
			for _, name := range forgetters {
				total[name] += steps[t][name].Value
			}
		}
	}
	return out
}
