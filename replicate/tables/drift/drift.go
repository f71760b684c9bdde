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

// Measure answers. progress, if not nil, is called with the share of the work done and what is done next. Errors: a
// *table.Error if the rows differ too little, and those of package propensity.
func (p *Job) Measure(ctx context.Context, progress func(share float64, next string)) (
	*Result, error) {
	r := &Result{About: p.About, Used: len(p.Tested.Of), Blocks: p.Tested.Blocks}
	m := &measurement{Sample: p.Tested, q: p.Request, ctx: ctx}
	if err := r.measure(m, progress); err != nil {
		return nil, p.Mendable(err)
	}
	r.Notes = slices.Concat(r.Notes, m.notes, m.g.Notes)
	r.Verdict = r.judge()
	return r, nil
}

// measure fills in all but the verdict.
func (r *Result) measure(m *measurement, show func(share float64, next string)) error {
	cfg := m.q.Fit
	cfg.Kinds = []crossfit.Kind{crossfit.Covariate}
	if m.Data.HasY() {
		cfg.Kinds = crossfit.Kinds()
	}
	done := 0.
	for _, part := range []struct {
		name  string
		share float64 // of the work, as it was timed on tables of 1e5 rows
		run   func(progress func(share float64)) error
	}{
		{"tests for drift", .3, func(progress func(float64)) error {
			q := m.q
			q.Fit.Progress = progress
			err := r.Test(m.ctx, q, m.Sample)
			m.finding = r.Finding
			return err
		}},
		{"propensity score", .3, func(progress func(float64)) (err error) {
			cfg.Progress = progress
			if m.g, err = crossfit.Fit(m.ctx, m.Data, cfg, m.q.Seed); err == nil {
				r.Joint, r.Covariate = m.g.Joint, m.g.Covariate
			}
			return err
		}},
		{"tests over time", .2, func(progress func(float64)) (err error) {
			r.Tests, err = m.overTime(progress)
			return err
		}},
		{"columns", .1, func(progress func(float64)) (err error) {
			r.Columns, err = m.columns(progress)
			return err
		}},
		{"map", .1, func(progress func(float64)) (err error) {
			r.Maps, err = m.maps(progress)
			return err
		}},
	} {
		progress := tables.Phase(show, done, part.share, part.name)
		progress(0)
		if err := part.run(progress); err != nil {
			return err
		}
		done += part.share
	}
	return nil
}
