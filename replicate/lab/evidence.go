package lab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Sample is how much of a panel is run: seeds, and the distance of the steps.
type Sample struct {
	Seeds  []int64 `json:"seeds"`
	Stride int     `json:"stride,omitempty"` // 0 for the panel's own

	again bool // whether a look at the panel led to a planned size, see secondLook
}

// evidence is what claims are judged by.
type evidence struct {
	drawn   []figures.Row           // what the panels draw
	larger  map[string][]larger     // by panel, the larger samples by which parts of claims are judged
	results map[string]*runs.Result // the runs of larger, by id
}

// larger is a panel at a larger sample than it draws, with those of its series that are judged by it.
type larger struct {
	PanelPlan
	compared [][]string // the sets of series that are judged by it, each as needs lists them
	about    []string   // those of claims, for people, if other parts are judged by other samples
	rows     []figures.Row
	level    float64 // of the intervals; 0 for figures.Level
}

// evidence returns what the claims about a plan are judged by. Each part of a claim is judged by the largest sample of
// which the runs of its own series are stored whole and whose size was declared before it was run: the panel's own, one
// that another figure declares for these series under the same settings, or one that [Lab.Extend] fixed for them. No
// size follows from a verdict, but those of planned second looks, which have intervals at secondLook. Chosen seeds or
// learners are judged as they are. Errors: files that cannot be read.
func (l *Lab) evidence(o Options, f paper.Figure, plan []PanelPlan, rows []figures.Row) (evidence, error) {
	e := evidence{drawn: rows, larger: map[string][]larger{}, results: map[string]*runs.Result{}}
	if len(o.Seeds) > 0 || len(o.Learners) > 0 {
		return e, nil
	}
	fixed, err := l.fixed()
	if err != nil {
		return evidence{}, err
	}
	declared := l.declared(o)
	for _, p := range plan {
		claimed, noted := compared(f, p)
		noted = slices.DeleteFunc(noted, func(set []string) bool { return contains(claimed, set) })
		found, err := l.largest(p, slices.Concat(claimed, noted), declared, fixed)
		if err != nil {
			return evidence{}, err
		}
		for _, q := range found {
			if q.keep(p, claimed) {
				e.larger[p.Key] = append(e.larger[p.Key], q.larger)
				maps.Copy(e.results, q.report.Results)
			}
		}
	}
	return e, nil
}

// compared lists the sets of series of a panel that the parts of the figure's claims need, and those of its floors and
// notes, with all series together.
func compared(f paper.Figure, p PanelPlan) (claimed, noted [][]string) {
	add := func(to [][]string, set ...string) [][]string {
		if contains(to, set) || !subset(set, p.Series) {
			return to
		}
		return append(to, set)
	}
	for _, c := range f.Claims {
		for _, part := range c.Parts {
			if part.Panel == p.Key {
				claimed = add(claimed, needs(part)...)
			}
		}
	}
	noted = add(nil, p.Series...)
	for _, floor := range p.floors() {
		noted = add(noted, p.Series[0], floor)
	}
	if last := len(p.Series) - 1; len(p.Spans) > 0 {
		for _, base := range p.Series[:last] {
			noted = add(noted, p.Series[last], base)
		}
	}
	return claimed, noted
}

func contains(sets [][]string, set []string) bool {
	return slices.ContainsFunc(sets, func(other []string) bool { return slices.Equal(set, other) })
}

// foundSample is a larger sample while it is looked for.
type foundSample struct {
	larger
	report runs.Report
}

