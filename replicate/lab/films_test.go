package lab

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// TestFilmOfTables: a panel that is drawn from the tables of a drawn figure shows the film that is there, if its title
// is that of the panel's learners, episodes and seeds.
func TestFilmOfTables(t *testing.T) {
	plan, err := testCatalog.Panels(paper.Fig2(), Options{Scale: "tiny", Panels: []string{"a"}, Seeds: []int64{3, 4}})
	demand.NoError(t, err)
	p, dir := plan[0], t.TempDir()
	if got := filmOfTables(dir, p); got != nil {
		t.Errorf("a film from an empty folder: %v", got)
	}
	one := figures.Film{Name: "sac", SVG: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)}
	for title, shown := range map[string]bool{
		filmTitle(p, 4, "sac", "sac-omega"):                                   true,
		filmTitle(p, 5, "sac", "sac-omega"):                                   false, // a seed that the panel has not
		filmTitle(p, 4, "sac"):                                                false,
		"SAC, SAC with ω after 2000 episodes, seed 4, one evaluation episode": false,
	} {
		film, err := figures.SideBySide(sideBySide, title, []figures.Film{one, one})
		demand.NoError(t, err)
		demand.Write(t, filepath.Join(dir, "fig02", "fig02-a-learners-film.svg"), film.SVG)
		got := filmOfTables(dir, p)
		if (len(got) == 1) != shown || shown && (got[0].Title != title || string(got[0].SVG) != string(film.SVG)) {
			t.Errorf("%s: %d films", title, len(got))
		}
	}
}

// TestFilmOfLongerRun: the film of a run belongs to its last step. A panel that ends before does not show it.
func TestFilmOfLongerRun(t *testing.T) {
	plan, err := testCatalog.Panels(paper.Fig2(), Options{Scale: "tiny", Panels: []string{"a"}})
	demand.NoError(t, err)
	p, spec := plan[0], runs.Spec{Experiment: "claw", Learner: "sac", Settings: map[string]string{"a": "b"}}
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	batch := &runs.Batch{Seeds: []int64{0}, GroupSize: 1,
		Start: func(_ context.Context, _ []int64, _ []runs.Spec, files runs.Files) (runs.GroupStep, func(), error) {
			step := func(_ context.Context, at int) ([][]runs.Row, error) {
				return [][]runs.Row{{{T: at, Metric: "return"}}}, files.Attach(spec, experiment.Film, []byte("<svg/>"))
			}
			return step, nil, nil
		}}
	job := runs.Job{Spec: spec, Steps: []int{8, 16, 24}, Batch: batch}
	report, err := runs.Execute(t.Context(), store, []runs.Job{job}, runs.Options{})
	demand.NoError(t, errors.Join(err, report.Err()))
	for last, want := range map[int]int{2: 0, 3: 1} {
		p.Jobs = []runs.Wanted{{Series: "sac", Job: runs.Job{Spec: spec, Steps: job.Steps[:last]}}}
		if got := filmsOf(p, 0, store); len(got) != want {
			t.Errorf("%d films of %d steps of 3, not %d", len(got), last, want)
		}
	}
}

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
