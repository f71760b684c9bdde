package claims

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// RunIndex finds stored runs by their settings, whichever machine computed them: it needs no backend, data or
// checkpoint.
type RunIndex struct {
	Store     *runs.Store            // has the runs
	Backends  []string               // of the runs that figures are drawn from; nil for all
	byLearner map[string][]runs.Spec // finished and unfinished runs
	has       map[string]bool        // these, by identity
}

// NewRunIndex lists the runs of a store. Files that cannot be read count as missing. Errors: a folder that cannot be
// listed.
func NewRunIndex(store *runs.Store) (*RunIndex, error) {
	finished, _, err := store.Finished()
	if err != nil {
		return nil, err
	}
	unfinished, _, err := store.Unfinished()
	if err != nil {
		return nil, err
	}
	x := &RunIndex{Store: store, byLearner: map[string][]runs.Spec{}, has: map[string]bool{}}
	x.Add(slices.Concat(finished, unfinished)...)
	return x, nil
}

// Add adds runs that the index does not have.
func (x *RunIndex) Add(specs ...runs.Spec) {
	for _, spec := range specs {
		if id := spec.ID(); !x.has[id] {
			x.has[id] = true
			x.byLearner[spec.Learner] = append(x.byLearner[spec.Learner], spec)
		}
	}
}

// Environment is what a machine adds to the identity of runs, as it is for all seeds.
type Environment struct {
	Settings map[string]string
	Data     experiment.Data
	Runs     int // stored runs of this environment
	Others   int // number of other environments with stored runs
}

// String is as "backend xla:cpu, data full".
func (e Environment) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(e.Settings)) {
		if value := e.Settings[name]; value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// Choose returns the environment in which most runs of the outlines and seeds are stored, of some backends (nil: of
// all). Runs that use no backend have no part in the choice. Where whole tells which runs have all of some steps (nil:
// not asked), more of those count first. Without any stored run it is the zero value.
func (x *RunIndex) Choose(outlines []experiment.Outline, seeds []int64, backends []string,
	whole func(runs.Spec, []int) bool) Environment {
	found, stored := map[string]Environment{}, map[string][]runs.Job{}
	for _, o := range outlines {
		for _, spec := range x.byLearner[o.Learner] {
			data, ok := o.Matches(spec)
			if !ok || !slices.Contains(seeds, spec.Seed) || !o.Backend ||
				backends != nil && !slices.Contains(backends, spec.Settings["backend"]) {
				continue
			}
			e := Environment{Settings: ofAllSeeds(o, spec), Data: data}
			key := fmt.Sprint(data.Experiment, e.Settings)
			if _, ok := found[key]; !ok {
				found[key] = e
			}
			stored[key] = append(stored[key], runs.Job{Spec: spec, Steps: o.Steps})
		}
	}
	var best Environment
	most := -1
	for _, key := range slices.Sorted(maps.Keys(found)) {
		n := 0
		if whole != nil && len(found) > 1 {
			for _, job := range stored[key] {
				if whole(job.Spec, job.Steps) {
					n++
				}
			}
		}
		if count := len(stored[key]); n > most || n == most && count > best.Runs {
			most, best = n, found[key]
			best.Runs = count
		}
	}
	best.Others = max(0, len(found)-1)
	return best
}

// ofAllSeeds is a spec's environment, without the checkpoint of a seed's own split.
func ofAllSeeds(o experiment.Outline, spec runs.Spec) map[string]string {
	out := experiment.Environment(spec)
	if o.Trunk != nil && o.Trunk.PerSplit {
		delete(out, "checkpoint-hash")
	}
	return out
}

// Find returns the stored run of an outline and seed in an environment. ok is false if there is none.
func (x *RunIndex) Find(o experiment.Outline, seed int64, e Environment) (spec runs.Spec, ok bool) {
	for _, spec := range x.byLearner[o.Learner] {
		data, ok := o.Matches(spec)
		if ok && spec.Seed == seed &&
			(!o.Backend || data == e.Data && maps.Equal(ofAllSeeds(o, spec), e.Settings)) {
			return spec, true
		}
	}
	return runs.Spec{}, false
}

// addJobs sets the runs and the data of a panel: those of the environment that Choose returns, and placeholders for the
// others, which no store has.
func (x *RunIndex) addJobs(p *Panel, h *experiment.Host, whole func(runs.Spec, []int) bool) error {
	outlines, err := p.Settings.Outlines(p.Series, p.Measure)
	if err != nil {
		return err
	}
	environment := x.Choose(outlines, p.Seeds, x.Backends, whole)
	p.Jobs = nil
	for _, o := range outlines {
		for _, seed := range p.Seeds {
			spec, ok := x.Find(o, seed, environment)
			if !ok {
				spec = runs.Spec{Experiment: cmp.Or(environment.Data.Experiment, o.Data[0].Experiment), Learner: o.Learner,
					Seed: seed, Settings: o.Settings}
			}
			p.Jobs = append(p.Jobs, runs.Wanted{Series: o.Series, Job: runs.Job{Spec: spec, Steps: o.Steps}})
		}
	}
	p.Source = p.Settings.Source(h)
	if name := environment.Settings["data"]; environment.Runs > 0 && name != "" { // whatever this machine has
		note := fmt.Sprintf("Data of the stored runs: %s", cmp.Or(map[string]string{
			"full": "all of CIFAR-10", "sample": "the embedded sample of CIFAR-10"}[name], name))
		if standIn := environment.Data.StandIn; standIn != "" {
			note = fmt.Sprintf("This is a %s. %s", standIn, note)
		}
		p.Source = experiment.Source{StandIn: environment.Data.StandIn, Note: note}
	}
	return nil
}
