// Package drift says whether a table has drifted: the tests of package tables say in what, times.go when, columns.go by
// which columns, maps.go which part of the past is like the present, and text.go puts it in words.
package drift

import (
	"context"
	"slices"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
)

// Job is a request whose table was read and checked.
type Job struct {
	tables.Request
	tables.Opened
}

// Prepare reads the table. It finds all that the user can mend in the table or the request, as *table.Error, before
// anything is computed.
func Prepare(q tables.Request) (*Job, error) {
	o, err := q.Open("")
	return &Job{q, o}, err
}

// Measure answers. progress, if not nil, is called before each part of the work with the share that is done, and the
// name of the part. Errors: a *table.Error if the rows differ too little, and those of package propensity.
func (p *Job) Measure(ctx context.Context, progress func(share float64, next string)) (
	*Result, error) {
	r := &Result{About: p.About, Used: len(p.Tested.Of), Blocks: p.Tested.Blocks}
	m := &measurement{Sample: p.Tested, q: p.Request, ctx: ctx}
	if progress == nil {
		progress = func(float64, string) {}
	}
	if err := r.measure(m, progress); err != nil {
		return nil, p.Mendable(err)
	}
	r.Notes = slices.Concat(r.Notes, p.Tested.Merged, m.notes, m.g.Notes)
	r.Verdict = r.judge()
	return r, nil
}

// measure fills in all but the verdict. The shares of the work were timed on tables of 1e5 rows.
func (r *Result) measure(m *measurement, show func(share float64, next string)) (err error) {
	show(0, "tests for drift")
	if err = r.Test(m.ctx, m.q, m.Sample); err != nil {
		return err
	}
	m.finding = r.Finding
	show(.3, "propensity score")
	cfg := m.q.Fit
	cfg.Kinds = []crossfit.Kind{crossfit.Covariate}
	if m.Data.HasY() {
		cfg.Kinds = crossfit.Kinds()
	}
	if m.g, err = crossfit.Fit(m.ctx, m.Data, cfg, m.q.Seed); err != nil {
		return err
	}
	r.Joint, r.Covariate = m.g.Joint, m.g.Covariate
	show(.6, "tests over time")
	if r.Tests, err = m.overTime(); err != nil {
		return err
	}
	show(.8, "columns")
	if r.Columns, err = m.columns(); err != nil {
		return err
	}
	show(.9, "map")
	r.Maps, err = m.maps()
	return err
}
