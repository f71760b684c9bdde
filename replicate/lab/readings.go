package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// The verdicts by reading: claims of the paper, judged under each of its readings by the same seeds and steps. Package
// paper declares the readings.

// verdictsByReading is what the study says of claims.
type verdictsByReading struct {
	Readings []judgedReading // the default is the first, by all that is stored, then by the seeds and steps of the others
	claims   []paper.Claim   // those that a reading can change and whose runs are stored under one that does
}

// judgedReading are the verdicts under one reading.
type judgedReading struct {
	paper.Alternative
	Seeds  string
	Claims map[string]claims.Judged // by ID, without those whose runs are the default's
	judged [][]claims.Panel         // of each of Catalog.readingFigures
	panels []claims.Panel           // those of which runs are made, with the series of claims alone
}

// defaults is how many of verdictsByReading.Readings are the default, before the others.
const defaults = 2

// readingName is the stem of the files.
const readingName = "readings"

// ReadingNames lists the names and the scenarios of readings.
func ReadingNames(readings []paper.Reading) (names, scenarios []string) {
	for _, r := range readings {
		names, scenarios = append(names, r.Name), append(scenarios, r.Scenarios...)
	}
	slices.Sort(scenarios)
	return names, slices.Compact(scenarios)
}

// ReadingPlans resolves the options into the default and the chosen readings, without runs. All its errors are usage
// errors.
func (c Catalog) ReadingPlans(readings []paper.Reading, o StudyOptions) ([]judgedReading, error) {
	names, scenarios := ReadingNames(readings)
	if err := errors.Join(usage.Known("there is no reading", o.Rows, names),
		usage.Known("no reading has the scenario", o.Panels, scenarios)); err != nil {
		return nil, err
	}
	var all, same paper.Reading
	all.Name, same.Name, same.Scenarios = nameOfDefault, "same seeds", scenarios
	var out []judgedReading
	for i, r := range slices.Concat([]paper.Reading{all, same}, readings) {
		if len(o.Rows) > 0 && i >= defaults && !slices.Contains(o.Rows, r.Name) {
			continue
		}
		j := judgedReading{Alternative: r.Alternative, Seeds: cmp.Or(r.Seeds, paper.DefaultSeeds)}
		if len(o.Seeds) > 0 {
			j.Seeds = claims.FormatSeeds(o.Seeds, ",")
		}
		if i == 0 {
			j.Seeds = ""
		}
		for _, f := range c.readingFigures() {
			panels, err := c.Panels(f, j.options(o))
			if err != nil {
				return nil, err
			}
			j.judged = append(j.judged, panels)
			for _, p := range panels {
				p.Series = slices.DeleteFunc(claimed(f, p), j.leavesOut)
				if len(p.Series) > 0 && slices.Contains(r.Scenarios, p.Scenario) &&
					(len(o.Panels) == 0 || slices.Contains(o.Panels, p.Scenario)) {
					p.Key = strings.Join([]string{r.Name, f.Name(), p.Key}, " ")
					j.panels = append(j.panels, p)
				}
			}
		}
		out = append(out, j)
	}
	return out, nil
}

// readingFigures lists the figures whose claims are judged.
func (c Catalog) readingFigures() []paper.Figure {
	return slices.DeleteFunc(slices.Clone(c.Figures), func(f paper.Figure) bool {
		return !slices.Contains(paper.ReadingFigures, f.Number)
	})
}

// options are those of the figures under the reading.
func (r judgedReading) options(o StudyOptions) Options {
	var seeds []int64
	if r.Seeds != "" {
		seeds, _ = ParseSeeds(r.Seeds) // declared, or formatted from a list
	}
	return Options{Scale: o.Scale, Seeds: seeds, Overrides: slices.Concat(r.Set, o.Overrides), AllFigures: true}
}

// leavesOut tells whether the reading is not about a learner, which is then that of the default.
func (r judgedReading) leavesOut(series string) bool {
	return len(r.Series) > 0 && !slices.Contains(r.Series, series)
}

