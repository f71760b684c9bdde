package cluster

import (
	"fmt"
	"maps"
	"slices"

	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// Request says which runs a plan has, and how it distributes them.
type Request struct {
	lab.Options
	Figures     []paper.Figure
	TaskSeconds float64
	GPUFor      []string // scenarios, or groups of them (see GPUGroups), whose runs are for a GPU
	Backend     string   // of tasks without a GPU; empty for the worker's default
	GPUBackend  string   // of tasks with a GPU
	CacheDir    string   // where checkpoints are looked for; empty for nowhere
}

// Names of groups of scenarios, for Request.GPUFor.
const (
	Images = "images" // whose networks are ResNet-18
	Robots = "robots"
	All    = "all"
	None   = "none"
)

// gpuGroups are the groups by name.
var gpuGroups = map[string]func(o experiment.Outline) bool{
	Images: func(o experiment.Outline) bool { return o.Images },
	Robots: func(o experiment.Outline) bool { return o.Agents },
	All:    func(o experiment.Outline) bool { return o.Backend },
	None:   func(experiment.Outline) bool { return false },
}

// CheckGPUFor returns a usage error for a name that is neither a scenario nor a group of them.
func CheckGPUFor(c lab.Catalog, names []string) error {
	known := slices.Sorted(maps.Keys(gpuGroups))
	for _, p := range c.Protocols {
		known = append(known, p.Scenarios()...)
	}
	return usage.Known("there is no scenario or group of them", names, known)
}

// planner makes a plan.
type planner struct {
	Request
	catalog      lab.Catalog
	index        *claims.RunIndex              // nil if nothing is stored
	environments map[string]claims.Environment // by scenario and whether it runs on a GPU
	order        []*wanted
	byKey        map[string]*wanted
	notes        []string
}

// wanted are the runs of a series under the same settings that panels want, of all figures.
type wanted struct {
	experiment.Outline
	scenario, measure string
	settings          map[string]string
	gpu               bool
	batches           [][]int64
	batchOf           map[int64]int // index of the batch in which a seed is computed: that of the first panel
	steps             map[int64][]int
}

// Make plans the runs of figures that are not stored; index is nil if nothing is. It opens no backend and reads neither
// data nor, but for whether they exist, checkpoints. All its errors are usage errors.
func Make(c lab.Catalog, index *claims.RunIndex, r Request) (Plan, error) {
	p := &planner{Request: r, catalog: c, index: index, environments: map[string]claims.Environment{},
		byKey: map[string]*wanted{}}
	plan := Plan{Format: Format, Scale: string(r.Scale), Arguments: r.Arguments(), TaskSeconds: r.TaskSeconds}
	for _, f := range r.Figures {
		if err := p.addFigure(f); err != nil {
			return Plan{}, fmt.Errorf("%s: %w", f.Name(), err)
		}
		plan.Figures = append(plan.Figures, f.Command())
	}
	p.chooseEnvironments()
	var units []unit
	for _, w := range p.order {
		own, stored := p.missing(w)
		plan.Stored += stored
		units = append(units, own...)
	}
	plan.Tasks = p.tasks(units)
	plan.Notes = p.notes
	return plan, nil
}

// addFigure adds the runs of a figure.
func (p *planner) addFigure(f paper.Figure) error {
	o := p.Options
	o.AllFigures = o.AllFigures || len(p.Figures) > 1
	panels, err := p.catalog.Panels(f, o)
	if err != nil {
		return err
	}
	for _, panel := range panels {
		outlines, err := panel.Settings.Outlines(panel.Series, panel.Measure)
		if err != nil {
			return fmt.Errorf("panel %s: %w", panel.Key, err)
		}
		changed, err := p.changed(panel)
		if err != nil {
			return err
		}
		for _, outline := range outlines {
			p.add(outline, panel, changed)
		}
	}
	return nil
}

// changed returns the settings of a panel that differ from those of its scenario at the scale.
func (p *planner) changed(panel claims.Panel) (map[string]string, error) {
	setup, err := p.catalog.Setup(panel.Scenario, p.Scale, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	own := setup.Fields()
	for i, field := range panel.Settings.Fields() {
		if field.Value != own[i].Value {
			out[field.Name] = field.Value
		}
	}
	return out, nil
}

// add adds the runs of a series. A run that several panels want is computed once, with the steps of all.
func (p *planner) add(o experiment.Outline, panel claims.Panel, changed map[string]string) {
	key := fmt.Sprint(o.Data, o.Learner, o.Settings)
	w := p.byKey[key]
	if w == nil {
		w = &wanted{Outline: o, scenario: panel.Scenario, measure: panel.Measure, settings: changed,
			gpu: p.onGPU(panel.Scenario, o), batchOf: map[int64]int{}, steps: map[int64][]int{}}
		p.byKey[key] = w
		p.order = append(p.order, w)
	}
	w.batches = append(w.batches, panel.Seeds)
	for _, seed := range panel.Seeds {
		if _, ok := w.batchOf[seed]; !ok {
			w.batchOf[seed] = len(w.batches) - 1
		}
		w.steps[seed] = runs.Distinct(append(w.steps[seed], o.Steps...))
	}
}

// onGPU tells whether runs are for a GPU.
func (p *planner) onGPU(scenario string, o experiment.Outline) bool {
	return slices.ContainsFunc(p.GPUFor, func(name string) bool {
		group, ok := gpuGroups[name]
		return name == scenario || ok && group(o)
	})
}

// backends lists those whose stored runs count as computed.
func (p *planner) backends(gpu bool) []string {
	switch {
	case gpu:
		return []string{p.GPUBackend}
	case p.Backend == backend.Default:
		return []string{backend.XLACPU, backend.Go}
	}
	return []string{p.Backend}
}

// chooseEnvironments takes for each scenario the environment in which most of its runs are stored, and notes which.
func (p *planner) chooseEnvironments() {
	if p.index == nil {
		return
	}
	outlines, seeds := map[string][]experiment.Outline{}, map[string][]int64{}
	for _, w := range p.order {
		key := w.environment()
		outlines[key] = append(outlines[key], w.Outline)
		seeds[key] = append(seeds[key], slices.Collect(maps.Keys(w.steps))...)
	}
	for _, w := range p.order {
		key := w.environment()
		if _, ok := p.environments[key]; ok {
			continue
		}
		c := p.index.Choose(outlines[key], seeds[key], p.backends(w.gpu), nil)
		p.environments[key] = c
		if c.Others > 0 {
			p.notes = append(p.notes, fmt.Sprintf("Runs of %s are stored from %s; those of %s count here.",
				w.scenario, runs.Plural(c.Others+1, "environment"), c))
		}
	}
}

// environment names what runs have one environment in common with.
func (w *wanted) environment() string { return fmt.Sprint(w.scenario, w.gpu) }
