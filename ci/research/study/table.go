package study

import (
	"fmt"
	"slices"
	"strings"

	"tvps/ci/research/grid"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/claims"
	"tvps/replicate/runs"
)

// table compares the default and its alternatives on one scenario.
type table struct {
	plan
	Command string
	Notes   []string // seeds, steps, data, models and commit, in sentences
	Steps   []int
	Rows    []row
}

// row is one alternative: the learners that it can change, compared with the base, Everything, under the same settings.
// The row without a name is the default.
type row struct {
	Alternative
	Steps    []int
	OwnBase  bool                          // the base has its own runs
	Results  map[string]figures.SummaryRow // by learner
	Lacking  []string                      // learners without a finished run
	Defaults bool                          // none of its settings differs from the default
}

// legend explains the cells.
const legend = `Accuracy of Everything in percent, and of the other learners minus Everything under the same settings
in percentage points. Means over seeds with the 95% interval (Student's t over seeds, paired by seed and step).
A cell is empty if the settings cannot change it, or if the row does not include the learner.
Tables about g alone have its logistic loss on validation samples, and the difference to that of the default.
`

// nameOfDefault is the series of the default where rows are compared with it.
const nameOfDefault = "default"

// newTable summarises the runs of a plan.
func newTable(o Options, p plan, report runs.Report) table {
	d := claims.Collect(p.Default, report.Results)
	t := table{plan: p, Command: command(o, p.Key), Steps: d.Settings.PlannedSteps()}
	t.Notes = append(t.Notes, fmt.Sprintf("Seeds %s; %s of %d.", list(d.Seeds), steps(t.Steps), d.Settings.Length()))
	t.Notes = append(t.Notes, d.Settings.Notes(d.Source, d.Series, d.Measure)...)
	t.Rows = append(t.Rows, summarise(d, row{OwnBase: true}, nil))
	var compared []figures.Row // those of the default, with its name as the series
	if t.ByRow {
		compared = renamed(d.Written(d.Rows()), "", nameOfDefault)
	}
	base := idsOf(p.Default)
	for _, p := range p.Rows {
		r := row{Alternative: p.Alternative, Defaults: p.isDefault()}
		r.OwnBase = r.Defaults || !base[p.Jobs[0].Spec.ID()]
		if !r.Defaults {
			r.Set = p.Changed
		}
		t.Rows = append(t.Rows, summarise(claims.Collect(p.Panel, report.Results), r, compared))
	}
	return t
}

// summarise returns the row with the results of a panel's runs. They are compared with each other, or with those of the
// default if there are any.
func summarise(c claims.Collected, r row, compared []figures.Row) row {
	rows, base := c.Written(c.Rows()), c.Series[0]
	r.Steps, r.Results = c.Settings.PlannedSteps(), map[string]figures.SummaryRow{}
	if len(compared) > 0 {
		rows, base = append(rows, renamed(compared, c.Key, nameOfDefault)...), nameOfDefault
	}
	if summary, err := figures.Table(rows, c.Key, c.Shown().String(), base); err == nil {
		for _, s := range summary.Rows {
			r.Results[s.Series] = s
		}
	}
	for _, name := range c.Series {
		if _, ok := r.Results[name]; !ok {
			r.Lacking = append(r.Lacking, name)
		}
	}
	return r
}

// renamed returns rows as those of another panel and series.
func renamed(rows []figures.Row, panel, series string) []figures.Row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Panel, out[i].Series = panel, series
	}
	return out
}

// command returns the command that makes one table again.
func command(o Options, key string) string {
	o.Panels = nil // the scenarios
	words := slices.Concat([]string{"go run ./ci/research study --scale", string(o.Scale)}, o.Arguments(),
		[]string{"--scenario", key})
	if len(o.Rows) > 0 {
		words = append(words, "--row", strings.Join(o.Rows, ","))
	}
	return strings.Join(words, " ")
}

// cells returns the cells of the table by line, the header first.
func (t table) cells() [][]string {
	header := append([]string{"setting", "about"}, looks.Labels(t.Series...)...)
	if t.ByRow {
		header = []string{"setting", "about", "loss", "minus the default's"}
	}
	out := [][]string{header}
	for _, r := range t.Rows {
		line := []string{t.label(r), r.About}
		if t.ByRow {
			line = append(line, t.lossCells(r)...)
		} else {
			for _, name := range t.Series {
				line = append(line, t.cell(r, name))
			}
		}
		out = append(out, line)
	}
	return out
}

// lossCells are the cells of a row that is compared with the default.
func (t table) lossCells(r row) []string {
	s, ok := r.Results[t.Series[0]]
	if !ok {
		return []string{"not run", ""}
	}
	loss := fmt.Sprintf("%.4f", s.Mean.Mean)
	if r.Name == "" {
		return []string{loss, ""}
	}
	return []string{loss, withInterval(4, s.Difference, 1)}
}

// withInterval writes a difference with its sign and, if there is one, its interval.
func withInterval(decimals int, e statistics.Estimate, factor float64) string {
	text := statistics.Signed(decimals, factor*e.Mean)
	if e.N > 1 {
		text += fmt.Sprintf(" [%s, %s]", rounded(decimals, factor*e.Low), rounded(decimals, factor*e.High))
	}
	return text
}

// label names the settings of a row and explains them.
func (t table) label(r row) string {
	if r.Name == "" {
		return "default"
	}
	var parts []string
	if len(r.Set) > 0 {
		parts = append(parts, "`"+strings.Join(r.Set, " ")+"`")
	}
	if r.Text != "" {
		parts = append(parts, r.Text)
	}
	if r.Defaults {
		parts = append(parts, "the default here")
	}
	if n := len(r.Steps); n < len(t.Steps) {
		parts = append(parts, fmt.Sprintf("%d of the steps", n))
	}
	return strings.Join(parts, ", ")
}

// cell returns the result of a learner: the accuracy of the base, or the difference to it.
func (t table) cell(r row, name string) string {
	s, ok := r.Results[name]
	base := t.Series[0]
	switch {
	case slices.Contains(r.Lacking, name):
		return "not run"
	case !ok, name == base && !r.OwnBase:
		return ""
	case name == base:
		return rounded(1, 100*s.Mean.Mean) + "%"
	}
	return withInterval(1, s.Difference, 100)
}

// rounded formats a number; it never returns minus zero.
func rounded(decimals int, v float64) string {
	return strings.TrimPrefix(statistics.Signed(decimals, v), "+")
}

// markdown returns the table with its notes.
func (t table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: `%s`.\n", t.Title, t.Command)
	for _, note := range t.Notes {
		b.WriteString(note + "\n")
	}
	b.WriteString("\n" + grid.Markdown(t.cells()))
	if len(t.Left) > 0 {
		b.WriteString("\nLeft out:\n")
	}
	for _, left := range t.Left {
		fmt.Fprintf(&b, "- %s: %s.\n", left.Name, left.Why)
	}
	return b.String()
}

// steps lists time steps; of more than 8, the first two and the last.
func steps(all []int) string {
	text := list(all)
	if n := len(all); n > 8 {
		text = fmt.Sprintf("%d, %d, ..., %d", all[0], all[1], all[n-1])
	}
	return runs.Plural(len(all), "step") + " (" + text + ")"
}

// list joins numbers with commas.
func list[N int | int64](numbers []N) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(numbers), "[]")), ", ")
}
