package study

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/gomlx/gomlx/support/xslices"
)

// verdictsByReading are claims of the paper, judged under each of its readings by the same seeds and steps.
type verdictsByReading struct {
	Readings []judgedReading // the default is the first, by the declared samples, then by the seeds and steps of the others
	claims   []paper.Claim   // those that a reading can change and whose runs are stored under one that does
}

// judgedReading are the verdicts under one reading.
type judgedReading struct {
	Alternative
	Seeds  string
	Claims map[string]claims.Judged // by ID, without those whose runs are the default's
	judged [][]claims.Panel         // of each of figuresOf
	panels []claims.Panel           // those of which runs are made, with the series of claims alone
}

// defaults is how many of verdictsByReading.Readings are the default, before the others.
const defaults = 2

// readingName is the stem of the files, readingFolder their folder in the gallery.
const readingName, readingFolder = "readings", "archive/readings"

// ReadingNames lists the names of readings.
func ReadingNames(readings []Reading) []string {
	return xslices.Map(readings, func(r Reading) string { return r.Name })
}

// readingPlans resolves the options into the default and the chosen readings, without runs. All its errors are usage
// errors.
func readingPlans(c lab.Catalog, readings []Reading, o Options) ([]judgedReading, error) {
	if err := usage.Known("there is no reading", o.Rows, ReadingNames(readings)); err != nil {
		return nil, err
	}
	var all, same Reading
	all.Name, same.Name = nameOfDefault, "same seeds"
	for _, r := range readings {
		same.Scenarios = append(same.Scenarios, r.Scenarios...)
	}
	var out []judgedReading
	for i, r := range slices.Concat([]Reading{all, same}, readings) {
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
		for _, f := range figuresOf(c) {
			panels, err := c.Panels(f, j.options(o))
			if err != nil {
				return nil, err
			}
			j.judged = append(j.judged, panels)
			for _, p := range panels {
				p.Series = slices.DeleteFunc(claimed(f, p), j.leavesOut)
				if len(p.Series) > 0 && slices.Contains(r.Scenarios, p.Scenario) {
					p.Key = strings.Join([]string{r.Name, f.Name(), p.Key}, " ")
					j.panels = append(j.panels, p)
				}
			}
		}
		out = append(out, j)
	}
	return out, nil
}

// figuresOf lists the figures whose claims are judged.
func figuresOf(c lab.Catalog) []paper.Figure {
	return slices.DeleteFunc(slices.Clone(c.Figures), func(f paper.Figure) bool {
		return !slices.Contains(readingFigures, f.Number)
	})
}

// options are those of the figures under the reading.
func (r judgedReading) options(o Options) lab.Options {
	var seeds []int64
	if r.Seeds != "" {
		seeds, _ = claims.ParseSeeds(r.Seeds) // declared, or formatted from a list
	}
	out := lab.Options{Scale: o.Scale, Seeds: seeds, Overrides: slices.Concat(r.Set, o.Overrides), AllFigures: true}
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
func AddReadings(l *lab.Lab, dir string) (err error) {
	if l.Tables == nil {
		if l.Tables, err = claims.ReadTables(l.Figures, dir); err != nil {
			return usage.Error(err)
		}
	}
	err = l.Tables.Add(filepath.Join(dir, readingFolder), readingName)
	for _, f := range figuresOf(l.Catalog) {
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

// Judge computes the runs of the readings that neither the store nor tables have, unless the lab only reads. It judges
// the claims, and writes page, picture and runs into the folder o.Out. Without its runs a claim has no verdict.
func Judge(ctx context.Context, l *lab.Lab, readings []Reading, o Options) error {
	plans, err := readingPlans(l.Catalog, readings, o)
	if err != nil {
		return err
	}
	if err := o.checkOut(readingsTitle); err != nil {
		return err
	}
	if l.Index == nil {
		if err := computeReadings(ctx, l, plans, o); err != nil {
			return err
		}
	}
	v := verdictsByReading{Readings: plans}
	for i := range v.Readings {
		if err := v.Readings[i].judge(l, o); err != nil {
			return err
		}
	}
	if v.chooseClaims(figuresOf(l.Catalog)); len(v.claims) == 0 {
		return usage.Errorf("no run of a reading is stored at the scale %s: compute some, or name tables that have them",
			o.Scale)
	}
	return v.write(l, o)
}

// computeReadings computes the runs that neither the store nor tables have.
func computeReadings(ctx context.Context, l *lab.Lab, plans []judgedReading, o Options) error {
	var lacking []claims.Panel
	for _, r := range plans {
		for _, p := range r.panels {
			if err := l.AddJobs(&p); err != nil {
				return err
			}
			there, err := l.Load(p)
			if err != nil {
				return err
			}
			p.Jobs = slices.DeleteFunc(p.Jobs, func(job runs.Wanted) bool { return there.Results[job.Spec.ID()] != nil })
			lacking = append(lacking, p)
		}
	}
	report, err := l.Work(ctx, lacking, o.Workers)
	return cmp.Or(err, report.Err())
}

// judge judges the claims under a reading by its own seeds and steps; without them, by the declared samples.
func (r *judgedReading) judge(l *lab.Lab, o Options) error {
	r.Claims = map[string]claims.Judged{}
	for i, f := range figuresOf(l.Catalog) {
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

// write prints and writes the verdicts, and the runs that no figure of the tables has.
func (v verdictsByReading) write(l *lab.Lab, o Options) error {
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
	return write(l, o.Out, readingName, v.markdown(), rows, record, v.svg())
}
