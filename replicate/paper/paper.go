// Package paper holds the paper's figures: one file and one exported function for
// each, with what it shows, what the paper claims and the command that makes it.
//
// A figure is data (Figure): panels, each a scenario with learners, and claims. It asks
// for runs, which package runs computes or finds; their rows become a chart, tables and
// verdicts. Nothing here trains or draws by itself.
package paper

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/continual"
	"tvps/replicate/reinforce"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
	"tvps/replicate/usage"
)

// Figure describes a figure of the paper.
type Figure struct {
	Number         int
	Name           string // "fig01"
	Title, Caption string
	Seeds          string            // as 0,1,2 or 0-7; DefaultSeeds if empty
	SeedsAt        map[string]string // in place of Seeds, by scale
	Panels         []Panel
	Claims         []Claim
}

// DefaultSeeds are those of the paper's Table 2.
const DefaultSeeds = "0,1,2"

// Panel is a scenario with the series that are compared in it.
type Panel struct {
	Key, Title, Scenario string
	Set                  []string // settings over the scale's, as n=50
	Series               []string // learners; the first is what the others are compared with
	Measure, Metric      string   // what the runs report and which of it is shown; accuracy if empty
	YLabel               string   // the metric's meaning; not needed for accuracy
	YRange               *[2]float64
	Absolute             bool     // draw the values, not the differences to the first series
	MeanLines            []string // series that the paper draws as a dashed line at their mean
	Take                 int      // how many of the figure's seeds, 0 for all
}

// metric is the name of what is shown.
func (p Panel) metric() string { return cmp.Or(p.Metric, p.Measure, continual.MeasureAccuracy) }

// accuracy tells whether the panel shows what models can do.
func (p Panel) accuracy() bool { return p.metric() == continual.MeasureAccuracy }

// open tells whether any learner may join the panel.
func (p Panel) open() bool { return p.accuracy() || p.metric() == reinforce.MeasureReturn }

// Catalog lists the figures that exist, by number.
var Catalog = map[int]Entry{
	1: {&fig01, Fig1}, 2: {&fig02, Fig2}, 3: {&fig03, Fig3}, 4: {&fig04, Fig4}, 5: {&fig05, Fig5}, 6: {&fig06, Fig6},
	7: {&fig07, Fig7}, 8: {&fig08, Fig8}, 9: {&fig09, Fig9}, 10: {&fig10, Fig10}, 11: {&fig11, Fig11}, 12: {&fig12, Fig12}, 13: {&fig13, Fig13}, 14: {&fig14, Fig14},
}

// Entry is a figure with the function that makes it.
type Entry struct {
	Figure *Figure
	Run    func(context.Context, *Lab, Options) (*Result, error)
}

// Options are what a user chooses for one figure.
type Options struct {
	Scale     string
	Panels    []string // keys; empty for all
	Seeds     []int64  // empty for the figure's own
	Learners  []string // in place of those of the panels that show accuracy or return; empty for those
	Overrides []string // name=value
	Across    bool     // asked of several figures: what a figure's protocol does not have is not meant for it
	Workers   int
	Out       string // folder for pages, pictures, tables and claims
}

