package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"tvps/gomlx_models/resnet"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// tasks packs units into tasks, and puts those before them whose results they need.
func (p *planner) tasks(units []unit) []Task {
	slices.SortStableFunc(units, func(a, b unit) int { // those of a kind and scenario next to each other
		return cmp.Or(cmp.Compare(a.memory, b.memory), cmp.Compare(a.cpus, b.cpus),
			strings.Compare(a.Scenario, b.Scenario))
	})
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
			t := Task{ID: i, Stage: StageCPU, GPU: u.gpu, CPUs: u.cpus, MemoryMB: u.memory, Backend: p.Backend}
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

// add adds a unit to the task. Seeds that differ in nothing else share an entry.
func (t *Task) add(u unit) {
	t.Seconds += u.seconds
	if last := len(t.Runs) - 1; last >= 0 && u.Group == 0 && t.Runs[last].sameBut(u.Runs) {
		t.Runs[last].Seeds = slices.Concat(t.Runs[last].Seeds, u.Seeds)
		t.Runs[last].Batch = t.Runs[last].Seeds
		return
	}
	t.Runs = append(t.Runs, u.Runs)
}

// sameBut tells whether runs differ from others in their seeds alone.
func (r Runs) sameBut(other Runs) bool {
	return r.Scenario == other.Scenario && r.Series == other.Series && r.Measure == other.Measure &&
		r.Group == other.Group && maps.Equal(r.Settings, other.Settings) && slices.Equal(r.Steps, other.Steps)
}

// pretrainEpochs are the epochs of pre-training, the paper's.
const pretrainEpochs = 100

// prepare adds the tasks of the features and of the checkpoint that a seed needs, once.
func (p *planner) prepare(out *[]Task, pretrain, features map[string]int, u unit, seed int64) {
	key := featuresKey(u, seed)
	if _, ok := features[key]; ok {
		return
	}
	t := Task{Stage: StageFeatures, GPU: u.gpu, CPUs: 4, MemoryMB: u.memory, Backend: p.Backend,
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
			before := Task{ID: i, Stage: StagePretrain, GPU: t.GPU, CPUs: 4, MemoryMB: 8 << 10, Backend: t.Backend,
				Pretrain: &Pretrain{Width: u.trunk.Width, Split: seed, Epochs: pretrainEpochs}}
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

// unit is what cannot be divided between tasks: a group of batched seeds, or a run.
type unit struct {
	Runs
	trunk        *experiment.Trunk
	gpu          bool
	cpus, memory int
	seconds      float64
}

// missing returns the units of runs that are not stored whole, and the number of those that are.
func (p *planner) missing(w *wanted) (units []unit, stored int) {
	todo := map[int64][]int{}
	for seed, steps := range w.steps {
		if todo[seed] = steps; p.index == nil {
			continue
		}
		spec, ok := p.index.Find(w.Outline, seed, p.environments[w.environment()])
		if !ok {
			continue
		}
		known := p.index.Store.Steps(spec)
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
		for _, group := range runs.Groups(batch, max(1, w.Group)) { // single seeds if none are batched
			members := slices.DeleteFunc(slices.Clone(group), func(seed int64) bool {
				return w.batchOf[seed] != i || todo[seed] == nil
			})
			if len(members) > 0 {
				units = append(units, p.unitOf(w, batch, members, todo))
			}
		}
	}
	return units, stored
}

// unitOf returns the unit of a group, or of a run.
func (p *planner) unitOf(w *wanted, batch, members []int64, todo map[int64][]int) unit {
	var steps []int
	for _, seed := range members {
		steps = append(steps, todo[seed]...)
	}
	r := Runs{Scenario: w.scenario, Series: w.Series, Measure: w.measure, Settings: w.settings, Batch: batch,
		Seeds: members, Group: w.Group, Steps: runs.Distinct(steps)}
	u := unit{Runs: r, trunk: w.Trunk, gpu: w.gpu, cpus: cmp.Or(w.CPUs, 2), memory: roundedMemory(w.Memory(len(members)))}
	perStep := w.Outline.Seconds.CPU
	if w.gpu {
		perStep, u.cpus = w.Outline.Seconds.GPU, 2 // one thread feeds it
	}
	u.seconds = perStep * float64(len(r.Steps)*len(members))
	if r.Group == 0 {
		u.Batch = members
	}
	return u
}

// roundedMemory rounds MiB up to a power of two, at least 2 GiB, for few arrays.
func roundedMemory(mib int) int {
	size := 2 << 10
	for size < mib {
		size *= 2
	}
	return size
}
