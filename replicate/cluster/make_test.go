package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

var testCatalog = lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)

// requestOf returns the request for a plan of all figures at a scale, on a machine without data and checkpoints.
func requestOf(t *testing.T, scale experiment.Scale, overrides ...string) Request {
	t.Helper()
	t.Setenv("TVPS_CACHE", t.TempDir())
	t.Setenv("TVPS_DATA", "")
	t.Setenv("TVPS_CLEAR", "")
	return Request{Options: lab.Options{Scale: scale, Overrides: overrides}, Figures: testCatalog.FiguresAt(scale),
		TaskSeconds: 3600, GPUFor: []string{Images}, GPUBackend: backend.XLACUDA, CacheDir: t.TempDir()}
}

// makePlan makes a plan and reads it back, which checks it.
func makePlan(t *testing.T, store *runs.Store, o Request) Plan {
	t.Helper()
	var index *claims.RunIndex
	if store != nil {
		var err error
		index, err = claims.NewRunIndex(store)
		demand.NoError(t, err)
	}
	p, err := Make(testCatalog, index, o)
	demand.NoError(t, err)
	text, err := p.Encode()
	demand.NoError(t, err)
	p, err = Decode(text)
	demand.NoError(t, err)
	return p
}

// stepsOf lists the steps of each run of a plan: of its scenario, series, measure, settings and seed.
func stepsOf(t *testing.T, p Plan) map[string][]int {
	t.Helper()
	out := map[string][]int{}
	for _, task := range p.Tasks {
		for _, r := range task.Runs {
			for _, seed := range r.Seeds {
				key := fmt.Sprint(r.Scenario, r.Series, r.Measure, r.Settings, seed)
				out[key] = append(out[key], r.Steps...)
			}
		}
	}
	return out
}

// At the paper's scale every run that the lab would compute is in the plan, and each of its steps once. The lab needs
// checkpoints: it gets the committed one, as does another plan.
func TestPaperPlan(t *testing.T) {
	p := makePlan(t, nil, requestOf(t, experiment.Paper))
	committed := requestOf(t, experiment.Paper, "width=16", "checkpoint=committed")
	committed.AllFigures = true
	other := stepsOf(t, makePlan(t, nil, committed))
	steps := stepsOf(t, p)

	l := &lab.Lab{Catalog: testCatalog, Archive: claims.Archive{Host: &experiment.Host{CacheDir: t.TempDir(),
		Backend: &backend.Backend{Info: backend.Info{Name: backend.XLACPU}}}}}
	wanted := map[string][]int{}
	for _, f := range committed.Figures {
		panels, err := l.Plan(f, committed.Options)
		demand.NoError(t, err)
		for _, panel := range panels {
			for _, job := range panel.Jobs {
				id := job.Spec.ID()
				wanted[id] = runs.Distinct(append(wanted[id], job.Steps...))
			}
		}
	}
	count := func(of map[string][]int) (steps int) {
		for _, list := range of {
			if len(runs.Distinct(slices.Clone(list))) != len(list) {
				t.Error("a step is planned twice")
			}
			steps += len(list)
		}
		return steps
	}
	if len(other) != len(wanted) || count(other) != count(wanted) {
		t.Errorf("%d runs with %d steps, but the lab wants %d with %d", len(other), count(other), len(wanted), count(wanted))
	}
	if len(steps) != len(wanted) || count(steps) != count(wanted) {
		t.Errorf("%d runs with %d steps at width 64, %d with %d at width 16", len(steps), count(steps), len(wanted),
			count(wanted))
	}
	c := p.Cost()
	t.Logf("%d runs, %d steps, %d tasks", c.Runs, c.Steps, len(p.Tasks))
	if c.Runs != len(wanted) || c.Steps != count(wanted) {
		t.Errorf("its cost counts %d runs with %d steps", c.Runs, c.Steps)
	}
}

// Every split whose checkpoint is missing is pre-trained, before its features, before the runs of its seeds.
func TestStagesOfAPlan(t *testing.T) {
	o := requestOf(t, experiment.Paper)
	p := makePlan(t, nil, o)
	var splits []int64
	for _, task := range p.Tasks {
		if task.Pretrain != nil {
			splits = append(splits, task.Pretrain.Split)
		}
		for _, r := range task.Runs {
			if (task.Stage == StageGPU) != strings.HasPrefix(r.Scenario, "cifar") && r.Scenario != "noshift" {
				t.Errorf("%s in stage %s", r.Scenario, task.Stage)
			}
			agents := r.Group > 0 && strings.Contains("cheetah claw", r.Scenario)
			if agents && (r.Group != 5 || len(r.Seeds) != 5) {
				t.Errorf("group of at most %d with seeds %d: agents train in fives", r.Group, r.Seeds)
			}
		}
		if task.Stage != StageGPU {
			continue
		}
		if task.Seconds > o.TaskSeconds && (len(task.Runs) > 1 || len(task.Runs[0].Seeds) > 1) {
			t.Errorf("task %d takes %.0f s, of %.0f", task.ID, task.Seconds, o.TaskSeconds)
		}
		trained := map[int64]bool{} // the splits whose features the task waits for
		for _, id := range task.After {
			features := p.Tasks[id]
			if features.Features == nil || len(features.After) != 1 {
				t.Fatalf("task %d waits for %s, and that for %d", task.ID, features, features.After)
			}
			trained[p.Tasks[features.After[0]].Pretrain.Split] = true
		}
		for _, r := range task.Runs {
			for _, seed := range r.Seeds {
				if !trained[seed] {
					t.Errorf("task %d does not wait for split %d", task.ID, seed)
				}
			}
		}
	}
	if want := []int64{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(slices.Sorted(slices.Values(splits)), want) {
		t.Errorf("splits %d are pre-trained, want %d", splits, want)
	}
}

// A group of agents keeps as many processors busy as its program has threads; images take four, or two next to a GPU.
func TestProcessors(t *testing.T) {
	for _, c := range []struct {
		scenario, set string
		gpuFor        []string
		want          int
	}{
		{"claw", "threads=1", nil, 1}, {"cheetah", "threads=1", nil, 1}, {"claw", "threads=0", nil, 2},
		{"gaussian", "threads=1", nil, 2}, {"cifar10b", "threads=1", nil, 4}, {"cifar10b", "threads=1", []string{Images}, 2},
	} {
		o := requestOf(t, experiment.Small, c.set)
		o.AllFigures, o.GPUFor, o.TaskSeconds = true, c.gpuFor, 60
		seen := map[int]int{}
		for _, task := range makePlan(t, nil, o).Tasks {
			if len(task.Runs) > 0 && task.Runs[0].Scenario == c.scenario {
				seen[task.CPUs]++
			}
		}
		if len(seen) != 1 || seen[c.want] == 0 {
			t.Errorf("%+v: tasks by processors %v", c, seen)
		}
	}
}

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
	demand.NoError(t, err)
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
	demand.NoError(t, cmp.Or(err, report.Err()))
}

// Stored runs count if their settings and the backend are those of the plan, in the environment of most of them; their
// other steps are in the plan.
func TestStoredRuns(t *testing.T) {
	o := onPanelA(t)
	s, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
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
