package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
)

// writeLimit writes the tables of a limit: at both steps the learners are so many points above Everything, seed 0 and 1
// by one point more, 2 and 3 by one less; Recent has one seed fewer.
func writeLimit(t *testing.T, folder, panel string, points float64) {
	t.Helper()
	var rows []figures.Row
	for _, series := range append([]string{"everything"}, lengthLearners...) {
		for seed := range 4 {
			if series == "recent" && seed == 3 {
				continue
			}
			for _, step := range []int{8, 19} {
				value := .8 + .01*float64(seed)
				if series != "everything" {
					value += (points + 1 - 2*float64(seed/2)) / 100
				}
				rows = append(rows, figures.Row{Panel: panel, Series: series, Seed: int64(seed), T: step, Metric: "accuracy", Value: value})
			}
		}
	}
	demand.NoError(t, figures.WriteTable("fig01-"+panel, rows, map[string]string{}, folder))
}

// TestLength: a point has the mean over seeds and the interval mean ± q 2/√3/√4 points, with Student's quantile q of
// 3.1824 at 3 degrees of freedom, as both steps have the same difference. A limit without all seeds has no point. Ours
// minus Everything changes by 3 points in each seed.
func TestLength(t *testing.T) {
	folder := t.TempDir()
	writeLimit(t, filepath.Join(folder, "100"), "c", -1)
	writeLimit(t, filepath.Join(folder, "all"), "c", 2)
	writeLimit(t, filepath.Join(folder, "300-reinit"), "b", 0)
	chart, err := lengthChart(folder, "c", "")
	demand.NoError(t, err)
	if len(chart.Series) != len(lengthLearners)-1 {
		t.Fatalf("series %v", chart.Series)
	}
	for _, s := range chart.Series {
		var got string
		for _, p := range s.Points {
			got += fmt.Sprintf("%g: %.4f ± %.4f; ", p.X, p.Mean, (p.High-p.Low)/2)
		}
		half := 3.1824 * .02 / math.Sqrt(3) / 2
		if want := fmt.Sprintf("0: -0.0100 ± %.4f; 3: 0.0200 ± %.4f; ", half, half); got != want || s.Name == "recent" {
			t.Errorf("%s: %s, want %s", s.Name, got, want)
		}
	}
	changes, err := lengthChanges(folder)
	demand.NoError(t, err)
	want := []string{"c", "one network, 3 steps, 95%", "Everything", "+3.0 [+3.0, +3.0]"}
	if len(changes) != 2 || !slices.Equal(changes[1], want) {
		t.Errorf("changes %q, want %q", changes, want)
	}
	cmd := lengthCommand()
	cmd.SetArgs([]string{"--tables", folder})
	demand.NoError(t, cmd.Execute())
	for name, want := range map[string]bool{"c.svg": true, "b-reinit.svg": true, "b.svg": false} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLengthTable: images.md has the table that the command prints.
func TestLengthTable(t *testing.T) {
	archive := filepath.Join("..", "..", "figures", "gallery", "archive")
	copied, printed := t.TempDir(), &strings.Builder{}
	folder := filepath.Join(copied, "archive", "length")
	demand.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(archive, "length"))))
	for _, figure := range []string{"fig01", filepath.Join("medium", "fig01")} {
		demand.NoError(t, os.CopyFS(filepath.Join(copied, figure), os.DirFS(filepath.Join(archive, "..", figure))))
	}
	cmd := lengthCommand()
	cmd.SetArgs([]string{"--tables", folder})
	cmd.SetOut(printed)
	demand.NoError(t, cmd.Execute())
	block, err := demand.Block(demand.Read(t, filepath.Join(archive, "images.md")), "length")
	demand.NoError(t, err)
	demand.Equal(t, block, printed.String(), "table")
}

// TestLengthPage: the tables in images.md are those of the runs at the paper's length of training, at the declared
// levels.
func TestLengthPage(t *testing.T) {
	gallery := filepath.Join("..", "..", "figures", "gallery")
	page := string(demand.Read(t, filepath.Join(gallery, "archive", "images.md")))
	for _, c := range []struct {
		figure, panels string
		level          float64
		pairs          [][2]string
	}{
		{"fig01", "bc", .975, [][2]string{{"ours", "everything"}, {"ours", "recent"}, {"ours", "finetune"},
			{"recent", "everything"}, {"recent", "finetune"}, {"finetune", "everything"}, {"ours", "pretrained"},
			{"everything", "pretrained"}, {"recent", "pretrained"}, {"finetune", "pretrained"}}},
		{"fig03", "a", .95, [][2]string{{"ours", "standard"}, {"exact", "standard"}, {"ours", "exact"},
			{"standard", "everything"}, {"exact", "everything"}}},
	} {
		lines := make([]string, len(c.pairs))
		for _, panel := range strings.Split(c.panels, "") {
			rows, err := readTable(filepath.Join(gallery, "medium", c.figure), c.figure+"-"+panel+".csv")
			demand.NoError(t, err)
			for i, pair := range c.pairs {
				m, err := claims.NewEffect(rows, paper.Part{Panel: panel, Series: pair[0], Base: pair[1]}, "accuracy", true)
				demand.NoError(t, err)
				e := m.Interval(c.level)
				mean, low, high := figures.Short(e, figures.Points)
				lines[i] += fmt.Sprintf(" %s [%s, %s] |", mean, low, high)
				demand.Equal(t, e.N, 4, "seeds of %s", pair)
			}
		}
		for i, pair := range c.pairs {
			base := looks.Of(pair[1]).Label
			base = strings.Replace(base, "Pre-trained, not adapted", "the network that is not adapted", 1)
			demand.Words(t, page, fmt.Sprintf("| %s minus %s |%s\n", looks.Of(pair[0]).Label, base, lines[i]))
		}
	}
}
