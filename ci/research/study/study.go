package study

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tvps/ci/demand"
	"tvps/data/artifact"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/gomlx/gomlx/support/xslices"
)

// Options are what a user chooses. Panels are the scenarios; Learners are not used.
type Options struct {
	lab.Options
	Rows   []string // names of alternatives; empty for all but the slow ones
	Update string   // file whose tables are rewritten, the blocks study:KEY; empty for none
}

// Titles of pages.
const (
	studyTitle    = "# What the alternatives to the interpretations do"
	readingsTitle = "# Verdicts by reading"
)

// checkOut returns an error if the output folder cannot be written, or if its README.md has another title: it is
// somebody else's.
func (o Options) checkOut(title string) error {
	return cmp.Or(o.CheckOut(), usage.KeepPage(filepath.Join(o.Out, pageFile), "is another page", title+"\n"))
}

const pageFile = "README.md"

// plan is one table: a scenario with the default settings and alternatives.
type plan struct {
	Table
	Default claims.Panel
	Rows    []rowPlan
	Left    []leftOut
}

// rowPlan is an alternative with its settings and runs.
type rowPlan struct {
	claims.Panel
	Alternative
	Changed []string // the settings that differ from the default, as name=value
}

// block is the name of the table's block in a file.
func (p plan) block() string { return "study:" + p.Key }

// isDefault tells whether a row about settings has those of the default.
func (r rowPlan) isDefault() bool { return len(r.Alternative.Set) > 0 && len(r.Changed) == 0 }

// leftOut is an alternative that is not a row of this table, with the reason.
type leftOut struct{ Name, Why string }

// Keys lists the keys of the tables.
func Keys(tables []Table) []string {
	return xslices.Map(tables, func(t Table) string { return t.Key })
}

