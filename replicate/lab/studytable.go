package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// studyResult is a finished study; as JSON it is study.json.
type studyResult struct {
	Tables []studyTable  `json:"tables"`
	Record claims.Record `json:"record"`
	Report runs.Report   `json:"-"`

	rows []figures.Row // all measurements, with "scenario/row" as the panel
}

// studyTable compares the default and its alternatives on one scenario.
type studyTable struct {
	Scenario string     `json:"scenario"`
	Title    string     `json:"title"`
	Command  string     `json:"command"`
	Notes    []string   `json:"notes"` // seeds, steps, data, models and commit, in sentences
	Columns  []string   `json:"columns"`
	Steps    []int      `json:"steps"`
	Rows     []studyRow `json:"rows"`
	Left     []leftOut  `json:"left-out"`

	factor float64 // by which cells multiply the measure
	unit   string
	byRow  bool // rows are compared with the default
}

// studyRow is one alternative: the learners that it can change, compared with the base (Everything or SAC) under the
// same settings. The row without a name is the default.
type studyRow struct {
	paper.Alternative
	Steps    []int                         `json:"steps"`
	OwnBase  bool                          `json:"own-everything"` // the base has its own runs
	Results  map[string]figures.SummaryRow `json:"results"`        // by column, so by learner
	Lacking  []string                      `json:"lacking"`        // learners without a finished run
	Defaults bool                          `json:"as-default"`     // none of its settings differs from the default
}

// legend explains the cells.
const legend = `Accuracy of Everything in percent, and of the other learners minus Everything under the same settings
in percentage points. Means over seeds with the 95% interval (Student's t over seeds, paired by seed and step).
A cell is empty if the settings cannot change it, or if the row does not include the learner.
Tables about g alone have its logistic loss on validation samples, and the difference to that of the default.
`

// nameOfDefault is the series of the default where rows are compared with it.
const nameOfDefault = "default"

// newStudyTable summarises the runs of a plan. rows are their measurements.
func newStudyTable(keys []string, o StudyOptions, plan studyPlan, report runs.Report) (t studyTable, rows []figures.Row) {
	d := claims.Collect(plan.Default, report.Results)
	t = studyTable{Scenario: plan.Key, Title: d.Title, Command: studyCommand(o, keys, plan.Table),
		Columns: d.Series, Steps: d.Settings.PlannedSteps(), Left: plan.Left,
		factor: plan.Table.Factor, unit: plan.Table.Unit, byRow: plan.Table.ByRow}
	t.Notes = append(t.Notes, fmt.Sprintf("Seeds %s; %s of %d.", list(d.Seeds), steps(t.Steps), d.Settings.Length()))
	t.Notes = append(t.Notes, notes(d.Panel, nil)...)
	t.Rows = append(t.Rows, summarise(d, studyRow{OwnBase: true}, nil))
	rows = d.Written(d.Rows())
	var compared []figures.Row // those of the default, with its name as the series
	if t.byRow {
		compared = renamed(rows, "", nameOfDefault)
	}
	base := idsOf(plan.Default)
	for _, p := range plan.Rows {
		row := studyRow{Alternative: p.Alternative, Defaults: p.isDefault()}
		row.OwnBase = row.Defaults || !base[p.Jobs[0].Spec.ID()]
		if !row.Defaults {
			row.Set = p.Changed
		}
		c := claims.Collect(p.Panel, report.Results)
		t.Rows, rows = append(t.Rows, summarise(c, row, compared)), append(rows, c.Written(c.Rows())...)
	}
	return t, rows
}

// summarise returns the row with the results of a panel's runs. They are compared with each other, or with those of the
// default if there are any.
func summarise(c claims.Collected, row studyRow, compared []figures.Row) studyRow {
	rows, base := c.Written(c.Rows()), c.Series[0]
	row.Steps, row.Results = c.Settings.PlannedSteps(), map[string]figures.SummaryRow{}
	if len(compared) > 0 {
		rows, base = append(rows, renamed(compared, c.Key, nameOfDefault)...), nameOfDefault
	}
	if summary, err := figures.Table(rows, c.Key, c.Shown().String(), base); err == nil {
		for _, s := range summary.Rows {
			row.Results[row.column(s.Series)] = s
		}
	}
	for _, name := range c.Series {
		name = row.column(name)
		if _, ok := row.Results[name]; !ok {
			row.Lacking = append(row.Lacking, name)
		}
	}
	return row
}

// renamed returns rows as those of another panel and series.
func renamed(rows []figures.Row, panel, series string) []figures.Row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Panel, out[i].Series = panel, series
	}
	return out
}

