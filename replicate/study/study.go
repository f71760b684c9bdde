// Package study compares the alternatives to the interpretations with the defaults: one table for each scenario, one
// row for each alternative. INTERPRETATIONS.md holds the tables; package paper declares them.
package study

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// Options are what a user chooses for the study. Panels are the scenarios; Learners are not used.
type Options struct {
	lab.Options
	Rows   []string // names of alternatives; empty for all but the slow ones
	Update string   // file whose tables are rewritten by UpdateTables; empty for none
}

// Plan is one table of the study: a scenario with the default settings and alternatives.
type Plan struct {
	Key     string // of the scenario
	Table   paper.Table
	Default lab.PanelPlan
	Rows    []RowPlan
	Left    []LeftOut
}

// RowPlan is an alternative with its settings and runs.
type RowPlan struct {
	lab.PanelPlan
	Alternative paper.Alternative
	Changed     []string // the settings that differ from the default, as name=value
}

// isDefault tells whether a row about settings has those of the default.
func (r RowPlan) isDefault() bool { return len(r.Alternative.Set) > 0 && len(r.Changed) == 0 }

// checkSeries returns an error if one of the learners does not fit the settings.
func (r RowPlan) checkSeries() error {
	for _, name := range r.Series {
		if err := r.Settings.CheckSeries(name, r.Measure); err != nil {
			return err
		}
	}
	return nil
}

// LeftOut is an alternative that is not a row of this table, with the reason.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Keys lists the keys of the tables: their scenarios.
func Keys(tables []paper.Table) []string {
	var keys []string
	for _, t := range tables {
		keys = append(keys, t.Key)
	}
	return keys
}

// Plans resolves the options into tables with the settings of their rows, without runs. All its errors are usage
// errors.
func Plans(c lab.Catalog, tables []paper.Table, o Options) ([]Plan, error) {
	keys := Keys(tables)
	for _, key := range o.Panels {
		if !slices.Contains(keys, key) {
			return nil, usage.Errorf("the study has no scenario %q; did you mean %q? (%s)",
				key, experiment.Nearest(key, keys), strings.Join(keys, ", "))
		}
	}
	if len(o.Rows) > 0 && o.Update != "" {
		return nil, usage.Errorf("--update rewrites whole tables: leave out --row")
	}
	with := slices.DeleteFunc(slices.Clone(tables), func(t paper.Table) bool { return !c.HasScale(t.Scenario, o.Scale) })
	if len(o.Panels) == 0 && len(with) > 0 {
		tables, keys = with, Keys(with)
	}
	o.Overrides = slices.Concat(stepsOf(Keys(tables), o.Scale), o.Overrides)
	o.Learners, o.AllFigures = nil, true
	var declared paper.Figure
	for _, t := range tables {
		declared.Panels = append(declared.Panels, t.Panel)
	}
	panels, err := c.Panels(declared, o.Options)
	if err != nil {
		return nil, err
	}
	var out []Plan
	for _, p := range panels {
		t := tables[slices.Index(keys, p.Key)]
		if t.Seeds != "" && len(o.Seeds) == 0 {
			if p.Seeds, err = lab.ParseSeeds(t.Seeds); err != nil {
				return nil, err
			}
		}
		out = append(out, Plan{Key: p.Key, Table: t, Default: p})
	}
	if err := checkRows(out, o.Rows); err != nil {
		return nil, err
	}
	for i := range out {
		if err := out[i].addRows(o.Rows); err != nil {
			return nil, err
		}
		out[i].Default.Key += "/default"
	}
	return out, nil
}

// stepsOf returns those of paper.StudySteps that concern tables.
func stepsOf(keys []string, scale experiment.Scale) (out []string) {
	for _, set := range paper.StudySteps[scale] {
		if key, _, _ := strings.Cut(set, "."); slices.Contains(keys, key) {
			out = append(out, set)
		}
	}
	return out
}

