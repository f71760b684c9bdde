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

// execute runs jobs in a new folder and returns the rows of each run.
func execute(t *testing.T, workers int, jobs []runs.Job) map[string][]runs.Row {
	t.Helper()
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	made := runs.Provenance{Command: []string{"test"}}
	report, err := runs.Execute(t.Context(), store, jobs, runs.Options{Workers: workers, Provenance: made})
	demand.NoError(t, err)
	demand.NoError(t, report.Err())
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
		demand.Equal(t, cmp.Diff(want, got), "", "differences with %s", what)
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
			demand.Equal(t, cmp.Diff(want, got), "", "%s %s: after other runs, and in a new process", f.Name, f.Value)
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

// faulty makes a scenario whose samples are NaN from step 1 on, for one test.
func faulty(t *testing.T) Settings {
	t.Helper()
	before := scenarios
	t.Cleanup(func() { scenarios = before })
	DeclareScenario(Scenario{Name: "faulty", Networks: vectorModels,
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

// TestDivergence: a training that diverges fails with the step and what diverged.
func TestDivergence(t *testing.T) {
	s := faulty(t)
	s.First = 1
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	report, err := runs.Execute(t.Context(), store, jobs(t, newHost(t, "go"), s, []int64{0}, "everything"), runs.Options{})
	if err != nil || len(report.Failed) != 1 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	demand.Error(t, report.Failed[0].Err, "step 1: ", "classifier linear: the loss became")
}
