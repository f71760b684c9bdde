package lab

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// TestMetricsOfTables: what drawn runs measured besides what a panel shows is in a table of its own, from which
// [claims.ReadTables] has the whole run again.
func TestMetricsOfTables(t *testing.T) {
	l := newLab(t)
	l.only(2)
	l.options.Panels, l.options.Seeds = []string{"a"}, []int64{3}
	p := l.plan(t, paper.Fig2())[0]
	var jobs []runs.Job
	for _, job := range p.Jobs {
		step := func(_ context.Context, at int) ([]runs.Row, error) {
			return []runs.Row{{T: at, Metric: "return", Value: float64(len(job.Series))},
				{T: at, Metric: "return-valve-0", Value: float64(10*len(job.Series) + at)}}, nil
		}
		if job.Series != "sac-omega" { // not drawn
			jobs = append(jobs, stepJob(job.Spec, job.Steps, step))
		}
	}
	report, err := runs.Execute(t.Context(), l.Store, jobs, runs.Options{Workers: 1})
	demand.NoError(t, err)
	dir := t.TempDir()
	l.options.Out = filepath.Join(dir, "fig02")
	_, err = l.Draw(paper.Fig2(), l.options)
	demand.Error(t, err, "SAC with ω, seeds 3")
	read, err := fromTables(t, l.Catalog, dir).Load(p)
	if err != nil || len(read.Results) != len(jobs) {
		t.Fatal(len(read.Results), err)
	}
	for id, got := range read.Results {
		if want := report.Results[id]; !slices.Equal(got.Steps, want.Steps) || !sameRows(got.Rows, want.Rows) {
			t.Errorf("%s: %v, want %v", got.Spec, got, want)
		}
	}
}

// sameRows tells whether two lists have the same rows in any order.
func sameRows(a, b []runs.Row) bool {
	order := func(rows []runs.Row) []runs.Row {
		return slices.SortedFunc(slices.Values(rows), func(a, b runs.Row) int {
			return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.T, b.T))
		})
	}
	return slices.Equal(order(a), order(b))
}
