package continual

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/replicate/runs"
)

// stackedFit trains the classifiers of several seeds in a group, on step 3 and weights that
// differ by seed.
func stackedFit(t *testing.T, e *Env, s Settings, seeds ...int64) []net.Values {
	t.Helper()
	engine, release, err := e.engine(s)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	group := loop.NewGroup(len(seeds))
	defer group.Close()
	out := make([]net.Values, len(seeds))
	if err := group.Each(t.Context(), func(ctx context.Context, i int) error {
		b, err := e.bench(ctx, engine, s, "everything", seeds[i], "")
		if err != nil {
			return err
		}
		data := b.stream.Upto(0, 3)
		for j := range data.Row {
			data.Weight = append(data.Weight, 1+math.Sin(float64(j)+float64(seeds[i])))
		}
		c := b.classifier.In(group, i)
		out[i], err = c.Fit(ctx, b.stream.Pool, c.Standardise(b.start(3), b.stream.X, data), data, s.Epochs, batchOrder(seeds[i], 3, 0))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStackTrainsEachSeedAsAlone: up to rounding; and which seeds train beside one, and in
// which place, changes no bit.
func TestStackTrainsEachSeedAsAlone(t *testing.T) {
	e := &Env{Backend: open(t, "")}
	for _, network := range []string{"linear", "mlp"} {
		s := gaussianSettings()
		s.Network, s.Hidden, s.Batch = network, 32, 50
		together := stackedFit(t, e, s, 4, 7, 1)
		for i, seed := range []int64{4, 7, 1} {
			alone := stackedFit(t, e, s, seed)[0]
			far := 0.
			for k := range alone {
				for j := range alone[k] {
					far = max(far, math.Abs(float64(alone[k][j]-together[i][k][j])))
				}
			}
			if far > 1e-4 {
				t.Errorf("%s, seed %d: off by %g from what it learns alone", network, seed, far)
			}
		}
		for _, others := range [][]int64{{4, 1, 7}, {2, 3, 4}} {
			if err := sameBits(stackedFit(t, e, s, others...)[slices.Index(others, 4)], together[0]); err != nil {
				t.Errorf("%s: seed 4 among %v is not as among 4, 7, 1: %v", network, others, err)
			}
		}
	}
}

// stackJobs are the jobs of three learners for three seeds that train together.
func stackJobs(t *testing.T, e *Env, s Settings, stack int, first, stride int) []runs.Job {
	t.Helper()
	s.Stack, s.First, s.Stride = stack, first, stride
	all, err := Jobs(e, s, []string{"finetune", "method1", "standard"}, []int64{3, 0, 2}, "")
	if err != nil {
		t.Fatal(err)
	}
	var out []runs.Job
	for _, job := range all {
		out = append(out, job.Job)
	}
	return out
}

// TestStackedRuns: a learner reports with stacked seeds what it reports alone, but for
// a few samples at the border, and exactly that for omega; and the same bytes when the run
// is broken off and when one seed is stored already.
func TestStackedRuns(t *testing.T) {
	s := gaussianSettings()
	s.GStart = "previous"
	e := &Env{Backend: open(t, "go")}
	alone := execute(t, 1, stackJobs(t, e, s, 1, 1, 2))
	jobs := stackJobs(t, e, s, 3, 1, 2)
	together := execute(t, 2, jobs)
	for i, job := range stackJobs(t, e, s, 1, 1, 2) {
		a, b := strings.Fields(alone[job.Spec.ID()]), strings.Fields(together[jobs[i].Spec.ID()])
		if len(a) == 0 || len(a) != len(b) {
			t.Fatalf("%s: rows %q alone and %q together", job.Spec, a, b)
		}
		for k := 0; k < len(a); k += 3 {
			x, y := value(t, a[k+2]), value(t, b[k+2])
			if a[k+1] != b[k+1] || math.Abs(x-y) > 3./60 || a[k+1] == "ess" && x != y {
				t.Errorf("%s: step %s: %s %v alone, %v together", job.Spec, a[k], a[k+1], x, y)
			}
		}
	}
	store, err := runs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(jobs []runs.Job) runs.Report {
		t.Helper()
		report, err := runs.Execute(t.Context(), store, jobs, runs.Options{Provenance: runs.Provenance{Command: []string{"test"}}})
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	run(stackJobs(t, e, s, 3, 3, 10)[:4]) // step 3 of finetune and of one seed of method1
	for id, result := range run(jobs[:6]).Results {
		rows := ""
		for _, r := range result.Rows {
			rows += fmt.Sprintf("%d %s %x\n", r.T, r.Metric, math.Float64bits(r.Value))
		}
		if rows != together[id] {
			t.Errorf("%s: broken off\n%s, at once\n%s", result.Spec, rows, together[id])
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

// TestStackFails: a training that diverges ends all runs of its group, with the seed's name.
func TestStackFails(t *testing.T) {
	s := gaussianSettings()
	s.Rate, s.Network = 1e38, "linear"
	e := &Env{Backend: open(t, "go")}
	store, err := runs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	report, err := runs.Execute(t.Context(), store, stackJobs(t, e, s, 3, 1, 10)[:3], runs.Options{})
	if err != nil || len(report.Failed) != 3 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	for _, f := range report.Failed {
		if text := f.Err.Error(); !strings.Contains(text, "step 1: seed ") || !strings.Contains(text, "classifier linear: the loss became") {
			t.Errorf("%s: %s", f.Spec, text)
		}
	}
}

// TestStackIdentity: how many seeds train together, and which, is no part of a run, so that
// runs that were computed apart serve a figure; what gains nothing is not stacked.
func TestStackIdentity(t *testing.T) {
	e := &Env{Backend: open(t, "go")}
	jobs := func(stack int, name, measured string, seeds ...int64) []runs.Wanted {
		t.Helper()
		s := gaussianSettings()
		s.Stack = stack
		all, err := Jobs(e, s, []string{name}, seeds, measured)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for name, id := range map[string]string{"everything": "871bc56e9d475719", "ours": "939f265e374ed568"} {
		for _, job := range []runs.Wanted{jobs(1, name, "", 0)[0], jobs(3, name, "", 1, 2, 3, 0)[3], jobs(3, name, "", 0, 1, 2)[0], jobs(2, name, "", 5, 0, 7)[1]} {
			if got := job.Spec.ID(); got != id {
				t.Errorf("%s of seed 0 is %s in a group of %+v, want %s", name, got, job.Group, id)
			}
		}
		all := jobs(3, name, "", 0, 1, 2, 3)
		if all[0].Group == nil || all[0].Group.Size != 3 || all[2].Group != all[0].Group || all[3].Group != nil {
			t.Errorf("%s: groups %v, %v, %v, want the first three seeds in one", name, all[0].Group, all[2].Group, all[3].Group)
		}
	}
	for name, measured := range map[string]string{"metaweightnet": "", "ours": MeasureScore, "data": MeasureMean} {
		if got := jobs(3, name, measured, 0, 1, 2)[0].Group; got != nil {
			t.Errorf("%s %s is stacked", name, measured)
		}
	}
}