// largest finds the larger samples of a panel by which sets of its series are judged.
func (l *Lab) largest(p PanelPlan, sets [][]string, declared []PanelPlan, fixed []Size) ([]*foundSample, error) {
	var out []*foundSample
	known := map[string]*foundSample{} // by sample
	for _, set := range sets {
		for _, s := range samples(p, set, declared, fixed) {
			key := fmt.Sprint(s)
			if known[key] == nil {
				q, report, err := l.sampled(p, s)
				if err != nil {
					return nil, err
				}
				known[key] = &foundSample{larger{PanelPlan: q}, report}
				if s.again {
					known[key].level = secondLook
				}
			}
			q := known[key]
			if !q.whole(set) {
				continue
			}
			if q.compared = append(q.compared, set); len(q.compared) == 1 {
				out = append(out, q)
			}
			break
		}
	}
	return out, nil
}

// whole tells whether all runs of the series are stored with every step.
func (s *foundSample) whole(series []string) bool {
	return !slices.ContainsFunc(s.Jobs, func(job runs.Wanted) bool {
		return slices.Contains(series, job.Series) && len(finished(job.Job, s.report).Steps) == 0
	})
}

// keep leaves the series that are judged by the sample, with their runs and rows. claimed are the sets of series of all
// parts of claims about the panel p. It is false for a sample by which nothing is judged.
func (s *foundSample) keep(p PanelPlan, claimed [][]string) bool {
	own := slices.DeleteFunc(slices.Clone(claimed), func(set []string) bool { return !contains(s.compared, set) })
	if len(own) == 0 && len(claimed) > 0 && len(p.Spans) == 0 {
		return false
	}
	if len(own) < len(claimed) {
		for _, set := range own {
			if text := strings.Join(labels(set), " and "); !slices.Contains(s.about, text) {
				s.about = append(s.about, text)
			}
		}
	}
	used := slices.Concat(s.compared...)
	s.Series = slices.DeleteFunc(slices.Clone(p.Series), func(name string) bool { return !slices.Contains(used, name) })
	s.Jobs = slices.DeleteFunc(s.Jobs, func(job runs.Wanted) bool { return !slices.Contains(used, job.Series) })
	results := map[string]*runs.Result{}
	for _, job := range s.Jobs {
		results[job.Spec.ID()] = s.report.Results[job.Spec.ID()]
	}
	s.report.Results = results
	s.rows = s.Rows(s.report)
	return true
}

// of returns the rows by which a part is judged, and the level of its intervals, 0 for figures.Level.
func (e evidence) of(p paper.Part) (rows []figures.Row, level float64) {
	for _, s := range e.larger[p.Panel] {
		if contains(s.compared, needs(p)) {
			return s.rows, s.level
		}
	}
	return e.drawn, 0
}

// ofLarger returns the rows by which parts about a panel are judged, each once, where these are more than it draws.
func (e evidence) ofLarger(p PanelPlan) []figures.Row {
	var out []figures.Row
	for _, s := range e.larger[p.Key] {
		out = append(out, s.rows...)
	}
	slices.SortStableFunc(out, func(a, b figures.Row) int {
		return cmp.Or(cmp.Compare(slices.Index(p.Series, a.Series), slices.Index(p.Series, b.Series)),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.T, b.T))
	})
	return slices.Compact(out)
}

// notes says by which larger samples the claims about a panel are judged, if by any, and the differences in its notes,
// if it has some.
func (e evidence) notes(panel string, differences bool) []string {
	var out []string
	for _, s := range e.larger[panel] {
		what := "The claims"
		switch {
		case len(s.about) == 0 && differences:
			what += " and the differences in these notes"
		case len(s.about) > 0:
			what += " about " + strings.Join(s.about, ", ")
			if differences {
				what += ", with their differences in these notes,"
			}
		}
		out = append(out, s.sample().judges(what))
	}
	return out
}

// with returns some runs together with those of larger samples.
func (e evidence) with(results map[string]*runs.Result) map[string]*runs.Result {
	out := map[string]*runs.Result{}
	maps.Copy(out, results)
	maps.Copy(out, e.results)
	return out
}

