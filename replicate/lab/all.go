package lab

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tvps/replicate/claims"
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
	failed := map[string]error{} // figures that cannot be planned
	for _, f := range l.At(o.Scale) {
		own := o
		own.Out = filepath.Join(o.Out, f.Name())
		plan, err := l.Plan(f, own)
		if err != nil {
			failed[f.Name()] = err
			continue
		}
		drafts = append(drafts, &draft{figure: f, options: own, plan: plan})
	}
	report, err := l.compute(ctx, o.Workers, drafts...)
	if err != nil {
		return nil, err
	}
	if report.Interrupted {
		return nil, report.Err()
	}
	quiet := *l
	quiet.Stdout = io.Discard
	return l.each(o, func(f paper.Figure, _ Options) (*Result, error) {
		i := slices.IndexFunc(drafts, func(d *draft) bool { return d.figure.Number == f.Number })
		if i < 0 {
			return nil, failed[f.Name()]
		}
		return quiet.finish(drafts[i], report)
	}), nil
}

// DrawAll is Draw for every figure of the catalog, each in its own folder below o.Out.
func (l *Lab) DrawAll(ctx context.Context, o Options) ([]Made, error) {
	if err := l.CheckAll(o); err != nil {
		return nil, err
	}
	o.AllFigures = true
	if err := o.CheckOut(); err != nil {
		return nil, err
	}
	quiet := *l
	quiet.Stdout = io.Discard
	made := l.each(o, func(f paper.Figure, own Options) (*Result, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return quiet.Draw(f, own)
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted: %w", err)
	}
	return made, nil
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
func pick(all runs.Report, plan []claims.Panel) runs.Report {
	out := all
	out.Results, out.Failed = map[string]*runs.Result{}, nil
	wanted := map[string]bool{}
	for _, p := range plan {
		for _, job := range p.Jobs {
			id := job.Spec.ID()
			if wanted[id] = true; all.Results[id] != nil {
				out.Results[id] = all.Results[id]
			}
		}
	}
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
		parts = append(parts, fmt.Sprintf("%s; %s", claims.CountVerdicts(m.Result.Claims), m.Page))
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
