package lab

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// The study compares the alternatives to the interpretations with the defaults: one table for each scenario, one row
// for each alternative. Package paper declares the tables; measured.md in figures/gallery/archive holds them.

// StudyOptions are what a user chooses for the study. Panels are the scenarios; Learners are not used.
type StudyOptions struct {
	Options
	Rows   []string // names of alternatives; empty for all but the slow ones
	Update string   // file whose tables are rewritten, the blocks study:KEY; empty for none
}

// studyPlan is one table of the study: a scenario with the default settings and alternatives.
type studyPlan struct {
	Key     string // of the scenario
	Table   paper.Table
	Default claims.Panel
	Rows    []studyRowPlan
	Left    []leftOut
}

// studyRowPlan is an alternative with its settings and runs.
type studyRowPlan struct {
	claims.Panel
	Alternative paper.Alternative
	Changed     []string // the settings that differ from the default, as name=value
}

// block is the name of the table's block in a file.
func (p studyPlan) block() string { return "study:" + p.Key }

// isDefault tells whether a row about settings has those of the default.
func (r studyRowPlan) isDefault() bool { return len(r.Alternative.Set) > 0 && len(r.Changed) == 0 }

// leftOut is an alternative that is not a row of this table, with the reason.
type leftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// StudyKeys lists the keys of the tables: their scenarios.
func StudyKeys(tables []paper.Table) []string {
	var keys []string
	for _, t := range tables {
		keys = append(keys, t.Key)
	}
	return keys
}

