package supervised

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"

	"github.com/google/go-cmp/cmp"
)

var ofTest = runs.Provenance{Command: []string{"test"}}

// execute runs jobs in a new folder and returns the rows of each run.
func execute(t *testing.T, workers int, jobs []runs.Job) map[string][]runs.Row {
	t.Helper()
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	return executeIn(t, store, workers, jobs)
}

// executeIn runs jobs in a folder.
func executeIn(t *testing.T, store *runs.Store, workers int, jobs []runs.Job) map[string][]runs.Row {
	t.Helper()
	report, err := runs.Execute(t.Context(), store, jobs, runs.Options{Workers: workers, Provenance: ofTest})
	if err == nil {
		err = report.Err()
	}
	demand.NoError(t, err)
	out := map[string][]runs.Row{}
	for id, result := range report.Results {
		out[id] = result.Rows
	}
	return out
}

// jobs returns the jobs of learners for some seeds.
func jobs(t *testing.T, h *experiment.Host, s Settings, seeds []int64, learners ...string) []runs.Job {
	t.Helper()
	all, err := s.Jobs(h, learners, seeds, "")
	demand.NoError(t, err)
	var out []runs.Job
	for _, job := range all {
		out = append(out, job.Job)
	}
	return out
}

// TestSameBytes: neither the number of workers, nor the order of the runs, nor earlier runs of the process change a
// bit of any result.
func TestSameBytes(t *testing.T) {
	s := gaussianSettings()
	s.First, s.Stride = 1, 2
	learners := []string{"finetune", "ours", "exact"}
	h := sharedHost(t, "") // the second worker has a client and programs of its own
	want := execute(t, 1, jobs(t, h, s, []int64{0, 1}, learners...))
	if len(want) != 6 {
		t.Fatalf("%d runs", len(want))
	}
	reversed := jobs(t, h, s, []int64{0, 1}, learners...)
	slices.Reverse(reversed)
	for what, got := range map[string]map[string][]runs.Row{
		"two workers, same process": execute(t, 2, jobs(t, h, s, []int64{0, 1}, learners...)),
		"two workers, other order":  execute(t, 2, reversed),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// TestSharedProgramsKeepTheirSettings: runs of other settings in the same process get programs of their own.
func TestSharedProgramsKeepTheirSettings(t *testing.T) {
	base := gaussianSettings()
	base.First = 4 // of steps 0 to 4
	shared := newHost(t, "go")
	execute(t, 1, jobs(t, shared, base, []int64{0}, "everything", "ours"))
	for _, f := range base.Fields() {
		if f.Name == "network" || f.Of == "plan" || f.Name == "scenario" || f.Name == "g-network" {
			continue
		}
		for _, other := range base.others(t, f.Name) {
			if other.Validate() != nil {
				continue
			}
			got := execute(t, 1, jobs(t, shared, other, []int64{0}, "ours"))
			want := execute(t, 1, jobs(t, newHost(t, "go"), other, []int64{0}, "ours"))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: after other runs, and in a new process: %s", f.Name, f.Value, diff)
			}
			break
		}
	}
}

// TestEngines: each parallel run of vector models has an engine and leaves it to the next run. Image runs share one,
// and so do all runs on the Go backend, which runs programs in parallel.
func TestEngines(t *testing.T) {
	h := newHost(t, "")
	take := func(s Settings) (*Engine, func()) {
		t.Helper()
		taken, release, err := enginesOf(h).take(s)
		demand.NoError(t, err)
		return taken, release
	}
	a, releaseA := take(gaussianSettings())
	b, _ := take(gaussianSettings())
	if a == b || a.Backend == b.Backend {
		t.Error("two parallel runs share a client")
	}
	if a.Backend != h.Backend.Backend {
		t.Error("the first run does not use the backend that was given")
	}
	releaseA()
	if c, _ := take(gaussianSettings()); c != a {
		t.Error("an engine that was given back is not used again")
	}
	for range 2 {
		if head, _ := take(imageSettings()); head != a {
			t.Error("an image run has an engine of its own")
		}
	}
	h = newHost(t, "go")
	a, _ = take(gaussianSettings())
	if b, _ := take(gaussianSettings()); a != b {
		t.Error("the Go backend was opened twice")
	}
}

// batchedJobs returns the jobs of three learners for three seeds in groups of the given size.
func batchedJobs(t *testing.T, h *experiment.Host, s Settings, size int, first, stride int) []runs.Job {
	t.Helper()
	s.Stack, s.First, s.Stride = size, first, stride
	return jobs(t, h, s, []int64{3, 0, 2}, "finetune", "method1", "standard")
}

// TestBatchedRuns: a learner reports with batched seeds what it reports with single ones, but for a few samples at
// the decision boundary, and exactly that for omega.
func TestBatchedRuns(t *testing.T) {
	s := gaussianSettings()
	s.GStart = "previous"
	h := newHost(t, "go")
	single := batchedJobs(t, h, s, 1, 1, 2)
	alone, batched := execute(t, 1, single), execute(t, 2, batchedJobs(t, h, s, 3, 1, 2))
	near := func(a, b runs.Row) bool {
		return a.T == b.T && a.Metric == b.Metric && math.Abs(a.Value-b.Value) <= 3./60 && (a.Metric != "ess" || a == b)
	}
	for _, job := range single {
		a, b := alone[job.Spec.ID()], batched[job.Spec.ID()]
		if len(a) == 0 || !slices.EqualFunc(a, b, near) {
			t.Errorf("%s: rows %v alone and %v batched", job.Spec, a, b)
		}
	}
}

// TestContinuedBatch: batched runs that are continued after an interruption, and with one seed stored already, have
// the bytes of an uninterrupted run.
func TestContinuedBatch(t *testing.T) {
	s := gaussianSettings()
	h := newHost(t, "go")
	jobs := batchedJobs(t, h, s, 3, 1, 2)
	want := execute(t, 2, jobs)
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	executeIn(t, store, 1, batchedJobs(t, h, s, 3, 3, 10)[:4]) // step 3 of finetune and of one seed of method1
	for id, rows := range executeIn(t, store, 1, jobs[:6]) {
		if !slices.Equal(rows, want[id]) {
			t.Errorf("%s: interrupted %v, uninterrupted %v", id, rows, want[id])
		}
	}
}

// faulty makes a scenario whose samples are NaN from step 1 on, for one test.
func faulty(t *testing.T) Settings {
	t.Helper()
	before := scenarios
	t.Cleanup(func() { scenarios = before })
	DeclareScenario(Scenario{Name: "faulty", Networks: vectorModels, Batched: true,
		Open: func(_ *experiment.Host, s Settings) Source {
			return Simulated{Settings: s, Dim: 1, Classes: 2,
				Draw: func(_ int64, _ string, t, n int) (x []float32, labels []int32) {
					for i := range n {
						x, labels = append(x, float32(i)), append(labels, int32(i%2))
						if t == 1 {
							x[i] = float32(math.NaN())
						}
					}
					return x, labels
				}}
		}})
	s := gaussianSettings()
	s.Scenario, s.Network = "faulty", "linear"
	return s
}

// TestBatchFails: a training that diverges ends all runs of its group with an error that names the seed.
func TestBatchFails(t *testing.T) {
	s := faulty(t)
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	jobs := batchedJobs(t, newHost(t, "go"), s, 3, 1, 10)[:3]
	report, err := runs.Execute(t.Context(), store, jobs, runs.Options{})
	if err != nil || len(report.Failed) != 3 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	for _, f := range report.Failed {
		demand.Error(t, f.Err, "step 1: seed ", "classifier linear: the loss became")
	}
}

// TestBatchIdentity: neither the number of batched seeds nor the other seeds are part of a run's identity, so that
// runs that were computed apart serve a figure. What gains nothing is not batched.
func TestBatchIdentity(t *testing.T) {
	h := newHost(t, "go")
	jobs := func(size int, name, measure string, seeds ...int64) []runs.Wanted {
		t.Helper()
		s := gaussianSettings()
		s.Stack = size
		all, err := s.Jobs(h, []string{name}, seeds, measure)
		demand.NoError(t, err)
		return all
	}
	for name, id := range map[string]string{"everything": "871bc56e9d475719", "ours": "939f265e374ed568"} {
		for _, job := range []runs.Wanted{jobs(1, name, "", 0)[0], jobs(3, name, "", 1, 2, 3, 0)[3],
			jobs(3, name, "", 0, 1, 2)[0], jobs(2, name, "", 5, 0, 7)[1]} {
			if got := job.Spec.ID(); got != id {
				t.Errorf("%s of seed 0 is %s in the batch %+v, want %s", name, got, job.Batch, id)
			}
		}
		all := jobs(3, name, "", 0, 1, 2, 3)
		if b := all[0].Batch; b.GroupSize != 3 || !slices.Equal(b.Seeds, []int64{0, 1, 2, 3}) {
			t.Errorf("%s: groups of %d of the seeds %v", name, b.GroupSize, b.Seeds)
		}
		for _, job := range all {
			if job.Batch != all[0].Batch {
				t.Errorf("%s: seed %d has another batch than seed 0", name, job.Spec.Seed)
			}
		}
		if jobs(1, name, "", 0, 1, 2)[0].Batch.GroupSize > 1 {
			t.Errorf("%s: single seeds are a batch", name)
		}
	}
	for name, measure := range map[string]string{"metaweightnet": "", "ours": measureScore, "data": measureMean} {
		if got := jobs(3, name, measure, 0, 1, 2)[0].Batch; got.GroupSize > 1 {
			t.Errorf("%s %s is batched", name, measure)
		}
	}
}
