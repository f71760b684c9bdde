package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/protocol"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
	"tvps/replicate/usage"
)

// Options say which runs a plan has, and how it distributes them.
type Options struct {
	lab.Options
	Figures     []paper.Figure
	Arguments   []string // for Plan.Arguments
	TaskSeconds float64
	Group       int      // largest group of agents; 0 for DefaultGroup
	GPUFor      []string // scenarios, or groups of them (see GPUGroups), whose runs are for a GPU
	Backend     string   // of tasks without a GPU; empty for the worker's default
	GPUBackend  string   // of tasks with a GPU
	CacheDir    string   // where checkpoints are looked for; empty for nowhere
}

// DefaultGroup is the largest group of agents of a plan. Measured on two cores, a group of five makes nearly as many
// steps per second as one of ten; two groups of five need half the time on two nodes.
const DefaultGroup = 5

// Names of groups of scenarios, for Options.GPUFor.
const (
	Images = "images" // whose networks are ResNet-18
	Robots = "robots"
	All    = "all"
	None   = "none"
)

// gpuGroups are the groups by name.
var gpuGroups = map[string]func(o protocol.Outline) bool{
	Images: func(o protocol.Outline) bool { return o.Images },
	Robots: func(o protocol.Outline) bool { return o.Group == protocol.MeasuredGroup },
	All:    func(o protocol.Outline) bool { return o.Backend },
	None:   func(protocol.Outline) bool { return false },
}

