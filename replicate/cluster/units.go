package cluster

import (
	"cmp"
	"slices"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

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
		Seeds: members, Group: w.Group, Steps: runs.Distinct(slices.Clone(steps))}
	u := unit{Runs: r, trunk: w.Trunk, gpu: w.gpu, cpus: p.cpus(w), memory: roundedMemory(w.Memory(len(members)))}
	perStep := w.Outline.Seconds.CPU
	if w.gpu {
		perStep = w.Outline.Seconds.GPU
	}
	u.seconds = perStep * float64(len(r.Steps)*len(members))
	if r.Group == 0 {
		u.Batch = members
	}
	return u
}

// cpus is the number of processors of runs: two for a GPU, which one thread feeds.
func (p *planner) cpus(w *wanted) int {
	if w.gpu {
		return 2
	}
	return cmp.Or(w.CPUs, 2)
}

// roundedMemory rounds MiB up to a power of two, at least 2 GiB, for few arrays.
func roundedMemory(mib int) int {
	size := 2 << 10
	for size < mib {
		size *= 2
	}
	return size
}
