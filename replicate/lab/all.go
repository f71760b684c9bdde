package lab

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Made is the outcome of one figure of All.
type Made struct {
	Name   string
	Page   string  // its index.html
	Result *Result // nil if nothing could be drawn
	Err    error   // why it is not complete
}

// CheckAll checks the options for every figure. All its errors are usage errors.
func (c Catalog) CheckAll(o Options) error {
	o.AllFigures = true
	for _, f := range c.At(o.Scale) {
		if _, err := c.Panels(f, o); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return nil
}

// All makes every figure of the catalog, each in its own folder below o.Out. All runs are computed first, together: a
// run that several figures share is computed once, and the remaining time is that of all runs. Meanwhile the folders
// have drafts. A figure that fails, wholly or in part, does not stop the others: see Made.Err and Incomplete.
//
// Errors concern all figures: usage errors, an output folder that cannot be written, an interruption (the same call
// then continues).
func (l *Lab) All(ctx context.Context, o Options) ([]Made, error) {
	if err := l.CheckAll(o); err != nil {
		return nil, err
	}
	o.AllFigures = true
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	var drafts []*draft
	for _, f := range l.At(o.Scale) {
		plan, err := l.Plan(f, o)
		if err != nil {
			continue // Make returns the same error
		}
		own := o
		own.Out = filepath.Join(o.Out, f.Name())
		drafts = append(drafts, &draft{figure: f, options: own, plan: plan})
	}
	report, err := l.compute(ctx, o.Workers, drafts...)
	if err != nil {
		return nil, err
	}
	if report.Interrupted {
		return nil, report.Err()
	}
	drawing := &Lab{Catalog: l.Catalog, Host: l.Host, Store: l.Store, Stdout: io.Discard, Stderr: l.Stderr, done: &report}
	return l.each(o, func(f paper.Figure, own Options) (*Result, error) { return drawing.Make(ctx, f, own) }), nil
}

// each draws every figure in its own folder below o.Out.
func (l *Lab) each(o Options, draw func(f paper.Figure, o Options) (*Result, error)) []Made {
	var made []Made
	for _, f := range l.At(o.Scale) {
		own := o
		own.Out = filepath.Join(o.Out, f.Name())
		m := Made{Name: f.Name(), Page: filepath.Join(own.Out, "index.html")}
		m.Result, m.Err = draw(f, own)
		made = append(made, m)
	}
	return made
}

// pick returns the part of a report about the runs of a plan.
func pick(all runs.Report, plan []PanelPlan) runs.Report {
	out := runs.Report{Results: map[string]*runs.Result{}}
	wanted := map[string]bool{}
	for _, job := range jobsOf(plan) {
		id := job.Spec.ID()
		wanted[id] = true
		if r, ok := all.Results[id]; ok {
			out.Results[id] = r
		}
	}
	out.Cached = len(out.Results)
	for _, f := range all.Failed {
		if wanted[f.Spec.ID()] {
			out.Failed = append(out.Failed, f)
		}
	}
	return out
}

// String returns the figure's line in the summary: its verdicts, its page, and why it is not complete.
func (m Made) String() string {
	var parts []string
	if m.Result != nil && len(m.Result.Figure.Panels) > 0 {
		parts = append(parts, fmt.Sprintf("%s; %s", countVerdicts(m.Result.Claims), m.Page))
	}
	if m.Err != nil {
		parts = append(parts, "incomplete: "+m.Err.Error())
	}
	return fmt.Sprintf("%s  %s", m.Name, strings.Join(parts, "; "))
}

// Incomplete returns an error that names the figures that are not complete; nil if all are.
func Incomplete(made []Made) error {
	var names []string
	var first error
	for _, m := range made {
		if m.Err != nil {
			names = append(names, m.Name)
			if first == nil {
				first = m.Err
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%d of %d figures not complete: %s; %s because %w",
		len(names), len(made), strings.Join(names, ", "), names[0], first)
}

// countVerdicts counts the verdicts in words: "6 claims: 3 hold, 1 holds partly, 2 are undecided".
func countVerdicts(claims []Judged) string {
	count := map[Verdict]int{}
	for _, c := range claims {
		count[c.Verdict]++
	}
	var parts []string
	for _, v := range []struct {
		verdict   Verdict
		one, many string
	}{
		{Holds, "holds", "hold"},
		{Partly, "holds partly", "hold partly"},
		{DoesNotHold, "does not hold", "do not hold"},
		{NoDifference, "shows no difference", "show no difference"},
		{Undecided, "is undecided", "are undecided"}, {NotRun, "is not run", "are not run"},
		{NotJudged, "is not judged", "are not judged"},
		{OnStandIn, "is about a stand-in", "are about a stand-in"},
	} {
		switch n := count[v.verdict]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+v.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, v.many))
		}
	}
	switch len(claims) {
	case 0:
		return "no claim"
	case 1:
		return "1 claim " + strings.TrimPrefix(parts[0], "1 ")
	}
	return fmt.Sprintf("%d claims: %s", len(claims), strings.Join(parts, ", "))
}
