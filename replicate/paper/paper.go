// Package paper holds the paper's figures: one file and one exported function for
// each, with what it shows, what the paper claims and the command that makes it.
//
// A figure is data (Figure): panels, each a scenario with learners, and claims. It asks
// for runs, which package runs computes or finds; their rows become a chart, tables and
// verdicts. Nothing here trains or draws by itself.
package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/continual"
	"tvps/replicate/runs"

	"github.com/google/renameio/v2"
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
		if len(o.Panels) > 0 && !slices.Contains(o.Panels, p.Key) {
			continue
		}
		settings, err := SettingsFor(p.Scenario, o.Scale, applicable(p, f, o.Overrides))
		if err != nil {
			return nil, Usage(err)
		}
		if len(o.Learners) > 0 {
			p.Learners = withBase(o.Learners)
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

// withBase puts Everything first: every other learner is compared with it.
func withBase(learners []string) []string {
	return append([]string{"everything"}, slices.DeleteFunc(slices.Clone(learners), func(n string) bool { return n == "everything" })...)
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
// concerns panel b only.
func applicable(p Panel, f Figure, overrides []string) []string {
	var out []string
	for _, o := range overrides {
		key, rest, ok := strings.Cut(o, ".")
		isPanel := ok && slices.ContainsFunc(f.Panels, func(q Panel) bool { return q.Key == key })
		switch {
		case !isPanel:
			out = append(out, o)
		case key == p.Key:
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
	if len(r.Rows) == 0 {
		return r, report.Err()
	}
	if err := l.draw(f, o, plan, provenance, r); err != nil {
		return r, err
	}
	return r, report.Err()
}

// collect turns a panel's finished runs into rows.
func collect(p PanelPlan, report runs.Report) []figures.Row {
	var rows []figures.Row
	for _, job := range p.Jobs {
		result, ok := report.Results[job.Spec.ID()]
		if !ok {
			continue
		}
		for _, r := range result.Rows {
			if r.Metric == "accuracy" {
				rows = append(rows, figures.Row{Panel: p.Key, Series: job.Spec.Learner, Seed: job.Spec.Seed, T: r.T, Metric: r.Metric, Value: r.Value})
			}
		}
	}
	return rows
}

func (l *Lab) draw(f Figure, o Options, plan []PanelPlan, provenance runs.Provenance, r *Result) error {
	r.Figure = figures.Figure{Name: f.Name, Title: f.Title, Caption: f.Caption}
	for _, p := range plan {
		panel, err := chart(p, r.Rows)
		if err != nil {
			return err
		}
		panel.Notes = l.notes(p, o)
		r.Figure.Panels = append(r.Figure.Panels, panel)
		summary, err := figures.Table(r.Rows, p.Key, "accuracy", "everything")
		if err != nil {
			return err
		}
		r.Tables = append(r.Tables, summary)
	}
	r.Figure.Source = []string{fmt.Sprintf("Scale %s, %d seeds, backend %s, commit %s.", o.Scale, len(o.Seeds), provenance.Backend, commit(provenance))}
	for _, c := range f.Claims {
		if slices.ContainsFunc(plan, func(p PanelPlan) bool { return p.Key == c.Panel }) {
			r.Claims = append(r.Claims, judge(c, r.Rows))
		}
	}
	if err := figures.Write(r.Figure, r.Rows, provenanceOf(o, plan, provenance, r.Report), o.Out); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(o.Out, "claims.json"), r.Claims); err != nil {
		return err
	}
	return l.print(o, r)
}

func commit(p runs.Provenance) string {
	switch {
	case p.Commit == "":
		return "unknown"
	case p.Dirty:
		return p.Commit[:min(12, len(p.Commit))] + " with changes"
	}
	return p.Commit[:min(12, len(p.Commit))]
}

// chart describes one panel: every series relative to Everything, which is the line 0.
func chart(p PanelPlan, rows []figures.Row) (figures.Panel, error) {
	panel := figures.Panel{Key: p.Key, Title: p.Title, XLabel: "time step t", YLabel: "test accuracy minus Everything",
		Reference: figures.NewReference("everything", 0)}
	for _, name := range p.Learners {
		if name == "everything" {
			continue
		}
		points, _, err := figures.Relative(rows, p.Key, "accuracy", name, "everything")
		if err != nil {
			return panel, err
		}
		series := figures.NewSeries(name, points)
		if slices.Contains(p.MeanLines, name) {
			series.Style = figures.MeanLine
		}
		panel.Series = append(panel.Series, series)
	}
	return panel, nil
}

// notes says in words what a panel was made from.
func (l *Lab) notes(p PanelPlan, o Options) []string {
	s := p.Settings
	limit := ""
	if s.MaxUpdates > 0 {
		limit = fmt.Sprintf(" (at most %d minibatches of %d)", s.MaxUpdates, s.Batch)
	}
	out := []string{fmt.Sprintf("N = %d samples a step, %d epochs%s, every %s step of %d, clip %s, %s.",
		s.N, s.Epochs, limit, ordinal(s.Stride), s.Steps, s.Clip, s.Method)}
	if s.Network != "head" {
		return out
	}
	if data, err := l.Env.Images(s); err == nil {
		out = append(out, data.Source.Note+".")
	}
	out = append(out, fmt.Sprintf("ResNet-18 of width %d, trained part starts %s.", s.Width, map[string]string{"pretrained": "from the pre-trained weights", "reinit": "from new random weights"}[s.Start]))
	if s.Checkpoint == "committed" {
		out = append(out, "One checkpoint, pre-trained on split 0, serves all seeds.")
	}
	return out
}

func ordinal(n int) string {
	if n == 1 {
		return "single"
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		suffix = map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
		if suffix == "" {
			suffix = "th"
		}
	}
	return fmt.Sprint(n, suffix)
}

// provenanceOf collects what provenance.json holds.
func provenanceOf(o Options, plan []PanelPlan, p runs.Provenance, report runs.Report) any {
	settings := map[string]map[string]string{}
	var ids []map[string]any
	for _, panel := range plan {
		settings[panel.Key] = map[string]string{}
		for _, field := range panel.Settings.Fields() {
			settings[panel.Key][field.Name] = field.Value
		}
		for _, job := range panel.Jobs {
			if r, ok := report.Results[job.Spec.ID()]; ok {
				ids = append(ids, map[string]any{"panel": panel.Key, "run": job.Spec.String(), "id": job.Spec.ID(), "provenance": r.Provenance})
			}
		}
	}
	return map[string]any{"scale": o.Scale, "seeds": o.Seeds, "settings": settings, "made-by": p, "runs": ids}
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// print writes tables and verdicts.
func (l *Lab) print(o Options, r *Result) error {
	for _, t := range r.Tables {
		if err := figures.PrintTable(l.Stdout, t); err != nil {
			return err
		}
	}
	fmt.Fprintln(l.Stdout, "Claims of the paper, here:")
	for _, c := range r.Claims {
		fmt.Fprintln(l.Stdout, c)
	}
	_, err := fmt.Fprintf(l.Stdout, "Figure: %s\n", filepath.Join(o.Out, "index.html"))
	return err
}
