package lab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// Shelf finds stored runs by their settings, whichever machine computed them: it needs no backend, data or checkpoint.
type Shelf struct {
	Store     *runs.Store            // has the runs
	byLearner map[string][]runs.Spec // finished and unfinished runs
	has       map[string]bool        // these, by identity
	backends  []string               // of the runs that figures are drawn from; nil for all
}

// NewShelf lists the runs of a store. Files that cannot be read count as missing. Errors: a folder that cannot be
// listed.
func NewShelf(store *runs.Store) (*Shelf, error) {
	finished, _, err := store.Finished()
	if err != nil {
		return nil, err
	}
	unfinished, _, err := store.Unfinished()
	if err != nil {
		return nil, err
	}
	s := &Shelf{Store: store, byLearner: map[string][]runs.Spec{}, has: map[string]bool{}}
	s.add(slices.Concat(finished, unfinished)...)
	return s, nil
}

// add adds runs that the shelf does not have.
func (s *Shelf) add(specs ...runs.Spec) {
	for _, spec := range specs {
		if id := spec.ID(); !s.has[id] {
			s.has[id] = true
			s.byLearner[spec.Learner] = append(s.byLearner[spec.Learner], spec)
		}
	}
}

// Choice is an environment: what the machine adds to the identity of runs, as it is for all seeds.
type Choice struct {
	Environment map[string]string
	Data        experiment.Data
	Runs        int // stored runs of this environment
	Others      int // number of other environments with stored runs
}

// String is as "backend xla:cpu, data full".
func (c Choice) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		if value := c.Environment[name]; value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// Choose returns the environment in which most runs of the outlines and seeds are stored, of some backends (nil: of
// all). Runs that use no backend have no part in the choice. Without any stored run it is the zero value.
func (s *Shelf) Choose(outlines []experiment.Outline, seeds []int64, backends []string) Choice {
	found := map[string]*Choice{}
	for _, o := range outlines {
		for _, spec := range s.byLearner[o.Learner] {
			data, ok := o.Matches(spec)
			if !ok || !slices.Contains(seeds, spec.Seed) || !o.Backend ||
				backends != nil && !slices.Contains(backends, spec.Settings["backend"]) {
				continue
			}
			c := Choice{Environment: ofAllSeeds(o, spec), Data: data}
			key := fmt.Sprint(data.Experiment, c.Environment)
			if found[key] == nil {
				found[key] = &c
			}
			found[key].Runs++
		}
	}
	var best Choice
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if c := found[key]; c.Runs > best.Runs {
			best = *c
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
func (s *Shelf) Find(o experiment.Outline, seed int64, c Choice) (spec runs.Spec, ok bool) {
	for _, spec := range s.byLearner[o.Learner] {
		data, ok := o.Matches(spec)
		if !ok || spec.Seed != seed {
			continue
		}
		if !o.Backend || data == c.Data && maps.Equal(ofAllSeeds(o, spec), c.Environment) {
			return spec, true
		}
	}
	return runs.Spec{}, false
}

// fill sets the runs and the data of a panel: those that are stored in the environment with the most of them, and
// placeholders for the others, which no store has.
func (s *Shelf) fill(p *PanelPlan, h *experiment.Host) error {
	outlines, err := p.Settings.Outlines(p.Series, p.Measure)
	if err != nil {
		return err
	}
	choice := s.Choose(outlines, p.Seeds, s.backends)
	p.Jobs = nil
	for _, o := range outlines {
		for _, seed := range p.Seeds {
			spec, ok := s.Find(o, seed, choice)
			if !ok {
				spec = runs.Spec{Experiment: cmp.Or(choice.Data.Experiment, o.Data[0].Experiment), Learner: o.Learner,
					Seed: seed, Settings: o.Settings}
			}
			p.Jobs = append(p.Jobs, runs.Wanted{Series: o.Series, Job: runs.Job{Spec: spec, Steps: o.Steps, Cost: o.Cost}})
		}
	}
	p.Source = p.Settings.Source(h)
	if name := choice.Environment["data"]; choice.Runs > 0 && name != p.Source.Name {
		p.Source = experiment.Source{Name: name, StandIn: choice.Data.StandIn,
			Note: fmt.Sprintf("Data of the machine that computed the runs: %s", name)}
	}
	return nil
}

// Of lists the stored runs of a learner.
func (s *Shelf) Of(learner string) []runs.Spec { return s.byLearner[learner] }
