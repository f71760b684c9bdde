package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// Worker computes a task of runs or features.
type Worker struct {
	lab  *lab.Lab
	jobs []runs.Job
	prep func(ctx context.Context) error // of features; nil for none
}

// NewWorker resolves the identities of a task's runs on this machine. It computes nothing. All its errors are usage
// errors: the task cannot be computed here.
func NewWorker(l *lab.Lab, p Plan, task Task) (*Worker, error) {
	w := &Worker{lab: l}
	if task.Features != nil {
		return w, usage.Error(w.prepare(p, *task.Features))
	}
	for _, r := range task.Runs {
		jobs, err := w.resolve(p, r)
		if err != nil {
			return nil, usage.Error(fmt.Errorf("%s/%s: %w", r.Scenario, r.Series, err))
		}
		w.jobs = append(w.jobs, jobs...)
	}
	return w, nil
}

// setup returns the settings of a scenario under changes.
func (w *Worker) setup(p Plan, scenario string, changed map[string]string) (experiment.Setup, error) {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		list = append(list, name+"="+changed[name])
	}
	return w.lab.Setup(scenario, experiment.Scale(p.Scale), list)
}

// resolve returns the jobs of runs of a series.
func (w *Worker) resolve(p Plan, r Runs) ([]runs.Job, error) {
	setup, err := w.setup(p, r.Scenario, r.Settings)
	if err != nil {
		return nil, err
	}
	if last := r.Steps[len(r.Steps)-1]; last > setup.Length() {
		return nil, fmt.Errorf("step %d is after the last of %d", last, setup.Length())
	}
	all, err := setup.Jobs(w.lab.Host, []string{r.Series}, r.Batch, r.Measure)
	if err != nil {
		return nil, err
	}
	var jobs []runs.Job
	for _, wanted := range all {
		if job := wanted.Job; slices.Contains(r.Seeds, job.Spec.Seed) {
			job.Steps = r.Steps
			jobs = append(jobs, job)
		}
	}
	return jobs, nil
}

// prepare checks that features can be computed here.
func (w *Worker) prepare(p Plan, f Features) error {
	setup, err := w.setup(p, f.Scenario, f.Settings)
	if err != nil {
		return err
	}
	preparer, ok := setup.(experiment.Preparer)
	if !ok {
		return fmt.Errorf("scenario %s has no features", f.Scenario)
	}
	w.prep, err = preparer.Prepare(w.lab.Host, f.Seed)
	return err
}

// Steps counts the stored steps of the task's runs, over all seeds.
func (w *Worker) Steps() int {
	count := 0
	for _, job := range w.jobs {
		stored := w.lab.Store.Steps(job.Spec)
		for _, t := range job.Steps {
			if _, ok := slices.BinarySearch(stored, t); ok {
				count++
			}
		}
	}
	return count
}

// Work computes the task and waits for no other process. Errors are those of runs.Execute and of runs.Report.Err:
// a *runs.HeldError if another process computes some of the runs.
func (w *Worker) Work(ctx context.Context, workers int) error {
	if w.prep != nil {
		return w.prep(ctx)
	}
	report, err := runs.Execute(ctx, w.lab.Store, w.jobs, runs.Options{Workers: workers, Out: w.lab.Stderr,
		Provenance: w.lab.Provenance(), Verify: w.lab.Host.Backend.VerifyPlugin, NoWait: true})
	return cmp.Or(err, report.Err())
}
