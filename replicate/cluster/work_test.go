package cluster

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// labOf returns a lab of its own folders on the default backend.
func labOf(t *testing.T) *lab.Lab {
	t.Helper()
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	host := &experiment.Host{Backend: backendtest.Open(t, ""), CacheDir: t.TempDir()}
	return &lab.Lab{Catalog: testCatalog, Archive: claims.Archive{Host: host, Store: store}, Stdout: io.Discard, Stderr: io.Discard}
}

// The tasks of a panel of images, features first, give the rows of one machine.
func TestWorkOnImages(t *testing.T) {
	b := backendtest.Open(t, "") // before the cache is another one
	o := requestOf(t, experiment.Tiny, "steps=6", "first=2", "stride=1", "n=8", "images=100", "test-n=20", "max-updates=1",
		"batch=8", "g-updates=2", "g-batch=8")
	o.Figures, o.Panels, o.Seeds, o.Learners = o.Figures[:1], []string{"b"}, []int64{0, 1}, []string{"everything", "ours"}
	o.GPUFor, o.Backend = nil, b.Info.Name
	o.TaskSeconds = .05
	local, here := labOf(t), labOf(t)
	want := execute(t, local, o)

	p, err := Make(testCatalog, nil, o)
	demand.NoError(t, err)
	for _, task := range p.Tasks {
		w, err := NewWorker(here, p, task)
		demand.NoError(t, err)
		if err := w.Work(t.Context(), 1); err != nil {
			t.Fatalf("%s: %v", task, err)
		}
		if task.Features == nil && w.Steps() != task.Steps() {
			t.Errorf("%s: %d steps stored, want %d", task, w.Steps(), task.Steps())
		}
	}
	if p.Tasks[0].Features == nil || p.Tasks[1].Features != nil || len(p.Tasks) < 4 {
		t.Errorf("%d tasks, the first are %s, %s", len(p.Tasks), p.Tasks[0], p.Tasks[1])
	}
	for _, wanted := range want {
		got, err := here.Store.Read(wanted.Spec)
		if err != nil {
			t.Errorf("%s: %v", wanted.Spec, err)
		} else if !slices.Equal(got.Rows, wanted.Rows) {
			t.Errorf("%s: rows %v, on one machine %v", wanted.Spec, got.Rows, wanted.Rows)
		}
	}
}

// execute computes the runs of the first figure's panels.
func execute(t *testing.T, l *lab.Lab, o Request) []*runs.Result {
	t.Helper()
	plan, err := l.Plan(o.Figures[0], o.Options)
	demand.NoError(t, err)
	var jobs []runs.Job
	for _, p := range plan {
		for _, wanted := range p.Jobs {
			jobs = append(jobs, wanted.Job)
		}
	}
	report, err := runs.Execute(t.Context(), l.Store, jobs, runs.Options{Workers: 1})
	demand.NoError(t, cmp.Or(err, report.Err()))
	var out []*runs.Result
	for _, result := range report.Results {
		out = append(out, result)
	}
	return out
}

// The worker of some robots of a group trains them with all seeds of the group.
func TestGroupOfRobots(t *testing.T) {
	l := labOf(t)
	p := Plan{Scale: "tiny"}
	r := Runs{Scenario: "cheetah", Series: "sac", Batch: []int64{0, 1, 2, 3}, Seeds: []int64{2, 3}, Group: 5,
		Steps: []int{8}}
	w, err := NewWorker(l, p, Task{Runs: []Runs{r}})
	if err != nil || len(w.jobs) != 2 {
		t.Fatal(w, err)
	}
	for _, job := range w.jobs {
		if job.Batch.GroupSize != 5 || !slices.Equal(job.Batch.Seeds, r.Batch) || !slices.Equal(job.Steps, r.Steps) {
			t.Errorf("batch %+v, steps %d", job.Batch, job.Steps)
		}
	}
	r.Steps = []int{1_000_000}
	_, err = NewWorker(l, p, Task{Runs: []Runs{r}})
	if !errors.Is(err, usage.Err) || !strings.Contains(err.Error(), "cheetah/sac") {
		t.Errorf("a step after the end: %v", err)
	}
	f := &Features{Scenario: "gaussian"}
	if _, err := NewWorker(l, p, Task{Features: &Features{Scenario: "cheetah"}}); !errors.Is(err, usage.Err) {
		t.Errorf("features of a robot: %v", err)
	}
	if _, err := NewWorker(l, p, Task{Features: f}); err != nil {
		t.Errorf("features of simulated samples: %v", err)
	}
}