// Lab is what all figures of a process share.
type Lab struct {
	Env    *continual.Env
	Store  *runs.Store
	Stdout io.Writer // tables
	Stderr io.Writer // progress

	ECharts []byte // echarts.min.js, to lie next to each figure's page; nil for none

	done *runs.Report // what All has brought to its end already; nil outside of it
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
	Settings Setup
	Seeds    []int64
	Jobs     []runs.Wanted
	StandIn  bool     // something stands in for the scenario's data, which every file then says
	Shown    string   // the metric's name in tables and files
	Absent   []string // series that are not drawn, as they miss what they would be compared in
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
			return nil, usage.Errorf("%s has no panel %q; did you mean %q? (it has %s)", f.Name, k, settings.Nearest(k, keys), strings.Join(keys, ", "))
		}
	}
	seeds := o.Seeds
	if len(seeds) == 0 {
		var err error
		if seeds, err = ParseSeeds(cmp.Or(f.SeedsAt[o.Scale], f.Seeds, DefaultSeeds)); err != nil {
			return nil, err
		}
	}
	var out []PanelPlan
	for _, p := range f.Panels {
		chosen := len(o.Panels) == 0 || slices.Contains(o.Panels, p.Key)
		overrides, learners := applicable(p, f, o.Overrides, chosen), o.Learners
		if o.Across {
			overrides, learners = o.meant(setupOf(p.Scenario), overrides)
		}
		setup, err := SettingsFor(p.Scenario, o.Scale, slices.Concat(p.Set, overrides))
		if err != nil {
			return nil, usage.Error(err) // also in a panel that is not chosen: b.epochs=x is a mistake anyway
		}
		if !chosen {
			continue
		}
		if len(learners) > 0 && p.open() {
			p.Series = withBase(setup.Base(), learners)
			if base, _ := figures.LookUp(setup.Base()); len(p.Series) < 2 && !p.Absolute {
				return nil, usage.Errorf("panel %s: %s is the line 0; name another learner to compare with it (%s)", p.Key, base.Label, strings.Join(setup.Learners(), ", "))
			}
		}
		for _, name := range p.Series {
			if err := setup.CheckSeries(name, p.Measure); err != nil {
				return nil, usage.Errorf("panel %s: %w", p.Key, err)
			}
		}
		plan := PanelPlan{Panel: p, Settings: setup, Seeds: seeds, Shown: p.metric()}
		if p.Take > 0 {
			plan.Seeds = seeds[:min(p.Take, len(seeds))]
		}
		out = append(out, plan)
	}
	return out, nil
}

// withBase puts the learner first that every other one is compared with, and the others
// behind it, each once.
func withBase(base string, learners []string) []string {
	out := []string{base}
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
	for i := range plan {
		p := &plan[i]
		if p.Jobs, err = p.Settings.jobs(l, p.Series, p.Seeds, p.Measure); err != nil {
			return nil, err
		}
		if p.StandIn = p.Settings.standsIn(l); p.StandIn {
			p.Shown += " (" + continual.StandIn + ")"
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

// figure makes a figure: runs, chart, tables, claims.
func (l *Lab) figure(ctx context.Context, f Figure, o Options) (*Result, error) {
	plan, err := l.Plan(f, o)
	if err != nil {
		return nil, err
	}
	if err := o.checkOut(); err != nil {
		return nil, err
	}
	report, err := l.execute(ctx, plan, o)
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
	if err := l.draw(f, o, plan, r); err != nil {
		return r, err
	}
	return r, report.Err()
}

// checkOut tells whether the output folder can be written, before anything is computed
// that could not be drawn.
func (o Options) checkOut() error {
	if err := runs.TryWrite(o.Out); err != nil {
		return fmt.Errorf("the output folder %s cannot be written (%w): make it writable or choose another with --out", o.Out, err)
	}
	return nil
}

// execute brings the runs of a plan to their end.
func (l *Lab) execute(ctx context.Context, plan []PanelPlan, o Options) (runs.Report, error) {
	if l.done != nil {
		return pick(*l.done, plan), nil
	}
	plan = slices.Clone(plan)
	for i, p := range plan {
		var err error
		if plan[i].Jobs, err = l.prepared(ctx, p, o.Workers); err != nil {
			return runs.Report{}, err
		}
	}
	return runs.Execute(ctx, l.Store, jobsOf(plan), runs.Options{Workers: o.Workers, Out: l.Stderr, Provenance: l.provenance()})
}

// prepared is a panel's jobs as they are best grouped. They are those of the plan: how runs
// are grouped is no part of them.
func (l *Lab) prepared(ctx context.Context, p PanelPlan, workers int) ([]runs.Wanted, error) {
	if l.stored(p.Jobs) {
		return p.Jobs, nil
	}
	if err := p.Settings.prepare(ctx, l, p, workers); err != nil {
		return nil, err
	}
	return p.Settings.jobs(l, p.Series, p.Seeds, p.Measure)
}

// jobsOf lists the runs of all panels.
func jobsOf(plan []PanelPlan) []runs.Job {
	var jobs []runs.Job
	for _, p := range plan {
		for _, job := range p.Jobs {
			jobs = append(jobs, job.Job)
		}
	}
	return jobs
}

func (l *Lab) provenance() runs.Provenance {
	info := l.Env.Backend.Info
	return runs.NewProvenance(info.Name, map[string]string{"plugin": info.PluginVersion, "plugin-sha256": info.PluginSHA256})
}
