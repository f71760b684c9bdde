package claims

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// RunIndex finds stored runs by their settings, whichever machine computed them: it needs no backend, data or
// checkpoint.
type RunIndex struct {
	Backends  []string               // of the runs that figures are drawn from; nil for all
	byLearner map[string][]runs.Spec // finished and unfinished runs
	has       map[string]bool        // these, by identity
}

// NewRunIndex lists the runs of a store. Files that cannot be read count as missing. Errors: a folder that cannot be
// listed.
func NewRunIndex(store *runs.Store) (*RunIndex, error) {
	specs, err := store.Specs()
	if err != nil {
		return nil, err
	}
	x := &RunIndex{byLearner: map[string][]runs.Spec{}, has: map[string]bool{}}
	x.Add(specs...)
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

// environment is what a machine adds to the identity of runs, as it is for all seeds.
type environment struct {
	settings map[string]string
	data     experiment.Data
}

// choose returns the environment whose runs of a panel are the fullest. Runs that use no backend have no part in the
// choice. ok is false without any stored run.
func (a Archive) choose(p Panel, outlines []experiment.Outline) (best environment, ok bool) {
	x := a.Index
	found, stored := map[string]environment{}, map[string][]runs.Job{}
	for _, o := range outlines {
		for _, spec := range x.byLearner[o.Learner] {
			data, ok := o.Matches(spec)
			if !ok || !slices.Contains(p.Seeds, spec.Seed) || !o.Backend ||
				x.Backends != nil && !slices.Contains(x.Backends, spec.Settings["backend"]) {
				continue
			}
			e := environment{ofAllSeeds(o, spec), data}
			key := fmt.Sprint(data.Experiment, e.settings)
			found[key] = e
			stored[key] = append(stored[key], runs.Job{Spec: spec, Steps: o.Steps})
		}
	}
	best, ok = found[a.fullest(stored, p)]
	return best, ok
}

// fullest is the key of those runs of which most are whole, and of several keys that of the most runs.
func (a Archive) fullest(stored map[string][]runs.Job, p Panel) (best string) {
	mostWhole, most := 0, 0
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		n := 0
		for _, job := range stored[key] {
			if len(stored) > 1 && a.whole(job, p) {
				n++
			}
		}
		if count := len(stored[key]); n > mostWhole || n == mostWhole && count > most {
			mostWhole, most, best = n, count, key
		}
	}
	return best
}

const checkpointHash = "checkpoint-hash"

// perSplit says whether each seed of an outline has the network of its own split.
func perSplit(o experiment.Outline) bool { return o.Trunk != nil && o.Trunk.PerSplit }

// ofAllSeeds is a spec's environment, without the checkpoint of a seed's own split.
func ofAllSeeds(o experiment.Outline, spec runs.Spec) map[string]string {
	out := experiment.Environment(spec)
	if perSplit(o) {
		delete(out, checkpointHash)
	}
	return out
}

// in lists the stored runs of an outline and seed in an environment.
func (x *RunIndex) in(o experiment.Outline, seed int64, e environment) (specs []runs.Spec) {
	for _, spec := range x.byLearner[o.Learner] {
		data, ok := o.Matches(spec)
		if ok && spec.Seed == seed &&
			(!o.Backend || data == e.data && maps.Equal(ofAllSeeds(o, spec), e.settings)) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// ofSeed returns the stored run of each outline of a panel for a seed in an environment, by its place. Those of a split
// are of one network, that with the fullest runs: runs from two networks are not compared.
func (a Archive) ofSeed(p Panel, outlines []experiment.Outline, seed int64, e environment) map[int]runs.Spec {
	ofNetwork, byPlace := map[string][]runs.Job{}, map[int][]runs.Spec{}
	for i, o := range outlines {
		byPlace[i] = a.Index.in(o, seed, e)
		for _, spec := range byPlace[i] {
			if hash := spec.Settings[checkpointHash]; perSplit(o) {
				ofNetwork[hash] = append(ofNetwork[hash], runs.Job{Spec: spec, Steps: o.Steps})
			}
		}
	}
	network, out := a.fullest(ofNetwork, p), map[int]runs.Spec{}
	for i, o := range outlines {
		at := slices.IndexFunc(byPlace[i], func(s runs.Spec) bool { return !perSplit(o) || s.Settings[checkpointHash] == network })
		if at >= 0 {
			out[i] = byPlace[i][at]
		}
	}
	return out
}

// addStored sets the runs and the data of a panel: those of the environment that choose returns, and placeholders for
// the others, which no store has.
func (a Archive) addStored(p *Panel) error {
	outlines, err := p.Settings.Outlines(p.Series, p.Measure)
	if err != nil {
		return err
	}
	from, chosen := a.choose(*p, outlines)
	bySeed := map[int64]map[int]runs.Spec{}
	for _, seed := range p.Seeds {
		bySeed[seed] = a.ofSeed(*p, outlines, seed, from)
	}
	p.Jobs = nil
	for i, o := range outlines {
		for _, seed := range p.Seeds {
			spec, ok := bySeed[seed][i]
			if !ok {
				spec = runs.Spec{Experiment: cmp.Or(from.data.Experiment, o.Data[0].Experiment), Learner: o.Learner,
					Seed: seed, Settings: o.Settings}
			}
			p.Jobs = append(p.Jobs, runs.Wanted{Series: o.Series, Job: runs.Job{Spec: spec, Steps: o.Steps}})
		}
	}
	p.Source = p.Settings.Source(a.Host)
	if name := from.settings["data"]; chosen && name != "" { // whatever this machine has
		note := fmt.Sprintf("Data of the stored runs: %s", cmp.Or(map[string]string{
			"full": "all of CIFAR-10", "sample": "the embedded sample of CIFAR-10"}[name], name))
		if standIn := from.data.StandIn; standIn != "" {
			note = fmt.Sprintf("This is a %s. %s", standIn, note)
		}
		p.Source = experiment.Source{StandIn: from.data.StandIn, Note: note}
	}
	return nil
}
