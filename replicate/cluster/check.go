package cluster

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/replicate/experiment"
)

// Bounds of what a plan may ask for, far above what makes sense.
const (
	mostCPUs     = 1 << 12
	mostMemory   = 1 << 26 // MiB
	leastSeconds = 1e-3
	mostSeconds  = 1e9
	mostSeeds    = 10_000
	mostSteps    = 1 << 20 // of all tasks, over all seeds
)

// check returns an error for a plan that this program would not write. It names the task.
func (p Plan) check() error {
	if _, err := experiment.ParseScale(p.Scale); err != nil {
		return err
	}
	switch {
	case !between(p.TaskSeconds, leastSeconds, mostSeconds):
		return fmt.Errorf("task-seconds %g must be between %g and %g", p.TaskSeconds, leastSeconds, float64(mostSeconds))
	case p.Stored < 0:
		return fmt.Errorf("stored %d must not be negative", p.Stored)
	case len(p.Figures) == 0:
		return errors.New("it names no figure")
	}
	seen, names, steps := map[unitKey]int{}, map[string]int{}, 0
	for i, t := range p.Tasks {
		if t.ID != i {
			return fmt.Errorf("the task at place %d has the number %d", i, t.ID)
		}
		if i > 0 && slices.Index(Stages, t.Stage) < slices.Index(Stages, p.Tasks[i-1].Stage) {
			return fmt.Errorf("task %d of stage %s follows one of stage %s", i, t.Stage, p.Tasks[i-1].Stage)
		}
		if err := t.check(); err != nil {
			return fmt.Errorf("task %d: %w", i, err)
		}
		if steps += t.Steps(); steps > mostSteps {
			return fmt.Errorf("it has more than %d steps", mostSteps)
		}
		for _, key := range t.units(names) {
			if other, ok := seen[key]; ok {
				return fmt.Errorf("task %d computes what task %d computes: %s", i, other, t)
			}
			seen[key] = i
		}
	}
	return nil
}

// check returns an error for a task that cannot be computed.
func (t Task) check() error {
	contents := 0
	for _, has := range []bool{t.Pretrain != nil, t.Features != nil, len(t.Runs) > 0} {
		if has {
			contents++
		}
	}
	switch {
	case !slices.Contains(Stages, t.Stage):
		return fmt.Errorf("there is no stage %q", t.Stage)
	case contents != 1:
		return errors.New("it must have one of pretrain, features and runs")
	case (t.Pretrain != nil) != (t.Stage == StagePretrain), (t.Features != nil) != (t.Stage == StageFeatures):
		return fmt.Errorf("its contents are not those of stage %s", t.Stage)
	case t.Stage == StageGPU && !t.GPU, t.Stage == StageCPU && t.GPU:
		return fmt.Errorf("gpu is %t in stage %s", t.GPU, t.Stage)
	case t.CPUs < 1 || t.CPUs > mostCPUs:
		return fmt.Errorf("cpus %d must be between 1 and %d", t.CPUs, mostCPUs)
	case t.MemoryMB < 1 || t.MemoryMB > mostMemory:
		return fmt.Errorf("memory-mb %d must be between 1 and %d", t.MemoryMB, mostMemory)
	case !between(t.Seconds, 0, mostSeconds):
		return fmt.Errorf("seconds %g must be between 0 and %g", t.Seconds, float64(mostSeconds))
	case t.Source != Measured && t.Source != Guessed:
		return fmt.Errorf("source %q must be %s or %s", t.Source, Measured, Guessed)
	}
	for _, id := range t.After {
		if id < 0 || id >= t.ID {
			return fmt.Errorf("it needs task %d, which does not come before it", id)
		}
	}
	if p := t.Pretrain; p != nil {
		if err := p.Config().Validate(); err != nil {
			return fmt.Errorf("pretrain: %w", err)
		}
	}
	if f := t.Features; f != nil && (f.Scenario == "" || f.Seed < 0) {
		return fmt.Errorf("features: scenario %q and seed %d: give a name and no negative seed", f.Scenario, f.Seed)
	}
	for _, r := range t.Runs {
		if err := r.check(); err != nil {
			return fmt.Errorf("runs of %s/%s: %w", r.Scenario, r.Series, err)
		}
	}
	return nil
}

// check returns an error for runs that cannot be computed.
func (r Runs) check() error {
	switch {
	case r.Scenario == "" || r.Series == "":
		return errors.New("name a scenario and a series")
	case len(r.Seeds) == 0 || len(r.Steps) == 0:
		return errors.New("give seeds and steps")
	case len(r.Batch) > mostSeeds || len(r.Seeds) > mostSeeds:
		return fmt.Errorf("more than %d seeds", mostSeeds)
	case hasDuplicates(r.Seeds), hasDuplicates(r.Batch):
		return errors.New("a seed is given twice")
	case r.Group < 0:
		return fmt.Errorf("group %d must not be negative", r.Group)
	case !between(r.Cost, 0, math.MaxFloat64):
		return fmt.Errorf("cost %g must be a finite number", r.Cost)
	}
	for _, seed := range r.Seeds {
		if seed < 0 || !slices.Contains(r.Batch, seed) {
			return fmt.Errorf("seed %d is negative or not in the batch", seed)
		}
	}
	if !slices.IsSorted(r.Steps) || hasDuplicates(r.Steps) || r.Steps[0] < 0 {
		return errors.New("steps must ascend from 0 or more")
	}
	return nil
}

// unitKey is a step of a seed of a run, or a checkpoint.
type unitKey struct {
	name int // of the runs, by their settings
	seed int64
	step int
}

// units lists the parts of a task that no other task may compute; names numbers the names of runs. Different settings
// can have the same features, so these are none.
func (t Task) units(names map[string]int) []unitKey {
	number := func(name string) int {
		if _, ok := names[name]; !ok {
			names[name] = len(names)
		}
		return names[name]
	}
	if t.Pretrain != nil {
		return []unitKey{{name: number(fmt.Sprint("checkpoint ", t.Pretrain.Width)), seed: t.Pretrain.Split}}
	}
	var out []unitKey
	for _, r := range t.Runs {
		name := number(strings.Join([]string{r.Scenario, r.Series, r.Measure, fmt.Sprint(r.Settings)}, " "))
		for _, seed := range r.Seeds {
			for _, step := range r.Steps {
				out = append(out, unitKey{name, seed, step})
			}
		}
	}
	return out
}

// Steps is the number of steps of the task's runs, over all seeds.
func (t Task) Steps() int {
	sum := 0
	for _, r := range t.Runs {
		sum += len(r.Seeds) * len(r.Steps)
	}
	return sum
}

func between(x, low, high float64) bool { return x >= low && x <= high }

func hasDuplicates[T int | int64](list []T) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) < len(list)
}
