// Package backtest says whether weights of the past would have helped on a table. For each block of time a model
// learns from the blocks before it with the weights of each rule, and predicts the block (step.go). rules.go has the
// rules, and Request.More adds others; scores.go compares them, advice.go says what to use. The models are those of
// linear.go, or the user's own, which command.go calls.
package backtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
)

// Run tests. Test blocks that the store has are not computed again, but see Request.Reuse. Errors:
// *runs.InterruptedError, and those of the models.
func (p *Job) Run(ctx context.Context, h Host) (*Result, error) {
	log := newConsole(h.Log)
	model := newTrainer(p.Model, h.Workers, log)
	defer model.close()
	job, err := p.job(model)
	if err != nil {
		return nil, err
	}
	about := p.About
	about.Notes = slices.Clone(about.Notes)
	note := func(text string, args ...any) {
		about.AddNote(text, args...)
		fmt.Fprintf(log, "note: "+text+"\n", args...)
	}
	if start, steps := h.Store.Begun(job.Spec, p.Reuse); p.ownModel() && steps > 0 {
		note("%d test blocks are taken from a back test that began on %s; for others, as after a change of the trainer, "+
			"name another folder with --results", steps, start.Format("2006-01-02 15:04 MST"))
	} else if p.ownModel() {
		unseen, err := p.checkWeights(ctx, model)
		if err != nil {
			return nil, err
		}
		if unseen != "" {
			note("%s", unseen)
		}
	}
	report, err := runs.Execute(ctx, h.Store, []runs.Job{job}, runs.Options{Workers: 1, Out: log})
	if err == nil && len(report.Failed) > 0 {
		err = report.Failed[0].Err
		if failed, ok := errors.AsType[*runs.StepError](err); ok {
			name := tables.ShortName(p.Stream.Times.Names[failed.Step])
			if err = fmt.Errorf("the test block of %s: %w", name, failed.Err); errors.Is(err, crossfit.ErrFewRows) {
				err = &table.Error{File: p.File, Problem: "the rows before the test block of " + name + " are too few, or too " +
					"much alike, for g", Fix: "test fewer blocks with --last, choose a coarser --bin, or give --kinds none", Err: err}
			}
		}
	}
	if err = cmp.Or(err, report.Err()); err != nil {
		return nil, err
	}
	r := newResult(p, about, report.Results[job.Spec.ID()].Rows)
	if p.Tested != nil { // by the rule of drift and weights
		err = r.Test(ctx, p.Request.Request, p.Tested)
	}
	return r, p.Mendable(err)
}