// CheckGPUFor returns a usage error for a name that is neither a scenario nor a group of them.
func CheckGPUFor(c lab.Catalog, names []string) error {
	known := slices.Sorted(maps.Keys(gpuGroups))
	for _, p := range c.Protocols {
		known = append(known, p.Scenarios()...)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return usage.Errorf("%q is neither a scenario nor a group of them; did you mean %q? (%s)",
				name, settings.Nearest(name, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// planner makes a plan.
type planner struct {
	Options
	catalog lab.Catalog
	shelf   *lab.Shelf            // nil if nothing is stored
	choices map[string]lab.Choice // by scenario and whether it runs on a GPU
	rates   map[string]rate
	order   []*wanted
	byKey   map[string]*wanted
	notes   []string
}

// wanted are the runs of a series under the same settings that panels want, of all figures.
type wanted struct {
	protocol.Outline
	scenario, measure string
	settings          map[string]string
	gpu               bool
	batches           [][]int64
	batchOf           map[int64]int // index of the batch in which a seed is computed: that of the first panel
	steps             map[int64][]int
}

// Make plans the runs of figures that are not stored; shelf is nil if nothing is. It opens no backend and reads neither
// data nor, but for whether they exist, checkpoints. All its errors are usage errors.
func Make(c lab.Catalog, shelf *lab.Shelf, o Options) (Plan, error) {
	p := &planner{Options: o, catalog: c, shelf: shelf, choices: map[string]lab.Choice{}, rates: map[string]rate{},
		byKey: map[string]*wanted{}}
	plan := Plan{Format: Format, Scale: string(o.Scale), Arguments: o.Arguments, TaskSeconds: o.TaskSeconds}
	for _, f := range o.Figures {
		if err := p.addFigure(f); err != nil {
			return Plan{}, fmt.Errorf("%s: %w", f.Name(), err)
		}
		plan.Figures = append(plan.Figures, f.Command())
	}
	p.choose()
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
	o := p.Options.Options
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
func (p *planner) changed(panel lab.PanelPlan) (map[string]string, error) {
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
func (p *planner) add(o protocol.Outline, panel lab.PanelPlan, changed map[string]string) {
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
func (p *planner) onGPU(scenario string, o protocol.Outline) bool {
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

// choose takes for each scenario the environment in which most of its runs are stored, and notes which.
func (p *planner) choose() {
	if p.shelf == nil {
		return
	}
	outlines, seeds := map[string][]protocol.Outline{}, map[string][]int64{}
	for _, w := range p.order {
		key := w.environment()
		outlines[key] = append(outlines[key], w.Outline)
		seeds[key] = append(seeds[key], slices.Collect(maps.Keys(w.steps))...)
	}
	for _, w := range p.order {
		key := w.environment()
		if _, ok := p.choices[key]; ok {
			continue
		}
		c := p.shelf.Choose(outlines[key], seeds[key], p.backends(w.gpu))
		p.choices[key] = c
		if c.Others > 0 {
			p.notes = append(p.notes, fmt.Sprintf("Runs of %s are stored from %s; those of %s count here.",
				w.scenario, runs.Plural(c.Others+1, "environment"), c))
		}
	}
}

// environment names what runs have one environment in common with.
func (w *wanted) environment() string { return fmt.Sprint(w.scenario, w.gpu) }

// unit is what cannot be divided between tasks: a group of batched seeds, or a run or shard of it.
type unit struct {
	Runs
	trunk        *protocol.Trunk
	gpu          bool
	cpus, memory int
	seconds      float64
	source       Estimate
}

// missing returns the units of runs that are not stored whole, and the number of those that are.
func (p *planner) missing(w *wanted) (units []unit, stored int) {
	todo := map[int64][]int{}
	for seed, steps := range w.steps {
		if todo[seed] = steps; p.shelf == nil {
			continue
		}
		spec, ok := p.shelf.Find(w.Outline, seed, p.choices[w.environment()])
		if !ok {
			continue
		}
		known := p.shelf.Store.Steps(spec)
		todo[seed] = slices.DeleteFunc(slices.Clone(steps), func(t int) bool {
			_, ok := slices.BinarySearch(known, t)
			return ok
		})
		if len(todo[seed]) == 0 {
			delete(todo, seed)
			stored++
		}
	}
	for i, batch := range w.batches {
		for _, group := range runs.Groups(batch, max(1, p.group(w, len(batch)))) { // single seeds if none are batched
			members := slices.DeleteFunc(slices.Clone(group), func(seed int64) bool {
				return w.batchOf[seed] != i || todo[seed] == nil
			})
			if len(members) > 0 {
				units = append(units, p.unitsOf(w, batch, members, todo)...)
			}
		}
	}
	return units, stored
}

// group returns the largest group of batched seeds; 0 for none.
func (p *planner) group(w *wanted, seeds int) int {
	if w.Group != protocol.MeasuredGroup {
		return w.Group
	}
	size := min(cmp.Or(p.Group, DefaultGroup), seeds)
	for size > 1 && seeds > 1 && slices.Contains(runs.GroupSizes(seeds, size), 1) {
		size-- // a seed alone would be rounded differently from the others
	}
	return size
}

// unitsOf returns the unit of a group, or the shards of a run.
func (p *planner) unitsOf(w *wanted, batch, members []int64, todo map[int64][]int) []unit {
	var steps []int
	for _, seed := range members {
		steps = append(steps, todo[seed]...)
	}
	r := Runs{Scenario: w.scenario, Series: w.Series, Measure: w.measure, Settings: w.settings, Batch: batch,
		Seeds: members, Group: p.group(w, len(batch)), Steps: runs.Distinct(slices.Clone(steps)), Cost: w.Cost}
	u := unit{Runs: r, trunk: w.Trunk, gpu: w.gpu, cpus: p.cpus(w), memory: roundedMemory(w.Memory(len(members)))}
	perStep, source := p.perStep(w)
	u.seconds, u.source = perStep*float64(len(r.Steps)*len(members)), source
	if r.Group > 0 {
		return []unit{u}
	}
	u.Batch = members
	n := min(int(math.Round(u.seconds/p.TaskSeconds)), len(r.Steps))
	if n < 2 {
		return []unit{u}
	}
	var out []unit
	for k := range n {
		part, shard := u, runs.Job{Steps: r.Steps}.Part(k+1, n)
		part.Steps, part.Shard = shard.Steps, shard.Shard
		part.seconds = perStep * float64(len(part.Steps))
		out = append(out, part)
	}
	return out
}

// cpus is the number of processors of runs. Vector models and agents were measured on two: more do not help a group
// much. A GPU is fed by one thread.
func (p *planner) cpus(w *wanted) int {
	if w.Images && !w.gpu {
		return 4
	}
	return 2
}

// roundedMemory rounds MiB up to a power of two, at least 2 GiB, for few arrays.
func roundedMemory(mib int) int {
	size := 2 << 10
	for size < mib {
		size *= 2
	}
	return size
}

// tasks packs units into tasks, and puts those before them whose results they need.
func (p *planner) tasks(units []unit) []Task {
	p.packable(units)
	var out []Task
	pretrain := map[string]int{} // tasks by checkpoint
	features := map[string]int{} // and by features
	open := map[string]int{}     // the task of each kind that is not full
	for _, u := range units {
		for _, seed := range u.Seeds {
			if u.trunk != nil {
				p.prepare(&out, pretrain, features, u, seed)
			}
		}
		kind := fmt.Sprint(u.gpu, u.cpus, u.memory, u.trunk != nil)
		i, ok := open[kind]
		if !ok || out[i].Seconds+u.seconds > p.TaskSeconds {
			i = len(out)
			open[kind] = i
			t := Task{ID: i, Stage: StageCPU, GPU: u.gpu, CPUs: u.cpus, MemoryMB: u.memory, Source: u.source,
				Backend: p.Backend}
			if u.gpu {
				t.Stage, t.Backend = StageGPU, p.GPUBackend
			}
			out = append(out, t)
		}
		t := &out[i]
		t.add(u)
		if u.trunk != nil {
			for _, seed := range u.Seeds {
				t.After = append(t.After, features[featuresKey(u, seed)])
			}
			t.After = runs.Distinct(t.After)
		}
	}
	return ordered(out)
}

// packable sorts units so that those of a kind and scenario are next to each other, in the order of figures otherwise.
func (p *planner) packable(units []unit) {
	slices.SortStableFunc(units, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.memory, b.memory), cmp.Compare(a.cpus, b.cpus),
			strings.Compare(a.Scenario, b.Scenario))
	})
}

// add adds a unit to the task. Seeds that differ in nothing else share an entry.
func (t *Task) add(u unit) {
	t.Seconds += u.seconds
	if u.source == Guessed {
		t.Source = Guessed
	}
	if last := len(t.Runs) - 1; last >= 0 && u.Group == 0 && u.Shard == "" && t.Runs[last].sameBut(u.Runs) {
		t.Runs[last].Seeds = slices.Concat(t.Runs[last].Seeds, u.Seeds)
		t.Runs[last].Batch = t.Runs[last].Seeds
		return
	}
	t.Runs = append(t.Runs, u.Runs)
}

// sameBut tells whether runs differ from others in their seeds alone, and neither are shards.
func (r Runs) sameBut(other Runs) bool {
	return r.sameRun(other) && r.Group == other.Group && r.Shard == other.Shard && slices.Equal(r.Steps, other.Steps)
}

// sameRun tells whether runs differ from others in seeds and steps alone.
func (r Runs) sameRun(other Runs) bool {
	return r.Scenario == other.Scenario && r.Series == other.Series && r.Measure == other.Measure &&
		maps.Equal(r.Settings, other.Settings)
}

// pretrainEpochs are the epochs of pre-training, the paper's.
const pretrainEpochs = 100

// prepare adds the tasks of the features and of the checkpoint that a seed needs, once.
func (p *planner) prepare(out *[]Task, pretrain, features map[string]int, u unit, seed int64) {
	key := featuresKey(u, seed)
	if _, ok := features[key]; ok {
		return
	}
	t := Task{Stage: StageFeatures, GPU: u.gpu, CPUs: 4, MemoryMB: u.memory, Source: Guessed, Backend: p.Backend,
		Features: &Features{Scenario: u.Scenario, Settings: u.Settings, Seed: seed}}
	growth := math.Pow(float64(u.trunk.Width)/16, 1.5) // measured: a step of ResNet-18 takes 8 times as long at width 64
	t.Seconds = 60 * growth
	if t.GPU {
		t.Backend, t.Seconds = p.GPUBackend, 15*growth
	}
	if name := resnet.FileName(u.trunk.Width, seed); u.trunk.PerSplit && !hasCheckpoint(p.CacheDir, u.trunk.Width, seed) {
		i, ok := pretrain[name]
		if !ok {
			i = len(*out)
			pretrain[name] = i
			before := Task{ID: i, Stage: StagePretrain, GPU: t.GPU, CPUs: 4, MemoryMB: 8 << 10, Source: Guessed,
				Backend: t.Backend, Pretrain: &Pretrain{Width: u.trunk.Width, Split: seed, Epochs: pretrainEpochs}}
			before.Seconds = 110 * growth * pretrainEpochs // measured: .31 s a minibatch at width 16 on two cores
			if t.GPU {
				before.Seconds = 5 * growth * pretrainEpochs
			}
			*out = append(*out, before)
		}
		t.After = []int{i}
	}
	t.ID = len(*out)
	features[key] = t.ID
	*out = append(*out, t)
}

// featuresKey is equal for runs that share features.
func featuresKey(u unit, seed int64) string {
	if !u.trunk.PerSplit {
		seed = 0
	}
	return fmt.Sprint(u.trunk.Features, seed)
}

// hasCheckpoint tells whether the checkpoint of a split is in the program or in the cache; cacheDir is empty for none.
func hasCheckpoint(cacheDir string, width int, split int64) bool {
	folder := ""
	if cacheDir != "" {
		folder = filepath.Join(cacheDir, "checkpoints")
	}
	_, _, err := resnet.Load(folder, width, split)
	return err == nil
}

// ordered sorts tasks by stage and resources and renumbers them.
func ordered(tasks []Task) []Task {
	slices.SortStableFunc(tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(slices.Index(Stages, a.Stage), slices.Index(Stages, b.Stage)),
			strings.Compare(a.resources(), b.resources()))
	})
	number := map[int]int{}
	for i, t := range tasks {
		number[t.ID] = i
	}
	for i := range tasks {
		tasks[i].ID = i
		for j, before := range tasks[i].After {
			tasks[i].After[j] = number[before]
		}
		slices.Sort(tasks[i].After)
	}
	return tasks
}

// resources are equal for tasks of one array.
func (t Task) resources() string {
	return fmt.Sprintf("%t %5d %9d %t", t.GPU, t.CPUs, t.MemoryMB, len(t.After) > 0)
}

// Checkpoints lists the checkpoints that the figures of a scale need, and those of them that are not in the cache.
func Checkpoints(c lab.Catalog, scale settings.Scale, cacheDir string) (needed, missing []Pretrain, err error) {
	plan, err := Make(c, nil, Options{Options: lab.Options{Scale: scale}, Figures: c.At(scale), TaskSeconds: math.Inf(1)})
	if err != nil {
		return nil, nil, err
	}
	for _, t := range plan.Tasks {
		if t.Pretrain == nil {
			continue
		}
		needed = append(needed, *t.Pretrain)
		if !hasCheckpoint(cacheDir, t.Pretrain.Width, t.Pretrain.Split) {
			missing = append(missing, *t.Pretrain)
		}
	}
	return needed, missing, nil
}
