package paper

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
	"tvps/replicate/usage"

	"github.com/google/renameio/v2"
)

// StudyOptions are what a user chooses for the study. Panels are the scenarios, Learners
// are not used.
type StudyOptions struct {
	Options
	Rows   []string // names of alternatives; empty for all but the slow ones
	Update string   // file whose tables are rewritten, see UpdateTables; empty for none
}

// StudyPlan is one table of the study: a scenario under the default and alternatives.
type StudyPlan struct {
	Key     string // of the scenario
	Default PanelPlan
	Rows    []StudyRowPlan
	Left    []LeftOut
}

// StudyRowPlan is an alternative with its settings and runs.
type StudyRowPlan struct {
	PanelPlan
	Alternative Alternative
	Changed     []string // the settings, as name=value, that are not the default's
}

// LeftOut is an alternative that is not a row of this table, and why.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Studies lists the scenarios of the study.
func Studies() []string {
	var keys []string
	for _, p := range study.Panels {
		keys = append(keys, p.Key)
	}
	return keys
}

// StudySettings resolves the options into the tables with the settings of their rows,
// without runs. All its errors are mistakes of the user's.
func StudySettings(o StudyOptions) ([]StudyPlan, error) {
	for _, key := range o.Panels {
		if !slices.Contains(Studies(), key) {
			return nil, usage.Errorf("the study has no scenario %q; did you mean %q? (%s)", key, settings.Nearest(key, Studies()), strings.Join(Studies(), ", "))
		}
	}
	if len(o.Rows) > 0 && o.Update != "" {
		return nil, usage.Errorf("--update rewrites whole tables: leave out --row")
	}
	o.Overrides = slices.Concat(studySteps[o.Scale], o.Overrides)
	o.Learners, o.Across = nil, true
	panels, err := PanelSettings(study, o.Options)
	if err != nil {
		return nil, err
	}
	if err := checkRows(panels, o.Rows); err != nil {
		return nil, err
	}
	var out []StudyPlan
	for _, p := range panels {
		plan := StudyPlan{Key: p.Key, Default: p}
		plan.Default.Key += "/default"
		for _, a := range alternatives[p.Key] {
			if len(o.Rows) > 0 && !slices.Contains(o.Rows, a.Name) {
				continue
			}
			row, err := a.plan(p)
			if err != nil {
				return nil, usage.Errorf("row %s of %s: %w", a.Name, p.Key, err)
			}
			if len(row.Changed) == 0 && !a.Literal {
				plan.Left = append(plan.Left, LeftOut{a.Name, "it is the default here"})
				continue
			}
			plan.Rows = append(plan.Rows, row)
		}
		out = append(out, plan)
	}
	return out, nil
}

