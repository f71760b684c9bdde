package cluster

import (
	"fmt"
	"slices"

	"tvps/replicate/experiment"
)

// rate is the measured time of stored runs.
type rate struct{ seconds, work float64 }

// shortest is the least time of stored runs that an estimate is made from, in seconds: most of less is set-up.
const shortest = 5

// sample is how many stored runs an estimate is made from at most.
const sample = 8

// perStep estimates the seconds of a step of a seed: from stored runs of the same scenario, learner and backend, in
// proportion to the cost, or from constants.
func (p *planner) perStep(w *wanted) (seconds float64, source Estimate) {
	key := rateKey(w)
	r, ok := p.rates[key]
	if !ok {
		r = p.measured(w)
		p.rates[key] = r
	}
	switch {
	case r.seconds >= shortest:
		return w.Cost * r.seconds / r.work, Measured
	case w.gpu:
		return w.Outline.Seconds.GPU, Guessed
	}
	return w.Outline.Seconds.CPU, Guessed
}

// rateKey is equal for runs with one rate.
func rateKey(w *wanted) string { return fmt.Sprint(w.scenario, w.Learner, w.measure, w.gpu) }

// measured sums the time and the work of stored runs.
func (p *planner) measured(w *wanted) rate {
	var out rate
	if p.index == nil {
		return out
	}
	backends, count := p.backends(w.gpu), 0
	for _, spec := range p.index.Of(w.Learner) {
		if !slices.ContainsFunc(w.Data, func(d experiment.Data) bool { return d.Experiment == spec.Experiment }) ||
			w.Backend && !slices.Contains(backends, spec.Settings["backend"]) ||
			spec.Settings["measure"] != w.Outline.Settings["measure"] {
			continue
		}
		outline, ok := p.outlineOf(w, spec.Settings)
		if !ok {
			continue
		}
		result, err := p.index.Store.Read(spec)
		if err != nil || result.Provenance.Seconds <= 0 {
			continue
		}
		out.seconds += result.Provenance.Seconds
		out.work += float64(len(result.Steps)) * outline.Cost
		if count++; count == sample {
			break
		}
	}
	return out
}

// outlineOf returns the outline of a stored run of the same series, from its settings.
func (p *planner) outlineOf(w *wanted, stored map[string]string) (experiment.Outline, bool) {
	setup, err := p.catalog.Setup(w.scenario, p.Scale, nil)
	if err != nil {
		return experiment.Outline{}, false
	}
	for _, field := range setup.Fields() {
		value, ok := stored[field.Name]
		if !ok || field.Name == "data" || field.Of == "plan" { // data are named by the machine
			continue
		}
		if setup, err = setup.With(field.Name, value); err != nil {
			return experiment.Outline{}, false
		}
	}
	outlines, err := setup.Outlines([]string{w.Series}, w.measure)
	if err != nil {
		return experiment.Outline{}, false
	}
	return outlines[0], true
}
