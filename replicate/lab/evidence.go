package lab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tvps/figures"
	"tvps/replicate/protocol"
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
	judged  []figures.Row
	larger  map[string]PanelPlan    // by key, panels whose rows are those of a larger sample, with its seeds and runs
	levels  map[string]float64      // by key, of the intervals, where it is not figures.Level
	results map[string]*runs.Result // the runs of larger, by id
}

// evidence returns what the claims about a plan are judged by: the given rows of its panels, or, where they are stored
// whole, those of a larger sample that was declared before it was run. Another figure may declare more seeds of the
// same series under the same settings, and a size that [Lab.Extend] fixed may have more seeds and steps. Chosen seeds
// or learners are judged as they are. Errors: files that cannot be read.
func (l *Lab) evidence(o Options, plan []PanelPlan, rows []figures.Row) (evidence, error) {
	e := evidence{judged: rows, larger: map[string]PanelPlan{}, levels: map[string]float64{},
		results: map[string]*runs.Result{}}
	if len(o.Seeds) > 0 || len(o.Learners) > 0 {
		return e, nil
	}
	fixed, err := l.fixed()
	if err != nil {
		return evidence{}, err
	}
	declared := l.declared(o)
	for _, p := range plan {
		for _, s := range samples(p, declared, fixed) {
			q, report, err := l.sampled(p, s)
			if err != nil {
				return evidence{}, err
			}
			if len(report.Results) > 0 {
				own := func(r figures.Row) bool { return r.Panel == p.Key }
				e.judged = append(slices.DeleteFunc(slices.Clone(e.judged), own), q.Rows(report)...)
				e.larger[p.Key] = q
				if s.again {
					e.levels[p.Key] = secondLook
				}
				maps.Copy(e.results, report.Results)
				break
			}
		}
	}
	return e, nil
}

// ofLarger returns the rows of a panel that is judged by a larger sample; none for the others.
func (e evidence) ofLarger(key string) []figures.Row {
	var out []figures.Row
	if _, ok := e.larger[key]; ok {
		for _, r := range e.judged {
			if r.Panel == key {
				out = append(out, r)
			}
		}
	}
	return out
}

// note says by which larger sample a panel is judged, if by any.
func (e evidence) note(p PanelPlan) []string {
	q, ok := e.larger[p.Key]
	switch {
	case !ok:
		return nil
	case len(p.Spans) > 0:
		return []string{q.sample().judges("The claims and the differences in these notes")}
	}
	return []string{q.sample().judges("The claims")}
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
		text += fmt.Sprintf(" at every %s step", protocol.Ordinal(s.Stride))
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

// samples lists the samples of a panel that are larger than its own, the largest first.
func samples(p PanelPlan, declared []PanelPlan, fixed []Size) []Sample {
	if p.Take > 0 {
		return nil
	}
	var out []Sample
	for _, q := range declared {
		if q.Settings == p.Settings && q.Measure == p.Measure && q.Take == 0 && subset(p.Series, q.Series) {
			out = append(out, Sample{Seeds: q.Seeds})
		}
	}
	// After a second look every further one is at its level, a size that the user asked for, too.
	looked := slices.ContainsFunc(fixed, func(s Size) bool { return s.about(p) && len(s.Parts) > 0 })
	for _, s := range fixed {
		if s.about(p) {
			s.again = looked
			out = append(out, s.Sample)
		}
	}
	out = slices.DeleteFunc(out, func(s Sample) bool { return s.cells(p) <= (Sample{Seeds: p.Seeds}).cells(p) })
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(b.cells(p), a.cells(p)) })
	return out
}

func subset(some, of []string) bool {
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(of, name) })
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

// sampled returns the panel with the runs of a sample, and a report of these; an empty one if a run or a step is
// missing.
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
			return PanelPlan{}, runs.Report{}, nil
		}
		if err != nil {
			return PanelPlan{}, runs.Report{}, err
		}
		report.Results[job.Spec.ID()] = result
		if len(finished(job.Job, report).Steps) == 0 {
			return PanelPlan{}, runs.Report{}, nil
		}
	}
	return q, report, nil
}
