package export

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"tvps/replicate/runs"
)

// Print writes the comparison as text: a table for each group, then the runs of only one side, counted, or listed if
// all is true.
func (c *Comparison) Print(w io.Writer, all bool) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, g := range c.Groups {
		fmt.Fprintf(out, "%s: %s\n", c.title(i), strings.Join(g.remarks(), ", "))
		fmt.Fprintln(out, "  metric\tmean A\tmean B\tB minus A\t95% interval\tlargest\tidentical\tsteps\tseeds")
		for _, d := range g.Metrics {
			fmt.Fprintf(out, "  %s\n", strings.Join(d.cells(), "\t"))
		}
		fmt.Fprintln(out)
	}
	for _, side := range []struct {
		name string
		runs []Run
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		if len(side.runs) == 0 {
			continue
		}
		fmt.Fprintf(out, "Only in %s: %s (%s)\n", side.name, runs.Plural(len(side.runs), "run"), counted(side.runs))
		for _, r := range side.runs {
			if all {
				fmt.Fprintf(out, "  %s/%s seed %d\t%s\t%s\n", r.Experiment, r.Learner, r.Seed, r.ID, canonical(r.Settings))
			}
		}
	}
	return out.Flush()
}

// cells are the columns of one metric.
func (d Difference) cells() []string {
	if d.Rows == 0 {
		return []string{d.Metric, "", "", "none", "", "",
			fmt.Sprintf("0 of 0 rows, %d without a partner", d.Unpaired), "0", "0"}
	}
	interval, largest := "none (one seed)", "0"
	if d.Low != nil {
		interval = fmt.Sprintf("[%s, %s]", signed(*d.Low), signed(*d.High))
	}
	if d.Largest.Absolute > 0 {
		largest = fmt.Sprintf("%.3g (seed %d, t %d)", d.Largest.Absolute, d.Largest.Seed, d.Largest.T)
	}
	identical := fmt.Sprintf("%d of %s", d.Identical, runs.Plural(d.Rows, "row"))
	if d.Unpaired > 0 {
		identical += fmt.Sprintf(", %d without a partner", d.Unpaired)
	}
	return []string{d.Metric, fmt.Sprintf("%.5g", d.MeanA), fmt.Sprintf("%.5g", d.MeanB), signed(d.Mean), interval,
		largest, identical, fmt.Sprint(d.Steps), fmt.Sprint(d.Seeds)}
}

// signed writes a difference with its sign; zero has none.
func signed(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%+.3g", v)
}

// title names a group: experiment, learner, and the settings by which it differs from other groups of the same
// experiment and learner.
func (c *Comparison) title(i int) string {
	g := c.Groups[i]
	title := side(g.Experiment, g.A["experiment"], g.B["experiment"]) + "/" + side(g.Learner, g.A["learner"],
		g.B["learner"])
	own := g.labels()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		varies := slices.ContainsFunc(c.Groups, func(other Group) bool {
			return other.Experiment == g.Experiment && other.Learner == g.Learner && other.labels()[name] != own[name]
		})
		if varies || strings.Contains(own[name], arrow) {
			title += fmt.Sprintf(", %s %s", name, own[name])
		}
	}
	return title
}

const arrow = " -> "

// side is the value that both sides share, or both values.
func side(common, a, b string) string {
	switch {
	case common != "":
		return common
	case a == b:
		return shown(a)
	}
	return shown(a) + arrow + shown(b)
}

func shown(value string) string {
	if value == "" {
		return "(none)"
	}
	return value
}

// labels are the settings of a group, as "20", or "go -> xla:cpu" if its sides differ.
func (g Group) labels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, g.Settings)
	for _, free := range []map[string]string{g.A, g.B} {
		for name := range free {
			if name != "experiment" && name != "learner" {
				labels[name] = side("", g.A[name], g.B[name])
			}
		}
	}
	return labels
}

// remarks are the number of seeds and how the sides differ.
func (g Group) remarks() []string {
	out := []string{runs.Plural(len(g.Seeds), "seed")}
	for _, name := range slices.Sorted(maps.Keys(g.Differing)) {
		out = append(out, fmt.Sprintf("%s differs at %s", name, runs.Plural(g.Differing[name], "seed")))
	}
	if g.StepsOnlyA > 0 {
		out = append(out, runs.Plural(g.StepsOnlyA, "step")+" only in A")
	}
	if g.StepsOnlyB > 0 {
		out = append(out, runs.Plural(g.StepsOnlyB, "step")+" only in B")
	}
	return out
}

// counted is "gaussian/ours 2, gaussian/recent 1".
func counted(list []Run) string {
	count := map[string]int{}
	for _, r := range list {
		count[r.Experiment+"/"+r.Learner]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, count[name]))
	}
	return strings.Join(parts, ", ")
}

// Nearest says in which settings two runs without a partner differ, one of each side, of the same experiment and
// learner and with the fewest differences: "gaussian/ours: epochs 20 -> 5". It is empty if there are no such runs.
func (c *Comparison) Nearest() string {
	best, fewest := "", 0
	for _, a := range c.OnlyA {
		for _, b := range c.OnlyB {
			if a.Experiment != b.Experiment || a.Learner != b.Learner {
				continue
			}
			if list := changes(a, b); best == "" || len(list) < fewest {
				best, fewest = fmt.Sprintf("%s/%s: %s", a.Experiment, a.Learner, strings.Join(list, ", ")), len(list)
			}
		}
	}
	return best
}

// changes lists the settings that differ between two runs and must match.
func changes(a, b Run) []string {
	var out []string
	names := map[string]string{}
	maps.Copy(names, a.Settings)
	maps.Copy(names, b.Settings)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a.Settings[name] != b.Settings[name] && !slices.Contains(slices.Concat(identity, seedIdentity), name) {
			out = append(out, name+" "+side("", a.Settings[name], b.Settings[name]))
		}
	}
	if a.Seed != b.Seed {
		out = append(out, fmt.Sprintf("seed %d%s%d", a.Seed, arrow, b.Seed))
	}
	return out
}
