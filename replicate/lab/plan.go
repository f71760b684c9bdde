package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// Options are what a user chooses for a figure, or for all figures.
type Options struct {
	Scale      experiment.Scale
	Panels     []string // keys; empty for all
	Seeds      []int64  // empty for those of the figure
	Learners   []string // shown instead of the declared ones in open panels; empty for these; b.name for panel b alone
	Overrides  []string // name=value, or b.name=value for panel b alone
	AllFigures bool     // for several figures: each ignores options that its protocol does not have
	Workers    int      // number of parallel runs
	Out        string   // folder for pages, pictures, tables and claims
}

// PanelPlan is a panel with its settings and runs.
type PanelPlan struct {
	paper.Panel
	Protocol *experiment.Protocol
	Settings experiment.Setup
	Seeds    []int64
	Jobs     []runs.Wanted
	Source   experiment.Source
	Shown    string   // name of the metric in tables and files
	Absent   []string // series that are not drawn, because runs are missing
}

// standInMark begins the name of the stand-in in the name of a metric, as in "accuracy (stand-in, not CLEAR)".
const standInMark = " ("

// metric returns the name of the metric that the panel shows.
func (p PanelPlan) metric() string { return cmp.Or(p.Metric, p.Measure, p.Protocol.Measure) }

// open tells whether the panel can show any learner: it shows the measure of the protocol.
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
		overrides, learners := applicable(panel, f, o.Overrides, chosen), applicable(panel, f, o.Learners, chosen)
		if o.AllFigures {
			overrides, learners = c.supported(p.Protocol, overrides, learners)
		}
		var err error
		if p.Settings, err = c.Setup(p.Scenario, o.Scale, slices.Concat(p.Set, overrides)); err != nil {
			return nil, err // also if the panel is not chosen, so that a wrong b.epochs=x or learner b.x is found
		}
		if own := applicable(panel, f, o.Learners, false); len(own) > 0 && !p.open() {
			return nil, usage.Errorf("panel %s shows %s: it takes no learner %s.%s", p.Key, p.metric(), p.Key, own[0])
		}
		if err := p.choose(learners); err != nil {
			return nil, err
		}
		if chosen {
			out = append(out, p)
		}
	}
	return out, nil
}

// checkPanels returns a usage error if the figure lacks one of the panels.
func checkPanels(f paper.Figure, keys []string) error {
	var known []string
	for _, p := range f.Panels {
		known = append(known, p.Key)
	}
	for _, k := range keys {
		if !slices.Contains(known, k) {
			return usage.Errorf("%s has no panel %q; did you mean %q? (it has %s)",
				f.Name(), k, experiment.Nearest(k, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// choose sets the series and seeds of the panel and checks the series. An open panel shows the given learners, if any.
// All its errors are usage errors.
func (p *PanelPlan) choose(learners []string) error {
	p.Shown = p.metric()
	if len(learners) > 0 && p.open() {
		p.Series = withBase(p.Protocol.Base, learners)
		if base, _ := figures.LookUp(p.Protocol.Base); len(p.Series) < 2 && !p.Absolute {
			return usage.Errorf("panel %s: %s is the line 0; name another learner to compare with it (%s)",
				p.Key, base.Label, strings.Join(p.Protocol.Learners(), ", "))
		}
	}
	if len(p.References) > 0 {
		p.Series = withBase(p.Series[0], slices.Concat(p.Series, p.References))
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

// trained lists the panel's series that learn: without the references.
func (p PanelPlan) trained() []string {
	return slices.DeleteFunc(slices.Clone(p.Series), func(name string) bool { return slices.Contains(p.References, name) })
}

// withBase returns the base followed by the other learners, each once.
func withBase(base string, learners []string) []string {
	out := []string{base}
	for _, name := range learners {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// applicable returns the options (overrides or learners) for a panel: "b.epochs=5" applies to panel b only, "epochs=5"
// to all chosen panels.
func applicable(p paper.Panel, f paper.Figure, options []string, chosen bool) []string {
	var out []string
	for _, o := range options {
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

// Plan returns Catalog.Panels with the runs of every panel. Errors are those of Panels, and missing data or
// checkpoints.
func (l *Lab) Plan(f paper.Figure, o Options) ([]PanelPlan, error) {
	plan, err := l.Panels(f, o)
	if err != nil {
		return nil, err
	}
	for i := range plan {
		if err := plan[i].resolve(l); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// resolve sets the runs of the panel and the stand-in for its data. Errors are those of AddJobs.
func (p *PanelPlan) resolve(l *Lab) error {
	if err := p.AddJobs(l); err != nil {
		return err
	}
	if p.Source.StandIn != "" {
		p.Shown += standInMark + p.Source.StandIn + ")"
	}
	return nil
}

// AddJobs sets the runs of the panel and their data: those of this machine, or of the stored runs if the lab has a
// shelf. Errors: impossible settings, missing data or checkpoints.
func (p *PanelPlan) AddJobs(l *Lab) (err error) {
	if l.shelf != nil {
		return l.shelf.fill(p, l.Host)
	}
	p.Source = p.Settings.Source(l.Host)
	p.Jobs, err = p.Settings.Jobs(l.Host, p.Series, p.Seeds, p.Measure)
	return err
}

// Notes describes the data, models and settings of the panel, in sentences, and names series that are not drawn.
func (p PanelPlan) Notes() []string {
	out := p.Settings.Notes(p.Source, p.Series, p.Measure)
	if len(p.Absent) > 0 {
		out = append(out, fmt.Sprintf("Not drawn, as runs are missing: %s.", strings.Join(labels(p.Absent), ", ")))
	}
	return out
}

// Execute computes the missing runs of a plan. Failed runs are in the report.
func (l *Lab) Execute(ctx context.Context, plan []PanelPlan, workers int) (runs.Report, error) {
	return l.execute(ctx, plan, workers, nil)
}

// execute is Execute that calls ended as runs.Options says.
func (l *Lab) execute(ctx context.Context, plan []PanelPlan, workers int,
	ended func(runs.Report) string) (runs.Report, error) {
	l.Host.Workers = workers
	o := runs.Options{Workers: workers, Out: l.Stderr, Provenance: l.Provenance(),
		Verify: l.Host.Backend.VerifyPlugin, Ended: ended}
	return runs.Execute(ctx, l.Store, ranked(plan), o)
}

// ranked lists the runs of all panels, ranked by the work of their panels, and of a panel by seeds.
func ranked(plan []PanelPlan) []runs.Job {
	work := func(p PanelPlan) (sum float64) {
		for _, job := range p.Jobs {
			sum += job.Cost * float64(len(job.Steps))
		}
		return sum
	}
	var jobs []runs.Job
	rank := 0
	for _, p := range slices.SortedStableFunc(slices.Values(plan), func(a, b PanelPlan) int {
		return cmp.Compare(work(a), work(b))
	}) {
		for _, job := range jobsOf([]PanelPlan{p}) {
			job.Rank = rank + slices.Index(p.Seeds, job.Spec.Seed)
			jobs = append(jobs, job)
		}
		rank += len(p.Seeds)
	}
	return jobs
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

// Stored tells whether all runs of the panel are stored, with every step.
func (p PanelPlan) Stored(store *runs.Store) bool {
	return !slices.ContainsFunc(p.Jobs, func(job runs.Wanted) bool {
		return store.State(job.Spec, job.Steps).Kind != runs.Done
	})
}