// StudyPlans resolves the options into tables with the settings of their rows, without runs. All its errors are usage
// errors.
func (c Catalog) StudyPlans(tables []paper.Table, o StudyOptions) ([]studyPlan, error) {
	keys := StudyKeys(tables)
	if err := usage.Known("the study has no scenario", o.Panels, keys); err != nil {
		return nil, err
	}
	if len(o.Rows) > 0 && o.Update != "" {
		return nil, usage.Errorf("--update rewrites whole tables: leave out --row")
	}
	with := slices.DeleteFunc(slices.Clone(tables), func(t paper.Table) bool { return !c.hasScale(t.Scenario, o.Scale) })
	if len(o.Panels) == 0 && len(with) > 0 {
		tables, keys = with, StudyKeys(with)
	}
	o.Overrides = slices.Concat(stepsOf(StudyKeys(tables), o.Scale), o.Overrides)
	o.Learners, o.AllFigures = nil, true
	var declared paper.Figure
	for _, t := range tables {
		declared.Panels = append(declared.Panels, t.Panel)
	}
	panels, err := c.Panels(declared, o.Options)
	if err != nil {
		return nil, err
	}
	var out []studyPlan
	for _, p := range panels {
		t := tables[slices.Index(keys, p.Key)]
		if t.Seeds != "" && len(o.Seeds) == 0 {
			if p.Seeds, err = claims.ParseSeeds(t.Seeds); err != nil {
				return nil, err
			}
		}
		out = append(out, studyPlan{Key: p.Key, Table: t, Default: p})
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
func checkRows(plans []studyPlan, names []string) error {
	var known []string
	for _, p := range plans {
		for _, a := range p.Table.Alternatives {
			known = append(known, a.Name)
		}
	}
	slices.Sort(known)
	return usage.Known("the chosen scenarios have no row", names, slices.Compact(known))
}

// addRows plans the alternatives of these names, or all if no name is given.
func (p *studyPlan) addRows(names []string) error {
	for _, a := range p.Table.Alternatives {
		if len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		row, err := p.row(a)
		if err != nil {
			return usage.Errorf("row %s of %s: %w", a.Name, p.Key, err)
		}
		if row.isDefault() && !a.Literal {
			p.Left = append(p.Left, leftOut{a.Name, "it is the default here"})
			continue
		}
		if err := checkSeries(row.Panel); err != nil {
			p.Left = append(p.Left, leftOut{a.Name, err.Error()})
			continue
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// row plans one alternative. Its settings override those of the default.
func (p *studyPlan) row(a paper.Alternative) (studyRowPlan, error) {
	row := studyRowPlan{Panel: p.Default, Alternative: a}
	row.Key += "/" + a.Name
	row.Series = p.Table.Compared
	if a.Series != nil {
		row.Series = slices.Concat(row.Series[:1], a.Series)
	}
	for _, o := range a.Set {
		name, value, err := experiment.Split(o)
		if err != nil {
			return studyRowPlan{}, err
		}
		before := row.Settings
		if row.Settings, err = before.With(name, value); err != nil {
			return studyRowPlan{}, err
		}
		if row.Settings != before {
			row.Changed = append(row.Changed, o)
		}
	}
	row.Settings = row.Settings.Thin(max(1, a.Every))
	if err := row.Settings.Validate(); err != nil {
		return studyRowPlan{}, err
	}
	return row, nil
}

// studyPlans returns StudyPlans with the runs. A row has the base and those of its learners that its settings can
// change: their specs differ from the default's. Slow rows are left out below the paper's scale, unless they are named
// or all their runs are stored.
func (l *Lab) studyPlans(tables []paper.Table, o StudyOptions) ([]studyPlan, error) {
	plans, err := l.StudyPlans(tables, o)
	if err != nil {
		return nil, err
	}
	skipSlow := o.Scale != experiment.Paper && len(o.Rows) == 0
	for i := range plans {
		plan := &plans[i]
		if err := l.AddJobs(&plan.Default); err != nil {
			return nil, err
		}
		rows := plan.Rows
		plan.Rows = nil
		for _, row := range rows {
			if err := l.AddJobs(&row.Panel); err != nil {
				return nil, err
			}
			row.keep(idsOf(plan.Default))
			if a := row.Alternative; skipSlow && a.Slow != "" && !row.Stored(l.Store) {
				why := fmt.Sprintf("about %s on two cores, with `--row`", a.Slow)
				plan.Left = append(plan.Left, leftOut{a.Name, why})
				continue
			}
			plan.Rows = append(plan.Rows, row)
		}
	}
	return plans, nil
}

// idsOf is the set of the identities of the panels' runs.
func idsOf(panels ...claims.Panel) map[string]bool {
	out := map[string]bool{}
	for _, p := range panels {
		for _, job := range p.Jobs {
			out[job.Spec.ID()] = true
		}
	}
	return out
}

// keep keeps the jobs of the base and those that are not known from the default. A row without changed settings keeps
// all jobs.
func (r *studyRowPlan) keep(known map[string]bool) {
	base := r.Series[0]
	r.Jobs = slices.DeleteFunc(r.Jobs, func(job runs.Wanted) bool {
		return job.Series != base && known[job.Spec.ID()] && len(r.Changed) > 0
	})
	var learners []string
	for _, job := range r.Jobs {
		learners = append(learners, job.Series)
	}
	r.Series = withBase(base, learners)
}

// Study computes the missing runs of the study, prints its tables, and writes them to the folder o.Out and into the
// file o.Update if it is not empty. If some runs failed it returns a result together with an error: the cells of
// these runs say "not run", and o.Update is not changed.
func (l *Lab) Study(ctx context.Context, tables []paper.Table, o StudyOptions) (*studyResult, error) {
	plans, err := l.studyPlans(tables, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	if o.Update != "" { // its marks are missed before anything is computed
		for _, plan := range plans {
			if err := CheckBlock(o.Update, plan.block()); err != nil {
				return nil, fmt.Errorf("--update: %w", err)
			}
		}
	}
	var all []claims.Panel
	for _, plan := range plans {
		all = append(all, plan.Default)
		for _, row := range plan.Rows {
			all = append(all, row.Panel)
		}
	}
	report, err := l.execute(ctx, ranked(all, false), o.Workers, nil)
	if err != nil {
		return nil, err
	}
	r := &studyResult{Report: report}
	if report.Unfinished > 0 {
		return r, report.Err()
	}
	r.Record = claims.NewRecord(o.Scale, l.Provenance(), collect(all, report))
	for _, plan := range plans {
		table, rows := newStudyTable(StudyKeys(tables), o, plan, report)
		table.Notes = append(table.Notes, "Commit "+shortCommit(r.Record.MadeBy)+".")
		r.Tables, r.rows = append(r.Tables, table), append(r.rows, rows...)
	}
	if err := l.writeStudy(o, plans, r); err != nil {
		return r, err
	}
	return r, report.Err()
}

// writeStudy prints and writes the tables. It does not update a file with tables that lack runs.
func (l *Lab) writeStudy(o StudyOptions, plans []studyPlan, r *studyResult) error {
	page := "# What the alternatives to the interpretations do\n\n" + legend
	for _, table := range r.Tables {
		page += "\n## " + table.Scenario + "\n\n" + table.markdown()
	}
	var csv bytes.Buffer
	if err := figures.WriteCSV(&csv, r.rows); err != nil {
		return err
	}
	if err := writeFiles(o.Out, map[string][]byte{"study.md": []byte(page), "study.csv": csv.Bytes()}); err != nil {
		return err
	}
	if err := WriteJSON(filepath.Join(o.Out, "study.json"), r); err != nil {
		return err
	}
	fmt.Fprintf(l.Stdout, "%s\nStudy: %s\n", page, filepath.Join(o.Out, "study.md"))
	if o.Update == "" || r.Report.Err() != nil {
		return nil
	}
	for i, plan := range plans {
		if err := RewriteBlock(o.Update, plan.block(), "\n"+r.Tables[i].markdown()+"\n"); err != nil {
			return fmt.Errorf("--update: %w", err)
		}
	}
	_, err := fmt.Fprintf(l.Stdout, "Tables rewritten: %s\n", o.Update)
	return err
}
