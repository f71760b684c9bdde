package claims

import (
	"errors"
	"slices"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// Archive has the stored runs: those of a store, and the tables of drawn figures, which stand in for runs and steps
// that the store lacks.
type Archive struct {
	Host   *experiment.Host
	Store  *runs.Store
	Index  *RunIndex // finds the stored runs of any machine; nil if their identities are those of this machine
	Tables *Tables   // nil for none
}

// AddJobs sets the runs of a panel and their data. Errors: impossible settings, missing data or checkpoints.
func (a Archive) AddJobs(p *Panel) (err error) {
	if a.Index != nil {
		return a.addStored(p)
	}
	p.Source = p.Settings.Source(a.Host)
	p.Jobs, err = p.Settings.Jobs(a.Host, p.Series, p.Seeds, p.Measure)
	return err
}

// Load returns a panel with its stored runs. A damaged file counts as missing. Errors: files that cannot be read.
func (a Archive) Load(p Panel) (Collected, error) {
	results := map[string]*runs.Result{}
	for _, job := range p.Jobs {
		result, err := a.read(job.Spec, p)
		if errors.Is(err, runs.ErrMissing) {
			continue
		}
		if err != nil {
			return Collected{}, err
		}
		results[job.Spec.ID()] = result
	}
	return Collect(p, results), nil
}

// read returns a run of a panel from the store, with those steps from the tables that the store lacks. Errors are those
// of [runs.Store.Read].
func (a Archive) read(spec runs.Spec, p Panel) (*runs.Result, error) {
	result, err := a.Store.Read(spec)
	table, ok := a.Tables.read(spec, p.Shown().Name, p.Figure)
	switch {
	case ok && errors.Is(err, runs.ErrMissing):
		return table, nil
	case ok && err == nil:
		return joined(result, table), nil
	}
	return result, err
}

// whole tells whether a run of a panel is there with all of these steps.
func (a Archive) whole(job runs.Job, p Panel) bool {
	result, err := a.read(job.Spec, p)
	return err == nil && len(result.Only(job.Steps).Steps) == len(job.Steps)
}

// joined is a run with those steps of another copy that it lacks.
func joined(run, other *runs.Result) *runs.Result {
	lacking := other.Only(without(other.Steps, run.Steps))
	steps := append(slices.Clone(run.Steps), lacking.Steps...)
	slices.Sort(steps)
	rows := append(slices.Clone(run.Rows), lacking.Rows...)
	slices.SortStableFunc(rows, func(a, b runs.Row) int { return a.T - b.T })
	return &runs.Result{Spec: run.Spec, Provenance: run.Provenance, Steps: steps, Rows: rows}
}
