package lab

import (
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/runs"
)

// draft is a figure that is drawn while its runs are computed, without verdicts, for which all runs are needed. A panel
// has the seeds that all its series have; each further seed narrows its bands.
type draft struct {
	*planned

	seeds int // number of seeds when it was drawn, summed over panels
}

// draw draws what has more seeds than before, and returns a line that says so. A figure whose runs have all ended is
// left to its last drawing; if one has failed there is none, so what has no draft yet gets one.
func (d *draft) draw(l *Lab, report runs.Report) (line string) {
	ready, state := d.ready(report)
	seeds := 0
	for _, c := range ready {
		seeds += len(c.Seeds)
	}
	last := len(state.Missing)+len(state.Growing) == 0 && (len(report.Failed) == 0 || d.seeds > 0)
	if seeds == d.seeds || last {
		return ""
	}
	d.seeds = seeds
	o := d.options
	o.Compact = false // a draft is a page
	r, err := l.draw(d.figure, o, ready, nil, state)
	switch {
	case err != nil:
		return fmt.Sprintf("%s cannot be drawn yet: %v", d.figure.Name(), err)
	case len(r.Figure.Panels) == 0:
		return ""
	}
	var names []string
	for _, c := range ready {
		if c.Narrow || !slices.ContainsFunc(r.Figure.Panels, func(p figures.Chart) bool { return p.Key == c.Key }) {
			continue
		}
		name := c.Key
		if slices.Contains(state.Growing, c.Key) {
			name += fmt.Sprintf(" (n = %d)", len(c.Seeds))
		}
		names = append(names, name)
	}
	line = fmt.Sprintf("%s: %s drawn: %s", d.figure.Name(), strings.Join(names, ", "), o.made())
	if len(state.Missing) > 0 {
		line += fmt.Sprintf(" (%s to come)", strings.Join(state.Missing, ", "))
	}
	return line
}

// ready returns the panels that can be drawn, with the seeds that all their series have, and what is still to come.
func (d *draft) ready(report runs.Report) (ready []claims.Collected, state *figures.Draft) {
	state = &figures.Draft{}
	for _, c := range claims.CollectAll(d.panels, report) {
		if !ended(c, report.Failed) {
			if c = c.Complete(); len(c.Seeds) == 0 {
				state.Missing = append(state.Missing, c.Key)
				continue
			}
			state.Growing = append(state.Growing, c.Key)
		}
		ready = append(ready, c)
	}
	return ready, state
}

// ended tells whether every run of the panel has finished or failed.
func ended(c claims.Collected, failed []runs.Failure) bool {
	return !slices.ContainsFunc(c.Jobs, func(job runs.Wanted) bool {
		id := job.Spec.ID()
		return c.Results[id] == nil && !slices.ContainsFunc(failed, func(f runs.Failure) bool { return f.Spec.ID() == id })
	})
}
