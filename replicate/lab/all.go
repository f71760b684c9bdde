package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// Made is the outcome of one figure of All.
type Made struct {
	Name   string
	Page   string  // or its folder, where it has none
	Result *Result // nil if nothing could be drawn
	Err    error   // why it is not complete
}

// CheckAll checks the options for every figure. All its errors are usage errors.
func (c Catalog) CheckAll(o Options) error {
	o.AllFigures = true
	for _, f := range c.FiguresAt(o.Scale) {
		if _, err := c.Panels(f, o); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return nil
}

// All makes every figure of the catalog, each in its own folder below o.Out. All runs are computed together: a run that
// several figures share is computed once, and the remaining time is that of all runs. A figure is drawn when its own
// runs have ended, those with the least work first. One that fails, wholly or in part, does not stop the others: see
// Made.Err and Incomplete.
//
// Errors concern all figures: a store that cannot be written, an interruption (the same call then continues).
func (l *Lab) All(ctx context.Context, o Options) ([]Made, error) {
	var left []*planned
	var panels []claims.Panel
	made := l.each(o, func(f paper.Figure, o Options) (*Result, error) {
		p, err := l.prepare(f, o)
		if err == nil {
			left, panels = append(left, p), append(panels, p.panels...)
		}
		return nil, err
	})
	draw := func(p *planned, report runs.Report) {
		i := slices.IndexFunc(made, func(m Made) bool { return m.Name == p.figure.Name() })
		made[i].Result, made[i].Err = l.finish(p, pick(report, p.panels))
	}
	report, err := l.execute(ctx, ranked(panels, false), o.Workers, func(report runs.Report) string {
		var drawn []string
		left = slices.DeleteFunc(left, func(p *planned) bool {
			open := func(c claims.Collected) bool { return !ended(c, report.Failed) }
			if slices.ContainsFunc(claims.CollectAll(p.panels, report), open) {
				return false
			}
			draw(p, report)
			drawn = append(drawn, fmt.Sprintf("%s drawn: %s", p.figure.Name(), p.options.made()))
			return true
		})
		return strings.Join(drawn, "\n")
	})
	if err != nil {
		return nil, err
	}
	for _, p := range left {
		draw(p, report)
	}
	return made, nil
}

// DrawAll is Draw for every figure of the catalog, each in its own folder below o.Out.
func (l *Lab) DrawAll(ctx context.Context, o Options) ([]Made, error) {
	made := l.each(o, func(f paper.Figure, o Options) (*Result, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return l.Draw(f, o)
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted: %w", err)
	}
	return made, nil
}

// each calls do for every figure, with its own folder below o.Out.
func (l *Lab) each(o Options, do func(f paper.Figure, o Options) (*Result, error)) []Made {
	o.AllFigures = true
	parent := o.Out
	var made []Made
	for _, f := range l.FiguresAt(o.Scale) {
		o.Out = filepath.Join(parent, f.Name())
		m := Made{Name: f.Name(), Page: o.made()}
		m.Result, m.Err = do(f, o)
		made = append(made, m)
	}
	return made
}

// pick returns the part of a report about the runs of a plan.
func pick(all runs.Report, plan []claims.Panel) runs.Report {
	wanted := idsOf(plan...)
	all.Results = maps.Clone(all.Results)
	maps.DeleteFunc(all.Results, func(id string, _ *runs.Result) bool { return !wanted[id] })
	all.Failed = slices.DeleteFunc(slices.Clone(all.Failed), func(f runs.Failure) bool { return !wanted[f.Spec.ID()] })
	return all
}

// idsOf is the set of the identities of the panels' runs.
func idsOf(panels ...claims.Panel) map[string]bool {
	out := map[string]bool{}
	for _, p := range panels {
		for _, job := range p.Jobs {
			out[job.Spec.ID()] = true
		}
	}
	return out
}

// String returns the figure's line in the summary: its verdicts, its page, and why it is not complete.
func (m Made) String() string {
	var parts []string
	if m.Result != nil && len(m.Result.Figure.Panels) > 0 {
		parts = append(parts, fmt.Sprintf("%s; %s", m.Result.Figure.Tally, m.Page))
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
			names, first = append(names, m.Name), cmp.Or(first, m.Err)
		}
	}
	if first == nil {
		return nil
	}
	err := fmt.Errorf("%d of %d figures not complete: %s; %s because %w",
		len(names), len(made), strings.Join(names, ", "), names[0], first)
	if len(names) < len(made) && errors.Is(first, usage.Err) { // something was drawn
		return errors.New(err.Error())
	}
	return err
}