// checkRows returns a usage error if a named row exists in none of the chosen tables.
func checkRows(plans []Plan, names []string) error {
	var known []string
	for _, p := range plans {
		for _, a := range p.Table.Alternatives {
			known = append(known, a.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			slices.Sort(known)
			return usage.Errorf("there is no row %q here; did you mean %q? (%s)",
				name, experiment.Nearest(name, known), strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}

// addRows plans the alternatives of these names, or all if no name is given.
func (p *Plan) addRows(names []string) error {
	for _, a := range p.Table.Alternatives {
		if len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		row, err := p.row(a)
		if err != nil {
			return usage.Errorf("row %s of %s: %w", a.Name, p.Key, err)
		}
		if row.isDefault() && !a.Literal {
			p.Left = append(p.Left, LeftOut{a.Name, "it is the default here"})
			continue
		}
		if err := row.checkSeries(); err != nil {
			p.Left = append(p.Left, LeftOut{a.Name, err.Error()})
			continue
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// row plans one alternative. Its settings override those of the default.
func (p *Plan) row(a paper.Alternative) (RowPlan, error) {
	row := RowPlan{PanelPlan: p.Default, Alternative: a}
	row.Key += "/" + a.Name
	row.Series = p.Table.Compared
	if a.Series != nil {
		row.Series = slices.Concat(row.Series[:1], a.Series)
	}
	for _, o := range a.Set {
		name, value, err := experiment.Split(o)
		if err != nil {
			return RowPlan{}, err
		}
		before := row.Settings
		if row.Settings, err = before.With(name, value); err != nil {
			return RowPlan{}, err
		}
		if row.Settings != before {
			row.Changed = append(row.Changed, o)
		}
	}
	row.Settings = row.Settings.Thin(max(1, a.Every))
	if err := row.Settings.Validate(); err != nil {
		return RowPlan{}, err
	}
	return row, nil
}

// withRuns returns Plans with the runs. A row has the base and those of its learners that its settings can change:
// their specs differ from the default's. Slow rows are left out below the paper's scale, unless they are named or all
// their runs are stored.
func withRuns(l *lab.Lab, tables []paper.Table, o Options) ([]Plan, error) {
	plans, err := Plans(l.Catalog, tables, o)
	if err != nil {
		return nil, err
	}
	for i := range plans {
		plan := &plans[i]
		if err := plan.Default.AddJobs(l); err != nil {
			return nil, err
		}
		known := map[string]bool{}
		for _, job := range plan.Default.Jobs {
			known[job.Spec.ID()] = true
		}
		rows := plan.Rows
		plan.Rows = nil
		skipSlow := o.Scale != experiment.Paper && len(o.Rows) == 0
		for _, row := range rows {
			if err := row.AddJobs(l); err != nil {
				return nil, err
			}
			row.keep(row.Jobs, known)
			if a := row.Alternative; skipSlow && a.Slow != "" && !row.Stored(l.Store) {
				why := fmt.Sprintf("it takes about %s on two cores; `--row %s` makes it", a.Slow, a.Name)
				plan.Left = append(plan.Left, LeftOut{a.Name, why})
				continue
			}
			plan.Rows = append(plan.Rows, row)
		}
	}
	return plans, nil
}

// keep keeps the jobs of the base and those that are not known from the default. A row without changed settings keeps
// all jobs.
func (r *RowPlan) keep(jobs []runs.Wanted, known map[string]bool) {
	series := []string{r.Series[0]}
	r.Jobs = nil
	for _, job := range jobs {
		if job.Series != series[0] && known[job.Spec.ID()] && len(r.Changed) > 0 {
			continue
		}
		r.Jobs = append(r.Jobs, job)
		if !slices.Contains(series, job.Series) {
			series = append(series, job.Series)
		}
	}
	r.Series = series
}

// Make computes the missing runs of the study, prints its tables, and writes them to the folder o.Out and into the
// file o.Update if it is not empty. If some runs failed it returns a result together with an error: the cells of
// these runs say "not run", and o.Update is not changed.
func Make(ctx context.Context, l *lab.Lab, tables []paper.Table, o Options) (*Result, error) {
	plans, err := withRuns(l, tables, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	if o.Update != "" {
		if err := updateFile(o.Update, plans, nil); err != nil {
			return nil, err
		}
	}
	var all []lab.PanelPlan
	for _, plan := range plans {
		all = append(all, plan.Default)
		for _, row := range plan.Rows {
			all = append(all, row.PanelPlan)
		}
	}
	report, err := l.Execute(ctx, all, o.Workers)
	if err != nil {
		return nil, err
	}
	r := &Result{Report: report, Record: lab.RecordOf(o.Options, all, l.Provenance(), report)}
	if report.Interrupted {
		return r, report.Err()
	}
	for _, plan := range plans {
		r.Tables = append(r.Tables, newTable(l, Keys(tables), o, plan, r))
	}
	if err := finish(l, o, plans, r); err != nil {
		return r, err
	}
	return r, report.Err()
}

// finish prints and writes the tables. It does not update a file with tables that lack runs.
func finish(l *lab.Lab, o Options, plans []Plan, r *Result) error {
	page := "# What the alternatives to the interpretations do\n\n" + legend
	for _, table := range r.Tables {
		if err := table.print(l.Stdout); err != nil {
			return err
		}
		page += "\n## " + table.Scenario + "\n\n" + table.markdown()
	}
	var csv bytes.Buffer
	if err := figures.WriteCSV(&csv, r.rows); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"study.md": []byte(page), "study.csv": csv.Bytes()} {
		if err := artifact.Replace(filepath.Join(o.Out, name), text, 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	if err := lab.WriteJSON(filepath.Join(o.Out, "study.json"), r); err != nil {
		return err
	}
	fmt.Fprintf(l.Stdout, "Study: %s\n", filepath.Join(o.Out, "study.md"))
	if o.Update == "" || r.Report.Err() != nil {
		return nil
	}
	if err := updateFile(o.Update, plans, r.Tables); err != nil {
		return err
	}
	_, err := fmt.Fprintf(l.Stdout, "Tables rewritten: %s\n", o.Update)
	return err
}

// updateFile writes the tables between their marks in a file. If tables is nil it only checks that the marks of the
// plans exist.
func updateFile(path string, plans []Plan, tables []Table) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--update: %w", err)
	}
	blocks := map[string]string{}
	for i, plan := range plans {
		blocks[plan.Key] = ""
		if tables != nil {
			blocks[plan.Key] = tables[i].markdown()
		}
	}
	updated, err := UpdateTables(text, blocks)
	if err != nil {
		return fmt.Errorf("--update %s: %w", path, err)
	}
	if tables == nil {
		return nil
	}
	if err := artifact.Replace(path, updated, 0o644); err != nil {
		return fmt.Errorf("--update %s: %w", path, err)
	}
	return nil
}
