package supervised

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// batchedFit trains the classifiers of several seeds in a group, on step 3 and weights that differ by seed.
func batchedFit(t *testing.T, h *experiment.Host, s Settings, seeds ...int64) []net.Values {
	t.Helper()
	x, err := s.config("everything", "")
	if err != nil {
		t.Fatal(err)
	}
	engine, release, err := enginesOf(h).take(s)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	group := loop.NewGroup(len(seeds))
	defer group.Close()
	out := make([]net.Values, len(seeds))
	if err := group.Each(t.Context(), func(ctx context.Context, i int) error {
		run, err := x.on(h).newRunContext(ctx, engine, seeds[i])
		if err != nil {
			return err
		}
		data := run.Stream.Upto(0, 3)
		for j := range data.Row {
			data.Weight = append(data.Weight, 1+math.Sin(float64(j)+float64(seeds[i])))
		}
		c := run.Classifier.In(group, i)
		start := c.Standardise(run.Start(3), run.Stream.X, data)
		out[i], err = c.Fit(ctx, run.Stream.Pool, start, data, s.Epochs, batchOrder(seeds[i], 3, 0))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBatchedSeedsTrainAsAlone: a batched seed learns what it learns alone, up to rounding. Which other seeds are in
// its group, and in which order, changes no bit.
func TestBatchedSeedsTrainAsAlone(t *testing.T) {
	h := newHost(t, "")
	s := gaussianSettings()
	s.Hidden, s.Batch = 32, 50
	batched := batchedFit(t, h, s, 4, 7, 1)
	for i, seed := range []int64{4, 7, 1} {
		alone := batchedFit(t, h, s, seed)[0]
		far := 0.
		for k := range alone {
			for j := range alone[k] {
				far = max(far, math.Abs(float64(alone[k][j]-batched[i][k][j])))
			}
		}
		if far > 1e-4 {
			t.Errorf("seed %d: off by %g from what it learns alone", seed, far)
		}
	}
	for _, others := range [][]int64{{4, 1, 7}, {2, 3, 4}} {
		if err := sameBits(batchedFit(t, h, s, others...)[slices.Index(others, 4)], batched[0]); err != nil {
			t.Errorf("seed 4 among %v differs from seed 4 among 4, 7, 1: %v", others, err)
		}
	}
}

// batchedJobs returns the jobs of three learners for three seeds in groups of the given size.
func batchedJobs(t *testing.T, h *experiment.Host, s Settings, size int, first, stride int) []runs.Job {
	t.Helper()
	s.Stack, s.First, s.Stride = size, first, stride
	all, err := s.Jobs(h, []string{"finetune", "method1", "standard"}, []int64{3, 0, 2}, "")
	if err != nil {
		t.Fatal(err)
	}
	var out []runs.Job
	for _, job := range all {
		out = append(out, job.Job)
	}
	return out
}

// TestBatchedRuns: a learner reports with batched seeds what it reports with single ones, but for a few samples at
// the decision boundary, and exactly that for omega.
func TestBatchedRuns(t *testing.T) {
	s := gaussianSettings()
	s.GStart = "previous"
	h := newHost(t, "go")
	single := batchedJobs(t, h, s, 1, 1, 2)
	alone, batched := execute(t, 1, single), execute(t, 2, batchedJobs(t, h, s, 3, 1, 2))
	for _, job := range single {
		a, b := strings.Fields(alone[job.Spec.ID()]), strings.Fields(batched[job.Spec.ID()])
		if len(a) == 0 || len(a) != len(b) {
			t.Fatalf("%s: rows %q alone and %q batched", job.Spec, a, b)
		}
		for k := 0; k < len(a); k += 3 {
			x, y := value(t, a[k+2]), value(t, b[k+2])
			if a[k+1] != b[k+1] || math.Abs(x-y) > 3./60 || a[k+1] == "ess" && x != y {
				t.Errorf("%s: step %s: %s %v alone, %v batched", job.Spec, a[k], a[k+1], x, y)
			}
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
	if err != nil {
		t.Fatal(err)
	}
	run := func(jobs []runs.Job) runs.Report {
		t.Helper()
		report, err := runs.Execute(t.Context(), store, jobs, runs.Options{Provenance: ofTest})
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	run(batchedJobs(t, h, s, 3, 3, 10)[:4]) // step 3 of finetune and of one seed of method1
	for id, result := range run(jobs[:6]).Results {
		rows := ""
		for _, r := range result.Rows {
			rows += fmt.Sprintf("%d %s %x\n", r.T, r.Metric, math.Float64bits(r.Value))
		}
		if rows != want[id] {
			t.Errorf("%s: interrupted\n%s, uninterrupted\n%s", result.Spec, rows, want[id])
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
	if err != nil {
		t.Fatal(err)
	}
	jobs := batchedJobs(t, newHost(t, "go"), s, 3, 1, 10)[:3]
	report, err := runs.Execute(t.Context(), store, jobs, runs.Options{})
	if err != nil || len(report.Failed) != 3 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	for _, f := range report.Failed {
		demand.Error(t, f.Err, "step 1: seed ", "classifier linear: the loss became")
	}
}

// TestSingleSeedOfABatch: a group of one seed trains without the axis of batched seeds, as a job of its own does.
func TestSingleSeedOfABatch(t *testing.T) {
	s := gaussianSettings()
	s.First = 2
	h := newHost(t, "")
	rows := func(size int) map[string]string {
		s.Stack = size
		jobs, err := s.Jobs(h, []string{"ours"}, []int64{6}, "")
		if err != nil {
			t.Fatal(err)
		}
		return execute(t, 1, []runs.Job{jobs[0].Job})
	}
	if alone, batch := rows(1), rows(3); !maps.Equal(alone, batch) {
		t.Errorf("alone %v, as a batch of one %v", alone, batch)
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
		if err != nil {
			t.Fatal(err)
		}
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
		if jobs(1, name, "", 0, 1, 2)[0].Batch != nil {
			t.Errorf("%s: single seeds are a batch", name)
		}
	}
	for name, measure := range map[string]string{"metaweightnet": "", "ours": MeasureScore, "data": MeasureMean} {
		if got := jobs(3, name, measure, 0, 1, 2)[0].Batch; got != nil {
			t.Errorf("%s %s is batched", name, measure)
		}
	}
}

// value reads the bits of a number.
func value(t *testing.T, text string) float64 {
	t.Helper()
	var bits uint64
	if _, err := fmt.Sscanf(text, "%x", &bits); err != nil {
		t.Fatal(err)
	}
	return math.Float64frombits(bits)
}
