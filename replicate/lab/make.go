package lab

import (
	"context"

	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Result is a finished figure.
type Result struct {
	Figure   figures.Figure
	Rows     []figures.Row
	Tables   []figures.Summary
	Claims   []Judged
	Report   runs.Report
	Computed bool // whether anything was trained

	Record Record // the contents of provenance.json

	evidence evidence // what the claims are judged by
}

// Make computes the missing runs of a figure, draws it into the folder o.Out, and prints its tables and verdicts. If
// runs failed it returns an error together with a result of what could be drawn without them. Meanwhile o.Out has a
// draft with the panels whose runs have ended. If Make is interrupted, the draft stays and the result has the finished
// runs.
func (l *Lab) Make(ctx context.Context, f paper.Figure, o Options) (*Result, error) {
	plan, err := l.Plan(f, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	report, err := l.compute(ctx, o.Workers, &draft{figure: f, options: o, plan: plan})
	if err != nil {
		return nil, err
	}
	r := &Result{Report: report, Computed: report.Computed > 0}
	for _, p := range plan {
		r.Rows = append(r.Rows, p.Rows(report)...)
	}
	if report.Interrupted {
		return r, report.Err()
	}
	plan, r.Rows = drawable(plan, r.Rows)
	if len(plan) == 0 {
		return r, report.Err()
	}
	if err := l.Host.Backend.VerifyPlugin(); err != nil {
		return nil, err // the figure's provenance names the plugin
	}
	if err := l.draw(f, o, plan, r); err != nil {
		return r, err
	}
	return r, report.Err()
}