// sample is what is run of the panel.
func (p PanelPlan) sample() Sample {
	s := Sample{Seeds: p.Seeds}
	if len(p.Settings.Strides()) > 0 {
		var steps []float64
		for _, t := range p.Settings.PlannedSteps() {
			steps = append(steps, float64(t))
		}
		s.Stride = stride(steps)
	}
	return s
}

// judges says that something is judged by the sample and not by what is drawn.
func (s Sample) judges(what string) string {
	text := what + " are judged by " + runs.Plural(len(s.Seeds), "seed")
	switch s.Stride {
	case 0:
	case 1:
		text += " at every step"
	default:
		text += fmt.Sprintf(" at every %s step", experiment.Ordinal(s.Stride))
	}
	return text + ", which are more than are drawn."
}

// declared lists the panels of all figures that these options fit. Settings for one figure may not fit another.
func (l *Lab) declared(o Options) []PanelPlan {
	var out []PanelPlan
	for _, f := range l.At(o.Scale) {
		panels, err := l.Panels(f, Options{Scale: o.Scale, Overrides: o.Overrides, AllFigures: true})
		if err == nil {
			out = append(out, panels...)
		}
	}
	return out
}

// samples lists the samples of some series of a panel that are larger than the panel's own, the largest first. A panel
// that takes some of its figure's seeds takes these of all samples.
func samples(p PanelPlan, series []string, declared []PanelPlan, fixed []Size) []Sample {
	var out []Sample
	for _, q := range declared {
		if q.Settings == p.Settings && q.Measure == p.Measure && q.Take == 0 && subset(series, q.Series) {
			out = append(out, Sample{Seeds: q.Seeds})
		}
	}
	// After a second look every further one is at its level, a size that the user asked for, too.
	looked := slices.ContainsFunc(fixed, func(s Size) bool { return s.looksAt(p, series) && len(s.Parts) > 0 })
	for _, s := range fixed {
		if s.serves(p, series) {
			s.again = looked
			out = append(out, s.Sample)
		}
	}
	if p.Take > 0 {
		out = slices.DeleteFunc(out, func(s Sample) bool { return !subset(p.Seeds, s.Seeds) })
		for i := range out {
			out[i].Seeds = p.Seeds
		}
	}
	out = slices.DeleteFunc(out, func(s Sample) bool { return s.cells(p) <= (Sample{Seeds: p.Seeds}).cells(p) })
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(b.cells(p), a.cells(p)) })
	return out
}

func subset[T comparable](some, of []T) bool {
	return !slices.ContainsFunc(some, func(one T) bool { return !slices.Contains(of, one) })
}

// cells is the number of seeds times that of steps.
func (s Sample) cells(p PanelPlan) int {
	q, err := p.with(s)
	if err != nil {
		return 0
	}
	return len(q.Seeds) * len(q.Settings.PlannedSteps())
}

// with returns the panel with the sample instead of its own, without runs.
func (p PanelPlan) with(s Sample) (PanelPlan, error) {
	p.Seeds, p.Jobs = s.Seeds, nil
	if s.Stride > 0 {
		var err error
		if p.Settings, err = p.Settings.With("stride", fmt.Sprint(s.Stride)); err != nil {
			return p, err
		}
	}
	return p, p.Settings.Validate()
}

// sampled returns the panel with the runs of a sample, and a report of those that are stored with every step.
func (l *Lab) sampled(p PanelPlan, s Sample) (PanelPlan, runs.Report, error) {
	q, err := p.with(s)
	if err == nil {
		err = q.AddJobs(l)
	}
	if err != nil {
		return PanelPlan{}, runs.Report{}, err
	}
	report := runs.Report{Results: map[string]*runs.Result{}}
	for _, job := range q.Jobs {
		result, err := l.read(job.Spec, p.metric())
		if errors.Is(err, runs.ErrMissing) {
			continue
		}
		if err != nil {
			return PanelPlan{}, runs.Report{}, err
		}
		report.Results[job.Spec.ID()] = result
	}
	return q, report, nil
}
