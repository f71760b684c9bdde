package lab

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tvps/figures"
	"tvps/replicate/runs"
)

// Sample is how much of a panel is run: seeds, and the distance of the steps.
type Sample struct {
	Seeds  []int64 `json:"seeds"`
	Stride int     `json:"stride,omitempty"` // 0 for the panel's own
}

// evidence returns the rows by which the claims about a plan are judged: those of its panels, or, where they are stored
// whole, those of a larger sample that was declared before it was run. Another figure may declare more seeds of the same
// series under the same settings, and a size that [Lab.Extend] fixed may have more seeds and steps. Chosen seeds or
// learners are judged as they are. Errors: files that cannot be read.
func (l *Lab) evidence(o Options, plan []PanelPlan, rows []figures.Row) ([]figures.Row, error) {
	if len(o.Seeds) > 0 || len(o.Learners) > 0 {
		return rows, nil
	}
	fixed, err := l.fixed()
	if err != nil {
		return nil, err
	}
	declared := l.declared(o)
	for _, p := range plan {
		for _, s := range samples(p, declared, fixed) {
			more, err := l.rowsOf(p, s)
			if err != nil {
				return nil, err
			}
			if len(more) > 0 {
				rows = slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return r.Panel == p.Key })
				rows = append(rows, more...)
				break
			}
		}
	}
	return rows, nil
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
	for _, s := range fixed {
		if s.about(p) {
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

// rowsOf returns the rows of a sample of the panel; none if a run or a step of it is missing.
func (l *Lab) rowsOf(p PanelPlan, s Sample) ([]figures.Row, error) {
	q, err := p.with(s)
	if err != nil {
		return nil, err
	}
	if err := q.AddJobs(l); err != nil {
		return nil, err
	}
	report := runs.Report{Results: map[string]*runs.Result{}}
	for _, job := range q.Jobs {
		result, err := l.Store.Read(job.Spec)
		if errors.Is(err, runs.ErrMissing) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		report.Results[job.Spec.ID()] = result
		if len(finished(job.Job, report).Steps) == 0 {
			return nil, nil
		}
	}
	return q.Rows(report), nil
}