// column names the column that shows a learner.
func (r studyRow) column(series string) string {
	if r.Column != "" && series == r.Series[len(r.Series)-1] {
		return r.Column
	}
	return series
}

// studyCommand returns the command that makes one table again.
func studyCommand(o StudyOptions, keys []string, table paper.Table) string {
	program := strings.TrimSpace(cmp.Or(table.Program, "./replicate study") + " " + table.Flag)
	o.Overrides = slices.DeleteFunc(slices.Clone(o.Overrides), func(set string) bool {
		part, _, _ := strings.Cut(set, ".")
		return part != table.Key && slices.Contains(keys, part)
	})
	o.Panels = nil // the scenarios
	command := strings.Join(slices.Concat([]string{"go run", program, "--scale", string(o.Scale)}, o.Arguments(),
		[]string{"--scenario", table.Key}), " ")
	if len(o.Rows) > 0 {
		command += " --row " + strings.Join(o.Rows, ",")
	}
	return command
}

// cells returns the cells of the table by line, the header first.
func (t studyTable) cells() [][]string {
	header := append([]string{"setting", "about"}, looks.Labels(t.Columns...)...)
	if t.byRow {
		header = []string{"setting", "about", "loss", "minus the default's"}
	}
	out := [][]string{header}
	for _, row := range t.Rows {
		line := []string{t.label(row), row.About}
		if t.byRow {
			line = append(line, t.lossCells(row)...)
		} else {
			for _, name := range t.Columns {
				line = append(line, t.cell(row, name))
			}
		}
		out = append(out, line)
	}
	return out
}

// lossCells are the cells of a row that is compared with the default.
func (t studyTable) lossCells(r studyRow) []string {
	name := t.Columns[0]
	s, ok := r.Results[name]
	switch {
	case !ok:
		return []string{"not run", ""}
	case r.Name == "":
		return []string{fmt.Sprintf("%.4f", s.Mean.Mean), ""}
	}
	return []string{fmt.Sprintf("%.4f", s.Mean.Mean), withInterval(4, s.Difference, 1)}
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
func (t studyTable) label(row studyRow) string {
	if row.Name == "" {
		return "default"
	}
	var parts []string
	if len(row.Set) > 0 {
		parts = append(parts, "`"+strings.Join(row.Set, " ")+"`")
	}
	if row.Text != "" {
		parts = append(parts, row.Text)
	}
	if row.Defaults {
		parts = append(parts, "the default here")
	}
	if n := len(row.Steps); n < len(t.Steps) {
		parts = append(parts, fmt.Sprintf("%d of the steps", n))
	}
	return strings.Join(parts, ", ")
}

// cell returns the result of a learner: the measure of the base, or the difference to it.
func (t studyTable) cell(r studyRow, name string) string {
	s, ok := r.Results[name]
	base := t.Columns[0]
	switch {
	case slices.Contains(r.Lacking, name):
		return "not run"
	case !ok, name == base && !r.OwnBase:
		return ""
	case name == base:
		return rounded(1, t.factor*s.Mean.Mean) + t.unit
	}
	return withInterval(1, s.Difference, t.factor)
}

// rounded formats a number; it never returns minus zero.
func rounded(decimals int, v float64) string {
	return strings.TrimPrefix(statistics.Signed(decimals, v), "+")
}

// markdown returns the table with its notes.
func (t studyTable) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: `%s`.\n", t.Title, t.Command)
	for _, note := range t.Notes {
		b.WriteString(note + "\n")
	}
	b.WriteString("\n" + figures.Markdown(t.cells()))
	if len(t.Left) > 0 {
		b.WriteString("\nLeft out:\n")
	}
	var reasons []string
	names := map[string][]string{} // by reason
	for _, left := range t.Left {
		if names[left.Why] == nil {
			reasons = append(reasons, left.Why)
		}
		names[left.Why] = append(names[left.Why], left.Name)
	}
	for _, why := range reasons {
		fmt.Fprintf(&b, "- %s: %s.\n", strings.Join(names[why], ", "), why)
	}
	return b.String()
}

// steps lists time steps; of more than 8, the first two and the last.
func steps(all []int) string {
	text := list(all)
	if n := len(all); n > 8 {
		text = fmt.Sprintf("%d, %d, ..., %d", all[0], all[1], all[n-1])
	}
	if len(all) == 1 {
		return "1 step (" + text + ")"
	}
	return fmt.Sprintf("%d steps (%s)", len(all), text)
}

// list joins numbers with commas.
func list[N int | int64](numbers []N) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(numbers), "[]")), ", ")
}
