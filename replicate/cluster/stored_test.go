package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
)

// onPanelA are the options of panel a of Figure 1 at the tiny scale, with a group of three seeds for each learner.
func onPanelA(t *testing.T) Request {
	o := requestOf(t, experiment.Tiny)
	o.Figures, o.Panels, o.Learners = o.Figures[:1], []string{"a"}, []string{"ours"}
	return o
}

// store stores runs of panel a as a machine with a backend and a plugin would: those that chosen accepts, at the steps
// that it returns.
func store(t *testing.T, s *runs.Store, o Request, name, plugin string, chosen func(job runs.Wanted) []int) {
	t.Helper()
	l := &lab.Lab{Catalog: testCatalog, Archive: claims.Archive{Store: s, Host: &experiment.Host{CacheDir: t.TempDir(),
		Backend: &backend.Backend{Info: backend.Info{Name: name, PluginSHA256: strings.Repeat(plugin, 64)}}}}}
	plan, err := l.Plan(o.Figures[0], o.Options)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []runs.Job
	for _, wanted := range plan[0].Jobs {
		job := wanted.Job
		step := func(_ context.Context, at int) ([]runs.Row, error) {
			return []runs.Row{{T: at, Metric: "accuracy", Value: .5}}, nil
		}
		job.Batch = runs.Alone(job.Spec.Seed, func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil })
		if job.Steps = chosen(wanted); len(job.Steps) > 0 {
			jobs = append(jobs, job)
		}
	}
	report, err := runs.Execute(t.Context(), s, jobs, runs.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Stored runs count if their settings and the backend are those of the plan, in the environment of most of them; their
// other steps are in the plan.
func TestStoredRuns(t *testing.T) {
	o := onPanelA(t)
	s, err := runs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all := makePlan(t, s, o)
	steps := all.Tasks[0].Runs[0].Steps
	if all.Stored != 0 || all.Cost().Runs != 6 || len(steps) < 3 {
		t.Fatalf("%d stored, %+v", all.Stored, all.Cost())
	}
	series := func(name string, seeds ...int64) func(job runs.Wanted) []int {
		return func(job runs.Wanted) []int {
			if job.Series == name && slices.Contains(seeds, job.Spec.Seed) {
				return steps
			}
			return nil
		}
	}
	store(t, s, o, backend.XLACPU, "b", series("ours", 0, 1))
	store(t, s, o, backend.XLACUDA, "a", series("ours", 0, 1, 2)) // of another backend
	store(t, s, o, backend.XLACPU, "a", series("everything", 0, 1, 2))
	store(t, s, o, backend.XLACPU, "a", func(job runs.Wanted) []int { // without the last step
		if job.Series == "ours" && job.Spec.Seed == 2 {
			return steps[:len(steps)-1]
		}
		return nil
	})
	p := makePlan(t, s, o)
	if p.Stored != 3 {
		t.Errorf("%d runs count as stored, want those of Everything", p.Stored)
	}
	note := "2 environments; those of backend xla:cpu, plugin aaaaaaaaaaaaaaaa"
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], note) {
		t.Errorf("notes %q", p.Notes)
	}
	if len(p.Tasks) != 1 || len(p.Tasks[0].Runs) != 1 {
		t.Fatalf("tasks %v", p.Tasks)
	}
	r := p.Tasks[0].Runs[0]
	if r.Series != "ours" || !slices.Equal(r.Seeds, []int64{0, 1, 2}) || r.Group != 3 || !slices.Equal(r.Steps, steps) {
		t.Errorf("missing are %+v", r)
	}
	store(t, s, o, backend.XLACPU, "a", series("ours", 0, 1))
	r = makePlan(t, s, o).Tasks[0].Runs[0]
	if !slices.Equal(r.Seeds, []int64{2}) || !slices.Equal(r.Batch, []int64{0, 1, 2}) ||
		!slices.Equal(r.Steps, steps[len(steps)-1:]) {
		t.Errorf("missing are %+v, not the last step of seed 2", r)
	}
	o.GPUFor = []string{"gaussian"} // now xla:cuda is the backend, of which ours is stored
	p = makePlan(t, s, o)
	if p.Stored != 3 || p.Tasks[0].Stage != StageGPU || p.Tasks[0].Runs[0].Series != "everything" {
		t.Errorf("on the GPU %d runs are stored, task %s is missing", p.Stored, p.Tasks[0])
	}
	o.GPUFor, o.Overrides = nil, []string{"epochs=3"}
	if p := makePlan(t, s, o); p.Stored != 0 || p.Tasks[0].Runs[0].Settings["epochs"] != "3" {
		t.Errorf("under another setting %d runs are stored", p.Stored)
	}
}