// jobs lists the runs of a panel under the reading; those of learners that it is not about are the default's.
func (r judgedReading) jobs(p, byDefault claims.Panel) []runs.Wanted {
	leftOut := func(job runs.Wanted) bool { return r.leavesOut(job.Series) }
	jobs := slices.DeleteFunc(slices.Clone(p.Jobs), leftOut)
	for _, job := range byDefault.Jobs {
		if leftOut(job) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// claimed lists the series of a panel that claims are about.
func claimed(f paper.Figure, p claims.Panel) []string {
	return slices.DeleteFunc(slices.Clone(p.Series), func(name string) bool {
		return !slices.ContainsFunc(f.Claims, func(c paper.Claim) bool {
			return slices.ContainsFunc(c.Parts, func(part paper.Part) bool {
				return part.Panel == p.Key && slices.Contains([]string{part.Series, part.Base, part.Truth}, name)
			})
		})
	})
}

// AddReadings adds the runs in a folder of drawn figures to those that stand in for missing ones: those of figures,
// also under other settings, in folders such as fig01-reinit, and those of readings, in the folder readings.
func (l *Lab) AddReadings(dir string) (err error) {
	if l.Tables == nil {
		if l.Tables, err = claims.ReadTables(l.Figures, dir); err != nil {
			return usage.Error(err)
		}
	}
	err = l.Tables.Add(filepath.Join(dir, readingName), readingName)
	for _, f := range l.readingFigures() {
		others, _ := filepath.Glob(filepath.Join(dir, f.Name()+"-*")) // the pattern is well-formed
		for _, other := range others {
			err = errors.Join(err, l.Tables.AddFigure(f, other))
		}
	}
	if l.Index != nil {
		l.Index.Add(l.Tables.Specs()...)
	}
	return err
}

// Readings computes the runs of the readings that neither the store nor tables have, unless the lab only reads. It
// judges the claims, and writes page, picture and runs into the folder o.Out. Without its runs a claim has no verdict.
func (l *Lab) Readings(ctx context.Context, readings []paper.Reading, o StudyOptions) error {
	plans, err := l.ReadingPlans(readings, o)
	if err != nil {
		return err
	}
	if err := o.CheckOut(); err != nil {
		return err
	}
	if l.Index == nil {
		var lacking []claims.Panel
		for _, r := range plans {
			for _, p := range r.panels {
				if err := l.AddJobs(&p); err != nil {
					return err
				}
				p.Jobs = slices.DeleteFunc(p.Jobs, func(job runs.Wanted) bool {
					return l.Tables.Has(job.Spec, job.Steps)
				})
				lacking = append(lacking, p)
			}
		}
		if err := l.computeAll(ctx, lacking, o.Workers); err != nil {
			return err
		}
	}
	v := verdictsByReading{Readings: plans}
	for i := range v.Readings {
		if err := l.judgeReading(&v.Readings[i], o); err != nil {
			return err
		}
	}
	v.chooseClaims(l.readingFigures())
	return l.writeReadings(v, o)
}

// judgeReading judges the claims under a reading by its own seeds and steps; without seeds, by all that is stored.
func (l *Lab) judgeReading(r *judgedReading, o StudyOptions) error {
	r.Claims = map[string]claims.Judged{}
	for i, f := range l.readingFigures() {
		byDefault, err := l.Panels(f, judgedReading{Seeds: r.Seeds}.options(o))
		if err != nil {
			return err
		}
		var panels []claims.Collected
		changed := map[string]bool{} // panel and series with other runs than the default's
		for k, p := range r.judged[i] {
			if err := cmp.Or(l.AddJobs(&p), l.AddJobs(&byDefault[k])); errors.Is(err, usage.Err) {
				return err
			} else if err != nil { // without its data or checkpoint the panel is not judged
				continue
			}
			p.Jobs = r.jobs(p, byDefault[k])
			known := idsOf(byDefault[k])
			for _, job := range p.Jobs {
				if !known[job.Spec.ID()] {
					changed[p.Key+" "+job.Series] = true
				}
			}
			c, err := l.Load(p)
			if err != nil {
				return err
			}
			panels = append(panels, c)
		}
		judged, err := l.judge(f, r.options(o), panels)
		if err != nil {
			return err
		}
		for _, j := range judged.Claims {
			if len(r.Set) == 0 || slices.ContainsFunc(j.Parts, func(p claims.JudgedPart) bool {
				return changed[p.Panel+" "+p.Series] || changed[p.Panel+" "+p.Base]
			}) {
				r.Claims[j.ID] = j
			}
		}
	}
	return nil
}

// verdict is that on a claim; "" if the reading does not change its runs.
func (r judgedReading) verdict(id string) claims.Verdict { return r.Claims[id].Verdict }

// chooseClaims leaves the claims that a reading other than the default judges.
func (v *verdictsByReading) chooseClaims(of []paper.Figure) {
	for _, f := range of {
		for _, c := range f.Claims {
			if slices.ContainsFunc(v.Readings[defaults:], func(r judgedReading) bool {
				verdict := r.verdict(c.ID)
				return verdict != "" && verdict != claims.NotRun && verdict != claims.OnStandIn
			}) {
				v.claims = append(v.claims, c)
			}
		}
	}
}

// verdictLook is how table and picture show a verdict.
type verdictLook struct {
	Verdict          claims.Verdict
	Mark, Color, Ink string
	Text             string
}

// verdictLooks can be told apart with red- and green-blindness, and by their marks alone.
var verdictLooks = []verdictLook{
	{claims.Holds, "+", "#0072b2", "#ffffff", "holds"},
	{claims.Partly, "+/-", "#56b4e9", "#000000", "holds partly"},
	{claims.NoDifference, "=", "#f0e442", "#000000", "no difference above the margin"},
	{claims.DoesNotHold, "-", "#d55e00", "#ffffff", "does not hold"},
	{claims.Undecided, "?", "#d9d9d9", "#000000", "undecided"},
	{claims.NotRun, "", "#ffffff", "#000000", "not run"},
	{"", ".", "#ffffff", "#595959", "same runs as by default"},
}

func lookOf(v claims.Verdict) verdictLook {
	i := slices.IndexFunc(verdictLooks, func(l verdictLook) bool { return l.Verdict == v })
	if i < 0 {
		i = slices.IndexFunc(verdictLooks, func(l verdictLook) bool { return l.Verdict == claims.NotRun })
	}
	return verdictLooks[i]
}

// under lists the readings with a verdict on a claim, the default as "default", with the means of its parts.
func (v verdictsByReading) under(id string, verdict claims.Verdict) []string {
	var out []string
	for _, r := range v.Readings {
		if r.verdict(id) == verdict {
			out = append(out, fmt.Sprintf("%s (%s)", r.Name, r.Claims[id].Effects()))
		}
	}
	return out
}

// markdown is the page: the answer, the picture, what depends on the reading, what the readings are, and, folded, the
// verdicts of the picture as text.
func (v verdictsByReading) markdown() string {
	dependent := v.dependent()
	differ := [][]string{{"claim", "holds", "does not hold"}}
	for _, c := range dependent {
		differ = append(differ, []string{fmt.Sprintf("`%s`: %s", c.ID, c.Text), strings.Join(v.under(c.ID, claims.Holds), ", "),
			strings.Join(v.under(c.ID, claims.DoesNotHold), ", ")})
	}
	readings := [][]string{{"reading", "about", "settings", "seeds"}}
	for _, r := range v.Readings[defaults:] {
		readings = append(readings, []string{r.Name + ": " + r.Text, r.About, "`" + strings.Join(r.Set, " ") + "`", r.Seeds})
	}
	var marks []string
	for _, look := range verdictLooks {
		marks = append(marks, cmp.Or(look.Mark, "empty")+" "+look.Text)
	}
	return fmt.Sprintf("# Verdicts by reading\n\n"+
		"The paper leaves points open ([interpretations](../../../replicate/paper/INTERPRETATIONS.md)). Does it\n"+
		"matter how they are read?\n\n**Of %s, %d hold under one reading and do not hold under another.** %d have another\n"+
		"verdict under some reading than by default with the same seeds.\n\n![Verdicts by claim and reading](%s.svg)\n\n"+
		"A row is a claim, a column a [reading](#the-readings). *Default* has the [gallery's](../README.md)\n"+
		"verdicts, *same seeds* those of the default with the seeds and steps of the readings.\n"+
		"\n## Claims that depend on the reading\n\n%s\n## The readings\n\n"+
		"A reading changes these settings and no others.\n\n%s\n"+
		"<details><summary>All verdicts, as in the picture</summary>\n\n%s.\n\n%s\n</details>\n\n"+
		"`study --verdicts` makes this page, with the runs in `%s.csv.gz`.\n",
		runs.Plural(len(v.claims), "claim"), len(dependent), v.moved(), readingName,
		figures.Markdown(differ), figures.Markdown(readings), strings.Join(marks, ";\n"), figures.Markdown(v.marks()), readingName)
}

// moved counts the claims that have another verdict under some reading than by default with the same seeds.
func (v verdictsByReading) moved() (n int) {
	for _, c := range v.claims {
		if slices.ContainsFunc(v.Readings[defaults:], func(r judgedReading) bool {
			now := r.verdict(c.ID)
			return lookOf(now).Mark != "" && now != "" && now != v.Readings[defaults-1].verdict(c.ID)
		}) {
			n++
		}
	}
	return n
}

// marks is the picture as text: a row for each claim, a column for each reading.
func (v verdictsByReading) marks() [][]string {
	rows := [][]string{{"claim"}}
	for _, r := range v.Readings {
		rows[0] = append(rows[0], r.Name)
	}
	for _, c := range v.claims {
		row := []string{"`" + c.ID + "`"}
		for _, r := range v.Readings {
			row = append(row, lookOf(r.verdict(c.ID)).Mark)
		}
		rows = append(rows, row)
	}
	return rows
}

// dependent lists the claims that hold under one reading and do not hold under another.
func (v verdictsByReading) dependent() []paper.Claim {
	return slices.DeleteFunc(slices.Clone(v.claims), func(c paper.Claim) bool {
		return len(v.under(c.ID, claims.Holds)) == 0 || len(v.under(c.ID, claims.DoesNotHold)) == 0
	})
}

// svg is the picture: a row for each claim, a column for each reading.
func (v verdictsByReading) svg() []byte {
	g := figures.Grid{Title: "Verdicts by claim and reading", Left: 190, Wide: 40}
	for _, r := range v.Readings {
		g.Columns = append(g.Columns, r.Name)
	}
	for _, c := range v.claims {
		g.Rows, g.About = append(g.Rows, c.ID), append(g.About, c.Text)
		var row []figures.GridCell
		for _, r := range v.Readings {
			look := lookOf(r.verdict(c.ID))
			row = append(row, figures.GridCell{Text: look.Mark, Fill: look.Color, Ink: look.Ink,
				About: fmt.Sprintf("%s: %s %s", r.Name, look.Text, r.Claims[c.ID].Effects())})
		}
		g.Cells = append(g.Cells, row)
	}
	for _, look := range verdictLooks {
		if look.Mark != "" {
			g.Legend = append(g.Legend, [2]string{look.Mark, cmp.Or(look.Verdict.Short(), look.Text)})
		}
	}
	return g.SVG()
}

// writeReadings prints and writes the verdicts, and the runs that no figure of the tables has.
func (l *Lab) writeReadings(v verdictsByReading, o StudyOptions) error {
	var rows []figures.Row
	var panels []claims.Collected
	written := map[string]bool{}
	for _, r := range v.Readings {
		for _, p := range r.panels {
			if err := l.AddJobs(&p); err != nil {
				return err
			}
			p.Jobs = slices.DeleteFunc(p.Jobs, func(job runs.Wanted) bool {
				id := job.Spec.ID()
				known := written[id] || l.Tables.Drawn(id)
				written[id] = true
				return known
			})
			c, err := l.Load(p)
			if err != nil {
				return err
			}
			panels, rows = append(panels, c), append(rows, c.Written(c.RowsOf(func(metric string) bool {
				return metric == c.Shown().Name
			}))...)
		}
	}
	record := claims.NewRecord(o.Scale, l.Provenance(), panels, claims.Evidence{})
	record.Settings = nil // each run has its own
	if err := figures.WriteTable(readingName, rows, record, o.Out); err != nil {
		return err
	}
	page := v.markdown()
	if err := writeFiles(o.Out, map[string][]byte{"README.md": []byte(page), readingName + ".svg": v.svg()}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(l.Stdout, "%s\nVerdicts: %s\n", page, filepath.Join(o.Out, "README.md"))
	return err
}
