package supervised

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

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
