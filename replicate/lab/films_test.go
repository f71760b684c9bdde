package lab

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// TestFilmOfTables: a panel that is drawn from the tables of a drawn figure shows the film that is there, if its title
// is that of the panel's learners, episodes and seeds.
func TestFilmOfTables(t *testing.T) {
	plan, err := testCatalog.Panels(paper.Fig2(), Options{Scale: "tiny", Panels: []string{"a"}, Seeds: []int64{3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	p, dir := plan[0], t.TempDir()
	if got := filmOfTables(dir, paper.Fig2(), p); got != nil {
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
		if err != nil {
			t.Fatal(err)
		}
		demand.Write(t, filepath.Join(dir, "fig02", "fig02-a-learners-film.svg"), film.SVG)
		got := filmOfTables(dir, paper.Fig2(), p)
		if (len(got) == 1) != shown || shown && (got[0].Title != title || string(got[0].SVG) != string(film.SVG)) {
			t.Errorf("%s: %d films", title, len(got))
		}
	}
}

// TestFilmOfLongerRun: the film of a run belongs to its last step. A panel that ends before does not show it.
func TestFilmOfLongerRun(t *testing.T) {
	plan, err := testCatalog.Panels(paper.Fig2(), Options{Scale: "tiny", Panels: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	p, spec := plan[0], runs.Spec{Experiment: "claw", Learner: "sac", Settings: map[string]string{"a": "b"}}
	store, err := runs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	batch := &runs.Batch{Seeds: []int64{0}, GroupSize: 1,
		Start: func(_ context.Context, _ []int64, _ []runs.Spec, files runs.Files) (runs.GroupStep, func(), error) {
			step := func(_ context.Context, at int) ([][]runs.Row, error) {
				return [][]runs.Row{{{T: at, Metric: "return"}}}, files.Attach(spec, experiment.Film, []byte("<svg/>"))
			}
			return step, nil, nil
		}}
	job := runs.Job{Spec: spec, Steps: []int{8, 16, 24}, Batch: batch}
	report, err := runs.Execute(t.Context(), store, []runs.Job{job}, runs.Options{})
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	for last, want := range map[int]int{2: 0, 3: 1} {
		p.Jobs = []runs.Wanted{{Series: "sac", Job: runs.Job{Spec: spec, Steps: job.Steps[:last]}}}
		if got := filmsOf(p, 0, store); len(got) != want {
			t.Errorf("%d films of %d steps of 3, not %d", len(got), last, want)
		}
	}
}

// TestMetricsOfTables: what drawn runs measured besides what a panel shows is in a table of its own, from which
// [ReadTables] has the whole run again.
func TestMetricsOfTables(t *testing.T) {
	plan, err := testCatalog.Panels(paper.Fig2(), Options{Scale: "tiny", Panels: []string{"a"}, Seeds: []int64{3}})
	if err != nil {
		t.Fatal(err)
	}
	p, report := plan[0], runs.Report{Results: map[string]*runs.Result{}}
	outlines, err := p.Settings.Outlines(p.Series, p.Measure)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outlines {
		spec := runs.Spec{Experiment: o.Data[0].Experiment, Learner: o.Learner, Seed: 3, Settings: o.Settings}
		p.Jobs = append(p.Jobs, runs.Wanted{Series: o.Series, Job: runs.Job{Spec: spec, Steps: []int{8, 16}}})
		run := &runs.Result{Spec: spec, Steps: []int{8, 16}, Provenance: runs.Provenance{Seed: 3, Config: o.Settings}}
		for _, at := range run.Steps {
			run.Rows = append(run.Rows, runs.Row{T: at, Metric: "return", Value: float64(i)},
				runs.Row{T: at, Metric: "return-valve-0", Value: float64(10*i + at)})
		}
		report.Results[spec.ID()] = run
	}
	const absent = "sac-omega" // not drawn
	p.Series = slices.DeleteFunc(p.Series, func(name string) bool { return name == absent })
	c := claims.Collect(p, report.Results)
	rows := slices.DeleteFunc(c.Rows(), func(r figures.Row) bool { return r.Series == absent })
	panel, err := chart(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	panel.Metrics = otherMetrics(c)
	dir := t.TempDir()
	drawn := figures.Figure{Name: "fig02", Title: "t", Caption: "c", Panels: []figures.Panel{panel}}
	record := claims.NewRecord("tiny", runs.Provenance{}, []claims.Collected{c}, claims.Evidence{})
	if err := figures.Write(drawn, rows, record, filepath.Join(dir, "fig02")); err != nil {
		t.Fatal(err)
	}
	tables, err := claims.ReadTables(testCatalog.Figures, dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := runs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	read, err := claims.Archive{Store: store, Tables: tables}.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range p.Jobs {
		got, want := read.Results[job.Spec.ID()], report.Results[job.Spec.ID()]
		if job.Series == absent {
			if got != nil {
				t.Errorf("%s is not drawn, but its table has %v", job.Series, got.Rows)
			}
		} else if got == nil || !slices.Equal(got.Steps, want.Steps) || !sameRows(got.Rows, want.Rows) {
			t.Errorf("%s: %v, want %v", job.Series, got, want)
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