// checkRows tells whether the named rows exist in the chosen tables.
func checkRows(panels []PanelPlan, names []string) error {
	var known []string
	for _, p := range panels {
		for _, a := range alternatives[p.Key] {
			known = append(known, a.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			slices.Sort(known)
			return usage.Errorf("there is no row %q here; did you mean %q? (%s)", name, settings.Nearest(name, known), strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}

// plan gives the alternative its settings over the default's.
func (a Alternative) plan(p PanelPlan) (StudyRowPlan, error) {
	row := StudyRowPlan{PanelPlan: p, Alternative: a}
	row.Key += "/" + a.Name
	row.Series = p.Settings.compared()
	if a.Series != nil {
		row.Series = slices.Concat(row.Series[:1], a.Series)
	}
	for _, o := range a.Set {
		name, value, err := splitOverride(o)
		if err != nil {
			return row, err
		}
		before := row.Settings
		if row.Settings, err = before.With(name, value); err != nil {
			return row, err
		}
		if row.Settings != before {
			row.Changed = append(row.Changed, o)
		}
	}
	row.Settings = row.Settings.Thin(max(1, a.Every))
	return row, row.Settings.Validate()
}

// PlanStudy adds the runs. A row has those of its learners that its settings can change,
// told by their specs, and Everything, whose run is that of the default where it is the
// same. Slow rows are left out below the paper's scale unless they are named, or all of
// their runs are there.
func (l *Lab) PlanStudy(o StudyOptions) ([]StudyPlan, error) {
	plans, err := StudySettings(o)
	if err != nil {
		return nil, err
	}
	for i := range plans {
		plan := &plans[i]
		d := &plan.Default
		if d.Jobs, err = d.Settings.jobs(l, d.Series, d.Seeds, d.Measure); err != nil {
			return nil, err
		}
		known := map[string]bool{}
		for _, job := range d.Jobs {
			known[job.Spec.ID()] = true
		}
		rows := plan.Rows
		plan.Rows = nil
		for _, row := range rows {
			jobs, err := row.Settings.jobs(l, row.Series, row.Seeds, row.Measure)
			if err != nil {
				return nil, err
			}
			row.keep(jobs, known)
			if a := row.Alternative; a.Slow != "" && o.Scale != "paper" && len(o.Rows) == 0 && !l.stored(row.Jobs) {
				plan.Left = append(plan.Left, LeftOut{a.Name, fmt.Sprintf("it takes about %s on two cores; `--row %s` makes it", a.Slow, a.Name)})
				continue
			}
			plan.Rows = append(plan.Rows, row)
		}
	}
	return plans, nil
}

// keep takes the jobs that are not known from the default, and Everything. In a row that
// is the default all are.
func (r *StudyRowPlan) keep(jobs []runs.Wanted, known map[string]bool) {
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

// stored tells whether all of the runs are there.
func (l *Lab) stored(jobs []runs.Wanted) bool {
	return !slices.ContainsFunc(jobs, func(j runs.Wanted) bool { return l.Store.State(j.Spec, j.Steps).Kind != runs.Done })
}

// Study computes what is missing of the study, prints its tables, writes them to the
// folder o.Out, and into the file o.Update if there is one.
func (l *Lab) Study(ctx context.Context, o StudyOptions) (*StudyResult, error) {
	plans, err := l.PlanStudy(o)
	if err != nil {
		return nil, err
	}
	if err := o.checkOut(); err != nil {
		return nil, err
	}
	if o.Update != "" {
		if err := updateFile(o.Update, plans, nil); err != nil {
			return nil, err
		}
	}
	var all []PanelPlan
	for _, plan := range plans {
		all = append(all, plan.Default)
		for _, row := range plan.Rows {
			all = append(all, row.PanelPlan)
		}
	}
	report, err := l.execute(ctx, all, o.Options)
	if err != nil {
		return nil, err
	}
	r := &StudyResult{Report: report, Record: recordOf(o.Options, all, l.provenance(), report)}
	if report.Interrupted {
		return r, report.Err()
	}
	for _, plan := range plans {
		r.Tables = append(r.Tables, l.studyTable(o, plan, r))
	}
	if err := l.finishStudy(o, plans, r); err != nil {
		return r, err
	}
	return r, report.Err()
}

// finishStudy prints and writes the tables. A file is not updated with tables that lack
// runs.
func (l *Lab) finishStudy(o StudyOptions, plans []StudyPlan, r *StudyResult) error {
	page := "# " + study.Title + "\n\n" + studyLegend
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
		if err := renameio.WriteFile(filepath.Join(o.Out, name), text, 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	if err := writeJSON(filepath.Join(o.Out, "study.json"), r); err != nil {
		return err
	}
	fmt.Fprintf(l.Stdout, "Study: %s\n", filepath.Join(o.Out, "study.md"))
	if o.Update == "" || r.Report.Err() != nil {
		return nil
	}
	if err := updateFile(o.Update, plans, r.Tables); err != nil {
		return err
	}
	_, err := fmt.Fprintf(l.Stdout, "Rewritten: the tables of %s\n", o.Update)
	return err
}

// updateFile puts tables between their marks in a file; without tables it only looks
// whether the marks of the plans are there.
func updateFile(path string, plans []StudyPlan, tables []StudyTable) error {
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
	if err := renameio.WriteFile(path, updated, 0o644); err != nil {
		return fmt.Errorf("--update %s: %w", path, err)
	}
	return nil
}
