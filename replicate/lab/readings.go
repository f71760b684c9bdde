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
	Readings []judgedReading // the default is the first, by the declared samples, then by the seeds and steps of the others
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

// readingName is the stem of the files, readingFolder their folder in the gallery.
const readingName, readingFolder = "readings", "archive/readings"

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
		seeds, _ = claims.ParseSeeds(r.Seeds) // declared, or formatted from a list
	}
	out := Options{Scale: o.Scale, Seeds: seeds, Overrides: slices.Concat(r.Set, o.Overrides), AllFigures: true}
	out.Judged = !out.NamesSample()
	return out
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
// also under other settings, in folders such as fig01-reinit, and those of readings, in archive/readings.
func (l *Lab) AddReadings(dir string) (err error) {
	if l.Tables == nil {
		if l.Tables, err = claims.ReadTables(l.Figures, dir); err != nil {
			return usage.Error(err)
		}
	}
	err = l.Tables.Add(filepath.Join(dir, readingFolder), readingName)
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
	if v.chooseClaims(l.readingFigures()); len(v.claims) == 0 {
		return usage.Errorf("no run of a reading is stored at the scale %s: compute some, or name tables that have them",
			o.Scale)
	}
	return l.writeReadings(v, o)
}

// judgeReading judges the claims under a reading by its own seeds and steps; without them, by the declared samples.
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
		for _, j := range claims.Judge(f, panels) {
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
				return verdict != "" && verdict != claims.NotRun
			}) {
				v.claims = append(v.claims, c)
			}
		}
	}
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
	record := claims.NewRecord(o.Scale, l.Provenance(), panels)
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
