package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/protocol"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
	"tvps/replicate/usage"
)

// Options are what a user chooses for one figure.
type Options struct {
	Scale      settings.Scale
	Panels     []string // keys; empty for all
	Seeds      []int64  // empty for the figure's own
	Learners   []string // instead of those of the panels that show what learners reach; empty for those
	Overrides  []string // name=value
	AllFigures bool     // options are given for several figures: a figure ignores those that its protocol does not have
	Workers    int      // number of parallel runs
	Out        string   // folder for pages, pictures, tables and claims
}

// PanelPlan is a panel with its settings and runs.
type PanelPlan struct {
	paper.Panel
	Protocol *protocol.Protocol
	Settings protocol.Setup
	Seeds    []int64
	Jobs     []runs.Wanted
	StandIn  string   // what every file says if something stands in for the scenario's data; else empty
	Shown    string   // the metric's name in tables and files
	Absent   []string // series that are not drawn, since runs that they would be compared with are missing
}

// metric is the name of what is shown.
func (p PanelPlan) metric() string { return cmp.Or(p.Metric, p.Measure, p.Protocol.Measure) }

// open tells whether any learner may join the panel: it shows what learners reach.
func (p PanelPlan) open() bool { return p.metric() == p.Protocol.Measure }

// Panels resolves the options of a figure into the settings of the chosen panels, without runs. All its errors are
// usage errors.
func (c Catalog) Panels(f paper.Figure, o Options) ([]PanelPlan, error) {
	if err := checkPanels(f, o.Panels); err != nil {
		return nil, err
	}
	seeds := o.Seeds
	if len(seeds) == 0 {
		var err error
		if seeds, err = ParseSeeds(f.SeedsFor(o.Scale)); err != nil {
			return nil, err
		}
	}
	var out []PanelPlan
	for _, panel := range f.Panels {
		chosen := len(o.Panels) == 0 || slices.Contains(o.Panels, panel.Key)
		p := PanelPlan{Panel: panel, Protocol: c.protocolOf(panel.Scenario), Seeds: seeds}
		overrides, learners := applicable(panel, f, o.Overrides, chosen), o.Learners
		if o.AllFigures {
			overrides, learners = c.supported(p.Protocol, overrides, learners)
		}
		var err error
		if p.Settings, err = c.Setup(p.Scenario, o.Scale, slices.Concat(p.Set, overrides)); err != nil {
			return nil, err // also in a panel that is not chosen: b.epochs=x is a mistake anyway
		}
		if !chosen {
			continue
		}
		if err := p.choose(learners); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// checkPanels tells whether the figure has the panels of these keys.
func checkPanels(f paper.Figure, keys []string) error {
	var known []string
	for _, p := range f.Panels {
		known = append(known, p.Key)
	}
	for _, k := range keys {
		if !slices.Contains(known, k) {
			return usage.Errorf("%s has no panel %q; did you mean %q? (it has %s)",
				f.Name(), k, settings.Nearest(k, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// choose puts the learners that a user names into an open panel, and checks its series.
func (p *PanelPlan) choose(learners []string) error {
	p.Shown = p.metric()
	if len(learners) > 0 && p.open() {
		p.Series = withBase(p.Protocol.Base, learners)
		if base, _ := figures.LookUp(p.Protocol.Base); len(p.Series) < 2 && !p.Absolute {
			return usage.Errorf("panel %s: %s is the line 0; name another learner to compare with it (%s)",
				p.Key, base.Label, strings.Join(p.Protocol.Learners(), ", "))
		}
	}
	for _, name := range p.Series {
		if err := p.Settings.CheckSeries(name, p.Measure); err != nil {
			return usage.Errorf("panel %s: %w", p.Key, err)
		}
	}
	if p.Take > 0 {
		p.Seeds = p.Seeds[:min(p.Take, len(p.Seeds))]
	}
	return nil
}

// withBase puts the learner first that every other one is compared with, and the others behind it, each once.
func withBase(base string, learners []string) []string {
	out := []string{base}
	for _, name := range learners {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// applicable leaves out overrides that are meant for another panel: "b.epochs=5" concerns panel b only, and "epochs=5"
// the panels that are chosen.
func applicable(p paper.Panel, f paper.Figure, overrides []string, chosen bool) []string {
	var out []string
	for _, o := range overrides {
		key, rest, ok := strings.Cut(o, ".")
		isPanel := ok && slices.ContainsFunc(f.Panels, func(q paper.Panel) bool { return q.Key == key })
		switch {
		case !isPanel && chosen:
			out = append(out, o)
		case isPanel && key == p.Key:
			out = append(out, rest)
		}
	}
	return out
}

// Plan is Catalog.Panels with the runs of every panel. Besides usage errors, data or a checkpoint may be missing.
func (l *Lab) Plan(f paper.Figure, o Options) ([]PanelPlan, error) {
	plan, err := l.Panels(f, o)
	if err != nil {
		return nil, err
	}
	for i := range plan {
		if err := plan[i].AddJobs(l); err != nil {
			return nil, err
		}
		if plan[i].StandIn = plan[i].Settings.Source(l.Host).StandIn; plan[i].StandIn != "" {
			plan[i].Shown += " (" + plan[i].StandIn + ")"
		}
	}
	return plan, nil
}

// AddJobs plans the runs of the panel.
func (p *PanelPlan) AddJobs(l *Lab) (err error) {
	p.Jobs, err = p.Settings.Jobs(l.Host, p.Series, p.Seeds, p.Measure)
	return err
}

// Notes says what the panel was made from, in sentences.
func (p PanelPlan) Notes(h *protocol.Host) []string {
	out := p.Settings.Notes(h, p.Series, p.Measure)
	if len(p.Absent) > 0 {
		out = append(out, fmt.Sprintf("Not drawn, as runs are missing: %s.", strings.Join(labels(p.Absent), ", ")))
	}
	return out
}

// Execute completes the runs of a plan.
func (l *Lab) Execute(ctx context.Context, plan []PanelPlan, workers int) (runs.Report, error) {
	if l.done != nil {
		return pick(*l.done, plan), nil
	}
	l.Host.Workers = workers
	return runs.Execute(ctx, l.Store, jobsOf(plan), runs.Options{Workers: workers, Out: l.Stderr,
		Provenance: l.Provenance()})
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

// Stored tells whether all runs of the panel are there, with every step.
func (p PanelPlan) Stored(store *runs.Store) bool {
	return !slices.ContainsFunc(p.Jobs, func(j runs.Wanted) bool {
		return store.State(j.Spec,
			j.Steps).Kind != runs.Done
	})
}
