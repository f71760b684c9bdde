package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"
)

var testCatalog = PaperCatalog(&supervised.Protocol, &robots.Protocol)

// testLab is a lab in temporary folders, with what it prints.
type testLab struct {
	*Lab
	options        Options
	results        string
	stdout, stderr bytes.Buffer
	lacks          func(job runs.Wanted) bool // whether a made-up run lacks its last step
}

// newLab returns a lab of the tiny scale, without data sets.
func newLab(t *testing.T) *testLab {
	t.Helper()
	t.Setenv("TVPS_DATA", "")
	t.Setenv("TVPS_CACHE", t.TempDir())
	l := &testLab{results: filepath.Join(t.TempDir(), "results"), lacks: func(runs.Wanted) bool { return false }}
	store, err := runs.Open(l.results)
	demand.NoError(t, err)
	host := &experiment.Host{Backend: backend.ForTest(t, backend.Go), CacheDir: t.TempDir()}
	l.Lab = &Lab{Catalog: testCatalog, Archive: claims.Archive{Host: host, Store: store}, Stdout: &l.stdout,
		Stderr: &l.stderr}
	l.options = Options{Scale: "tiny", Workers: 2, Out: filepath.Join(t.TempDir(), "new", "out")}
	return l
}

// newMiniature returns a lab with options for panel a of Figure 1 in miniature: 4 runs of 3 steps for each of 2 seeds.
func newMiniature(t *testing.T) *testLab {
	t.Helper()
	l := newLab(t)
	l.options.Panels, l.options.Seeds = []string{"a"}, []int64{0, 1}
	l.options.Overrides = []string{"steps=7", "first=1", "stride=2", "n=30", "test-n=40", "epochs=2", "max-updates=3",
		"g-updates=3", "batch=16", "g-batch=16"}
	return l
}

// only leaves the figures with these numbers in the catalog.
func (l *testLab) only(numbers ...int) {
	l.Figures = slices.DeleteFunc(slices.Clone(l.Figures), func(f paper.Figure) bool {
		return !slices.Contains(numbers, f.Number)
	})
}

// plan returns the panels of a figure with their runs.
func (l *testLab) plan(t *testing.T, f paper.Figure) []claims.Panel {
	t.Helper()
	plan, err := l.Plan(f, l.options)
	demand.NoError(t, err)
	return plan
}

// compute stores made-up runs of a panel, with the values that each has of what the panel shows.
func (l *testLab) compute(t *testing.T, p claims.Panel, value func(job runs.Wanted, step int) float64) {
	t.Helper()
	var jobs []runs.Job
	for _, job := range p.Jobs {
		step := func(_ context.Context, t int) ([]runs.Row, error) {
			v := value(job, t)
			rows := []runs.Row{{T: t, Metric: p.Shown().Name, Value: v}}
			if p.Single != "" { // two tasks, which differ for the policy of all tasks alone
				apart := 0.
				if job.Series == p.Single {
					apart = 50
				}
				rows = append(rows, runs.Row{T: t, Metric: "return-easy", Value: v + apart},
					runs.Row{T: t, Metric: "return-hard", Value: v - apart})
			}
			return rows, nil
		}
		steps := job.Steps
		if l.lacks(job) {
			steps = steps[:len(steps)-1]
		}
		jobs = append(jobs, stepJob(job.Spec, steps, step))
	}
	made := runs.Provenance{Command: []string{"made", "up"}, Commit: "c0ffee", Backend: "made-up"}
	report, err := runs.Execute(t.Context(), l.Store, jobs, runs.Options{Workers: 8, Provenance: made})
	demand.NoError(t, errors.Join(err, report.Err()))
}

// fill stores made-up runs of the figures with these numbers, or of all figures if none is given. Each learner has a
// fixed value: .5 for Everything, .6 + .001 seed for Ours, and so on. The scores of Ours and of the exact weights rise
// and fall together.
func (l *testLab) fill(t *testing.T, numbers ...int) {
	t.Helper()
	levels := map[string]float64{"everything": .5, "recent": .4, "finetune": .45, "ours": .6, "pretrained": .5,
		"standard": .55, "exact": .6,
		"sac": -60, "sac-omega": -50, "sac-context": -40, "sac-context-omega": -30,
		"nothing": -80, "random": -90, "scripted": -20, "constant": -20}
	for _, f := range l.Figures {
		if len(numbers) > 0 && !slices.Contains(numbers, f.Number) {
			continue
		}
		for _, p := range l.plan(t, f) {
			l.compute(t, p, func(job runs.Wanted, step int) float64 {
				value := levels[job.Spec.Learner]
				if job.Spec.Learner == "ours" {
					value += .001 * float64(job.Spec.Seed)
				}
				if p.Shown().Name == "score" && job.Spec.Learner != "standard" {
					value += .1 * float64(step%5)
				}
				return value
			})
		}
	}
}

// verified judges all claims by what a lab has.
func verified(t *testing.T, l *Lab, o Options) claims.Verification {
	t.Helper()
	v, err := l.Verify(t.Context(), o)
	demand.NoError(t, err)
	return v
}

func (l *testLab) verify(t *testing.T) claims.Verification {
	t.Helper()
	return verified(t, l.Lab, l.options)
}

// claim returns the claim with this id.
func claim(t *testing.T, v claims.Verification, id string) claims.Judged {
	t.Helper()
	i := slices.IndexFunc(v.Claims, func(c claims.Judged) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("the table lacks %s", id)
	}
	return v.Claims[i]
}

// read returns a file of the output folder.
func (l *testLab) read(t *testing.T, name string) []byte {
	t.Helper()
	return demand.Read(t, filepath.Join(l.options.Out, name))
}

// csvRows returns the rows of a CSV file in the output folder.
func (l *testLab) csvRows(t *testing.T, name string) []figures.Row {
	t.Helper()
	rows, err := figures.ReadCSV(bytes.NewReader(l.read(t, name)))
	demand.NoError(t, err)
	return rows
}

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string]string{"0": "[0]", "0,1,2": "[0 1 2]", "0-3": "[0 1 2 3]",
		"7,2-4": "[7 2 3 4]", " 1, 2": "[1 2]"} {
		if got, err := claims.ParseSeeds(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a", "1,", "3-1", "-1", "0-2000", "1-2-3", "0,0-1", "1.5", "99999999999"} {
		if got, err := claims.ParseSeeds(text); !errors.Is(err, usage.Err) {
			t.Errorf("%q gives %v, %v, not a usage error", text, got, err)
		}
	}
}

// stepJob is a job that needs no preparation.
func stepJob(spec runs.Spec, steps []int, step runs.StepFunc) runs.Job {
	start := func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil }
	return runs.Job{Spec: spec, Steps: steps, Batch: runs.Alone(spec.Seed, start)}
}
