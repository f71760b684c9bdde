// Package paper holds the paper's figures: one file and one exported function for
// each, with what it shows, what the paper claims and the command that makes it.
//
// A figure is data (Figure): panels, each a scenario with learners, and claims. It asks
// for runs, which package runs computes or finds; their rows become a chart, tables and
// verdicts. Nothing here trains or draws by itself.
package paper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/continual"
	"tvps/replicate/runs"
)

// Figure describes a supervised figure.
type Figure struct {
	Number         int
	Name           string // "fig01"
	Title, Caption string
	Panels         []Panel
	Claims         []Claim
}

// Panel is a scenario with the learners that are compared in it, Everything first.
type Panel struct {
	Key, Title, Scenario string
	Learners             []string
	MeanLines            []string // series that the paper draws as a dashed line at their mean
}

// Catalog lists the figures that exist, by number.
var Catalog = map[int]struct {
	Figure *Figure
	Run    func(context.Context, *Lab, Options) (*Result, error)
}{1: {&fig01, Fig1}}

// Options are what a user chooses for one figure.
type Options struct {
	Scale     string
	Panels    []string // keys; empty for all
	Seeds     []int64
	Learners  []string // in place of the panels' own; empty for those
	Overrides []string // name=value
	Workers   int
	Out       string // folder for pages, pictures, tables and claims
}

// Lab is what all figures of a process share.
type Lab struct {
	Env    *continual.Env
	Store  *runs.Store
	Stdout io.Writer // tables
	Stderr io.Writer // progress
}

// Result is a figure that was made.
type Result struct {
	Figure   figures.Figure
	Rows     []figures.Row
	Tables   []figures.Summary
	Claims   []Judged
	Report   runs.Report
	Computed bool // whether anything was trained

	Record Record // what provenance.json holds
}

// ErrUsage marks errors in what the user asked for.
var ErrUsage = errors.New("usage")

// Usage wraps an error as a mistake of the user's.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

type usageError struct{ error }

func (usageError) Is(target error) bool { return target == ErrUsage }
func (u usageError) Unwrap() error      { return u.error }

func splitOverride(o string) (name, value string, err error) {
	name, value, ok := strings.Cut(o, "=")
	if !ok || name == "" {
		return "", "", fmt.Errorf("the setting %q is not of the form name=value", o)
	}
	return name, value, nil
}

// PanelPlan is a panel with its settings and runs.
type PanelPlan struct {
	Panel
	Settings continual.Settings
	Jobs     []runs.Job
}

// PanelSettings resolves the options of a figure into the settings of the chosen
// panels. All its errors are mistakes of the user's.
func PanelSettings(f Figure, o Options) ([]PanelPlan, error) {
	keys := make([]string, len(f.Panels))
	for i, p := range f.Panels {
		keys[i] = p.Key
	}
	for _, k := range o.Panels {
		if !slices.Contains(keys, k) {
			return nil, Usage(fmt.Errorf("%s has no panel %q; did you mean %q? (it has %s)", f.Name, k, continual.Nearest(k, keys), strings.Join(keys, ", ")))
		}
	}
	var out []PanelPlan
	for _, p := range f.Panels {
		chosen := len(o.Panels) == 0 || slices.Contains(o.Panels, p.Key)
		settings, err := SettingsFor(p.Scenario, o.Scale, applicable(p, f, o.Overrides, chosen))
		if err != nil {
			return nil, Usage(err) // also in a panel that is not chosen: b.epochs=x is a mistake anyway
		}
		if !chosen {
			continue
		}
		if len(o.Learners) > 0 {
			p.Learners = withBase(o.Learners)
		}
		if len(p.Learners) < 2 {
			return nil, Usage(fmt.Errorf("panel %s: Everything is the line 0; name another learner to compare with it (%s)", p.Key, strings.Join(continual.Learners(), ", ")))
		}
		for _, name := range p.Learners {
			if err := continual.CheckLearner(name, settings); err != nil {
				return nil, Usage(fmt.Errorf("panel %s: %w", p.Key, err))
			}
		}
		out = append(out, PanelPlan{Panel: p, Settings: settings})
	}
	return out, nil
}

// withBase puts Everything first, since every other learner is compared with it, and
// the others behind it, each once.
func withBase(learners []string) []string {
	out := []string{"everything"}
	for _, name := range learners {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Plan adds the runs of every panel. A learner that does not exist is a mistake of the
// user's; data or a checkpoint may be missing.
func (l *Lab) Plan(f Figure, o Options) ([]PanelPlan, error) {
	plan, err := PanelSettings(f, o)
	if err != nil {
		return nil, err
	}
	for i, p := range plan {
		if plan[i].Jobs, err = continual.Jobs(l.Env, p.Settings, p.Learners, o.Seeds); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// applicable leaves out overrides that are meant for another panel: "b.epochs=5"
// concerns panel b only, and "epochs=5" the panels that are chosen.
func applicable(p Panel, f Figure, overrides []string, chosen bool) []string {
	var out []string
	for _, o := range overrides {
		key, rest, ok := strings.Cut(o, ".")
		isPanel := ok && slices.ContainsFunc(f.Panels, func(q Panel) bool { return q.Key == key })
		switch {
		case !isPanel && chosen:
			out = append(out, o)
		case isPanel && key == p.Key:
			out = append(out, rest)
		}
	}
	return out
}

// supervised makes a figure of the supervised protocol: runs, chart, tables, claims.
func (l *Lab) supervised(ctx context.Context, f Figure, o Options) (*Result, error) {
	plan, err := l.Plan(f, o)
	if err != nil {
		return nil, err
	}
	if err := runs.TryWrite(o.Out); err != nil { // before anything is computed that could not be drawn
		return nil, fmt.Errorf("the output folder %s cannot be written (%w): make it writable or choose another with --out", o.Out, err)
	}
	var jobs []runs.Job
	for _, p := range plan {
		jobs = append(jobs, p.Jobs...)
	}
	info := l.Env.Backend.Info
	provenance := runs.NewProvenance(info.Name, map[string]string{"plugin": info.PluginVersion, "plugin-sha256": info.PluginSHA256})
	report, err := runs.Execute(ctx, l.Store, jobs, runs.Options{Workers: o.Workers, Out: l.Stderr, Provenance: provenance})
	if err != nil {
		return nil, err
	}
	r := &Result{Report: report, Computed: report.Computed > 0}
	for _, p := range plan {
		r.Rows = append(r.Rows, collect(p, report)...)
	}
	if report.Interrupted {
		return r, report.Err()
	}
	plan, r.Rows = drawable(plan, r.Rows)
	if len(plan) == 0 {
		return r, report.Err()
	}
	if err := l.draw(f, o, plan, provenance, r); err != nil {
		return r, err
	}
	return r, report.Err()
}