// plans resolves the options into tables with the settings of their rows, without runs. All its errors are usage
// errors.
func plans(c lab.Catalog, tables []Table, o Options) ([]plan, error) {
	keys := Keys(tables)
	if err := usage.Known("the study has no scenario", o.Panels, keys); err != nil {
		return nil, err
	}
	if len(o.Rows) > 0 && o.Update != "" {
		return nil, usage.Errorf("--update rewrites whole tables: leave out --row")
	}
	var declared paper.Figure
	for _, t := range tables {
		panel := t.Panel
		if stride := t.Strides[o.Scale]; stride > 0 {
			panel.Set = []string{fmt.Sprint("stride=", stride)}
		}
		declared.Panels = append(declared.Panels, panel)
	}
	o.AllFigures = true // an override may be of another scenario
	panels, err := c.Panels(declared, o.Options)
	if err != nil {
		return nil, err
	}
	var out []plan
	var known []string // rows
	for _, p := range panels {
		t := tables[slices.Index(keys, p.Key)]
		if t.Seeds != "" && len(o.Seeds) == 0 {
			if p.Seeds, err = claims.ParseSeeds(t.Seeds); err != nil {
				return nil, err
			}
		}
		for _, a := range t.Alternatives {
			known = append(known, a.Name)
		}
		out = append(out, plan{Table: t, Default: p})
	}
	slices.Sort(known)
	if err := usage.Known("the chosen scenarios have no row", o.Rows, slices.Compact(known)); err != nil {
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

// addRows plans the alternatives of these names, or all but the slow ones if no name is given.
func (p *plan) addRows(names []string) error {
	for _, a := range p.Alternatives {
		if len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		row, err := p.row(a)
		if err != nil {
			return usage.Errorf("row %s of %s: %w", a.Name, p.Key, err)
		}
		why := ""
		if row.isDefault() && !a.Literal {
			why = "it is the default here"
		} else if a.Slow != "" && len(names) == 0 {
			why = fmt.Sprintf("about %s on two cores, with `--row`", a.Slow)
		}
		if why != "" {
			p.Left = append(p.Left, leftOut{a.Name, why})
			continue
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// row plans one alternative. Its settings override those of the default.
func (p *plan) row(a Alternative) (rowPlan, error) {
	row := rowPlan{Panel: p.Default, Alternative: a}
	row.Key += "/" + a.Name
	row.Panel.Series = p.Compared
	if a.Series != nil {
		row.Panel.Series = slices.Concat(p.Compared[:1], a.Series)
	}
	for _, o := range a.Set {
		name, value, err := experiment.Split(o)
		if err != nil {
			return rowPlan{}, err
		}
		before := row.Settings
		if row.Settings, err = before.With(name, value); err != nil {
			return rowPlan{}, err
		}
		if row.Settings != before {
			row.Changed = append(row.Changed, o)
		}
	}
	for _, field := range row.Settings.Fields() {
		if stride, err := strconv.Atoi(field.Value); err == nil && field.Name == "stride" && a.Every > 0 {
			if row.Settings, err = row.Settings.With("stride", strconv.Itoa(stride*a.Every)); err != nil {
				return rowPlan{}, err
			}
		}
	}
	return row, row.Settings.Validate()
}

// addJobs sets the runs. A row has those of the base and of the learners that its settings can change: their specs
// differ from the default's.
func (p *plan) addJobs(l *lab.Lab) error {
	if err := l.AddJobs(&p.Default); err != nil {
		return err
	}
	for i := range p.Rows {
		if err := l.AddJobs(&p.Rows[i].Panel); err != nil {
			return err
		}
		p.Rows[i].keep(idsOf(p.Default))
	}
	return nil
}

// idsOf is the set of the identities of a panel's runs.
func idsOf(p claims.Panel) map[string]bool {
	out := map[string]bool{}
	for _, job := range p.Jobs {
		out[job.Spec.ID()] = true
	}
	return out
}

// keep keeps the jobs of the base and those that are not known from the default. A row without changed settings keeps
// all jobs.
func (r *rowPlan) keep(known map[string]bool) {
	base := r.Panel.Series[0]
	r.Jobs = slices.DeleteFunc(r.Jobs, func(job runs.Wanted) bool {
		return job.Series != base && known[job.Spec.ID()] && len(r.Changed) > 0
	})
	r.Panel.Series = slices.DeleteFunc(slices.Clone(r.Panel.Series), func(name string) bool {
		return name != base && !slices.ContainsFunc(r.Jobs, func(job runs.Wanted) bool { return job.Series == name })
	})
}

// Make computes the missing runs of the tables, prints these, and writes them with all measurements into the folder
// o.Out, and into the file o.Update if it is not empty. If some runs failed, it returns an error together with the
// tables, whose cells then say "not run", and o.Update is not changed.
func Make(ctx context.Context, l *lab.Lab, tables []Table, o Options) (made []table, report runs.Report, err error) {
	all, err := plans(l.Catalog, tables, o)
	if err != nil {
		return nil, report, err
	}
	if err := o.checkOut(studyTitle); err != nil {
		return nil, report, err
	}
	var rewritten []byte
	if o.Update != "" { // its marks are missed before anything is computed
		rewritten, err = os.ReadFile(o.Update)
		for _, p := range all {
			_, missed := demand.Block(rewritten, p.block())
			err = cmp.Or(err, missed)
		}
		if err != nil {
			return nil, report, fmt.Errorf("--update %s: %w", o.Update, err)
		}
	}
	var panels []claims.Panel
	for i := range all {
		if err := all[i].addJobs(l); err != nil {
			return nil, report, err
		}
		panels = append(panels, all[i].Default)
		for _, row := range all[i].Rows {
			panels = append(panels, row.Panel)
		}
	}
	if report, err = l.Work(ctx, panels, o.Workers); err != nil {
		return nil, report, err
	}
	if report.Unfinished > 0 {
		return nil, report, report.Err()
	}
	var rows []figures.Row // with "scenario/row" as the panel
	var collected []claims.Collected
	for _, p := range panels {
		c := claims.Collect(p, report.Results)
		collected, rows = append(collected, c), append(rows, c.Written(c.Rows())...)
	}
	record := claims.NewRecord(o.Scale, l.Provenance(), collected)
	for _, p := range all {
		t := newTable(o, p, report)
		t.Notes = append(t.Notes, "Commit "+shortCommit(record.MadeBy)+".")
		made = append(made, t)
	}
	if err := write(l, o.Out, "study", pageOf(made), rows, record, nil); err != nil {
		return made, report, err
	}
	if err := report.Err(); err != nil || o.Update == "" {
		return made, report, err
	}
	for _, t := range made {
		rewritten, _ = demand.SetBlock(rewritten, t.block(), "\n"+t.markdown()+"\n")
	}
	if err := artifact.Replace(o.Update, rewritten, 0o644); err != nil {
		return made, report, fmt.Errorf("--update: %w", err)
	}
	_, err = fmt.Fprintf(l.Stdout, "Tables rewritten: %s\n", o.Update)
	return made, report, err
}

// shortCommit names the commit in twelve digits, and says if the checkout had changes.
func shortCommit(p runs.Provenance) string {
	commit := cmp.Or(p.Commit[:min(12, len(p.Commit))], "unknown")
	if p.Dirty {
		commit += " with changes"
	}
	return commit
}

// pageOf is the page of the tables.
func pageOf(tables []table) string {
	page := studyTitle + "\n\n" + legend
	for _, t := range tables {
		page += "\n## " + t.Key + "\n\n" + t.markdown()
	}
	return page
}

// write prints a page and writes it into a folder, with the table of runs, their provenance, and a picture if there is
// one.
func write(l *lab.Lab, dir, name, page string, rows []figures.Row, record claims.Record, picture []byte) error {
	if err := figures.WriteTable(name, rows, record, dir); err != nil {
		return err
	}
	if picture != nil {
		if err := artifact.Replace(filepath.Join(dir, name+".svg"), picture, 0o644); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, pageFile)
	if err := artifact.Replace(path, []byte(page), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(l.Stdout, "%s\nPage: %s\n", strings.TrimSuffix(page, "\n"), path)
	return err
}
