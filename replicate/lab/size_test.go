package lab

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// TestEvidenceOfOneFigure: settings that fit the figure alone, and a scale that others lack, are no error.
func TestEvidenceOfOneFigure(t *testing.T) {
	a := newArchive(t)
	for _, c := range []struct {
		f paper.Figure
		o Options
	}{
		{paper.Fig14(), Options{Scale: "tiny", Overrides: []string{"first=1", "steps=8"}}},
		{paper.Fig1(), Options{Scale: "tiny", Overrides: []string{"d.epochs=3"}}},
		{paper.Fig10(), Options{Scale: "medium"}},
	} {
		plan, err := a.Panels(c.f, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.judge(c.f, c.o, collect(plan, runs.Report{})); err != nil || got.Claims[0].Verdict != claims.NotRun {
			t.Errorf("%s with %v: %v, %v", c.f.Name(), c.o, got.Claims, err)
		}
	}
}

// TestSizes: of made-up runs, Method 1 minus Method 2 has a spread that needs more seeds. The size is fixed, its runs
// are computed and serve the claim, and no further size is made for it.
func TestSizes(t *testing.T) {
	a := newArchive(t)
	a.only(14)
	f := paper.Fig14()
	noisy := func(job runs.Wanted, _ int) float64 {
		if job.Series == "ours" {
			return .506 + .004*math.Sin(float64(7*job.Spec.Seed))
		}
		return .5
	}
	plan, err := a.Plan(f, a.options)
	if err != nil {
		t.Fatal(err)
	}
	a.compute(t, plan, noisy)
	sizes, _, far, err := a.Sizes(t.Context(), a.options, 0)
	if err != nil || len(sizes) != 1 || len(far) != 0 {
		t.Fatalf("sizes %v, out of reach %v, %v", sizes, far, err)
	}
	size := sizes[0]
	checkSizesOfTables(t, a, f, size)
	// The distance from the bound is about .0018, so many seeds are needed; every step shows the same.
	if size.Figure != "fig14" || len(size.Seeds) < 4 || size.Parts[0].Claim != "fig14-similar" ||
		size.Parts[0].Later > size.Parts[0].Aim || !strings.Contains(size.String(), "seeds 0-") {
		t.Errorf("%+v\n%s", size, size)
	}
	// Fixed and computed by hand, as nothing may be trained here.
	a.fix(t, sizes...)
	again, extended, _, err := a.Sizes(t.Context(), a.options, 0)
	if err != nil || len(again) != 0 || len(extended) != 1 || !reflect.DeepEqual(extended[0].Sample, size.Sample) {
		t.Errorf("a fixed size whose runs are missing is planned again: %v, or not said to be fixed: %v, %v", again, extended, err)
	}
	a.compute(t, []claims.Panel{a.enlarged(t, size)}, noisy)
	v := a.verify(t)
	if got := claim(t, v, "fig14-similar").Parts[0]; got.Effect.N != len(size.Seeds) || got.Level != .975 {
		t.Errorf("the claim is judged by %d seeds at %v, want %d at %v", got.Effect.N, got.Level, len(size.Seeds), .975)
	}
	if again, _, _, err := a.Sizes(t.Context(), a.options, 0); err != nil || len(again) != 0 {
		t.Errorf("after the size was fixed another is planned: %v, %v", again, err)
	}
	if now, err := a.Extend(t.Context(), nil, time.Hour, a.options); err != nil || len(now) != 0 {
		t.Errorf("a complete size is computed again: %v, %v", now, err)
	}
	demand.Write(t, a.sizesFile(), "[{")
	_, err = a.Verify(t.Context(), a.options)
	demand.Error(t, err, "sizes.json cannot be read", "restore it or remove it")
}

// checkSizesOfTables demands that the tables of a drawn figure give the size of its stored runs, and its time.
func checkSizesOfTables(t *testing.T, a *archive, f paper.Figure, want claims.Size) {
	t.Helper()
	dir, o := t.TempDir(), a.options
	o.Out = filepath.Join(dir, f.Name())
	if _, err := a.Draw(f, o); err != nil {
		t.Fatal(err)
	}
	sizes, _, _, err := fromTables(t, a.Catalog, dir).Sizes(t.Context(), a.options, 0)
	if err != nil || len(sizes) != 1 || sizes[0].String() != want.String() ||
		math.Abs(sizes[0].Minutes/want.Minutes-1) > 1e-9 {
		t.Errorf("from tables: %v, %v, want %v in %v min", sizes, err, want, want.Minutes)
	}
}

// compute stores runs of the panels with the given accuracies.
func (a *archive) compute(t *testing.T, plan []claims.Panel, accuracy func(runs.Wanted, int) float64) {
	t.Helper()
	var jobs []runs.Job
	for _, p := range plan {
		for _, job := range p.Jobs {
			step := func(_ context.Context, t int) ([]runs.Row, error) {
				return []runs.Row{{T: t, Metric: "accuracy", Value: accuracy(job, t)}}, nil
			}
			jobs = append(jobs, runs.Job{Spec: job.Spec, Steps: job.Steps, Step: step})
		}
	}
	if _, err := runs.Execute(t.Context(), a.Store, jobs, runs.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
}

// TestSizesOfOtherLearners: a size for a claim about Figure 5c has the learners that it compares, and not those of
// Figure 4a under the same settings, whose claims are decided and which lacks the standard score. Their runs alone
// serve the claim.
func TestSizesOfOtherLearners(t *testing.T) {
	a := newArchive(t)
	a.only(4, 5)
	accuracy := func(job runs.Wanted, _ int) float64 {
		value := map[string]float64{"everything": .5, "ours": .9, "standard": .9}[job.Series]
		if job.Series == "standard" {
			value += .01 * math.Sin(float64(7*job.Spec.Seed))
		}
		return value
	}
	for _, f := range []paper.Figure{paper.Fig4(), paper.Fig5()} {
		plan, err := a.Plan(f, Options{Scale: "tiny"})
		if err != nil {
			t.Fatal(err)
		}
		plan = slices.DeleteFunc(plan, func(p claims.Panel) bool { return p.Scenario != "gaussian" })
		a.compute(t, plan, accuracy)
	}
	sizes, _, _, err := a.Sizes(t.Context(), a.options, 0)
	if err != nil || len(sizes) != 1 || sizes[0].Figure != "fig05" || sizes[0].Panel != "c" ||
		!slices.Equal(sizes[0].Series, []string{"standard", "ours"}) {
		t.Fatalf("sizes %v, %v; want one for the standard score and Ours of figure 5c", sizes, err)
	}
	every := sizes[0]
	every.Series = nil
	if minutes, err := a.Minutes(every); err != nil || minutes <= sizes[0].Minutes {
		t.Errorf("the size takes %v min, with Everything %v min, %v", sizes[0].Minutes, minutes, err)
	}
	a.fix(t, sizes...)
	a.compute(t, []claims.Panel{a.enlarged(t, sizes[0])}, accuracy)
	if p := claim(t, a.verify(t), "fig5-ours-standard").Parts[0]; p.Effect.N != len(sizes[0].Seeds) || p.Level != .975 {
		t.Errorf("%s, want %d seeds", p, len(sizes[0].Seeds))
	}
}

// TestBudget: sizes that take longer than what is left of the budget are not fixed.
func TestBudget(t *testing.T) {
	a := newArchive(t)
	plan, err := a.Plan(paper.Fig14(), a.options)
	if err != nil {
		t.Fatal(err)
	}
	long := claims.Size{Scale: "tiny", Figure: "fig14", Panel: "a", Sample: claims.Sample{Seeds: seedsTo(9)}, Minutes: 61, Plan: plan[0]}
	now, err := a.Extend(t.Context(), []claims.Size{long}, time.Hour, a.options)
	if err != nil || len(now) != 0 {
		t.Errorf("%v, %v", now, err)
	}
	if _, err := os.Stat(a.sizesFile()); err == nil {
		t.Error("a size beyond the budget is fixed")
	}
}

// TestSizeWithinBudget: some parts of a panel need seeds, others steps. Where a size for all of them takes longer than
// the budget, there is one for those that fit.
func TestSizeWithinBudget(t *testing.T) {
	a := newArchive(t)
	a.only(1)
	plan, err := a.Plan(paper.Fig1(), Options{Scale: "tiny"})
	if err != nil {
		t.Fatal(err)
	}
	a.compute(t, plan[:1], func(job runs.Wanted, step int) float64 {
		switch job.Series {
		case "recent": // needs seeds
			return .5 + .01*(math.Sin(float64(7*job.Spec.Seed))-.2)
		case "finetune": // needs steps
			return .5 + .01*(math.Sin(float64(7*step))-.2)
		}
		return .5
	})
	whole, _, _, err := a.Sizes(t.Context(), Options{Scale: "tiny"}, 0)
	if err != nil || len(whole) != 1 {
		t.Fatal(whole, err)
	}
	budget := time.Duration(whole[0].Minutes*float64(time.Minute)) - 1
	sizes, _, _, err := a.Sizes(t.Context(), Options{Scale: "tiny"}, budget)
	if err != nil || len(sizes) != 1 || len(sizes[0].Parts) >= len(whole[0].Parts) || sizes[0].Minutes > budget.Minutes() {
		t.Errorf("within %g min %v, want some parts of %s, %v", budget.Minutes(), sizes, whole[0], err)
	}
}

// TestParseSize: a size that is asked for is fixed and serves the claims; what cannot be computed is refused.
func TestParseSize(t *testing.T) {
	a := newArchive(t)
	_, err := a.ParseSize("fig14:a:0-8:1", a.options)
	demand.Error(t, err, "fig14:a:0-8:1: how long it takes is not known", "run fig14 --panel a first")
	a.fill(t, 14)
	for text, want := range map[string]string{
		"fig14:a":         "fig14:a: it is no size",
		"fig14:a:0-8:1:1": "give figure, panel, seeds and stride",
		"fig99:a:0-8":     `there is no figure "fig99"`,
		"fig14:q:0-8":     `fig14:q:0-8: fig14 has no panel "q"`,
		"fig14:a:8-0":     "fig14:a:8-0: \"8-0\" is neither a seed nor a range",
		"fig14:a:0-8:0":   `the stride "0" is not 1 or more`,
		"fig14:a:0":       "fig14:a:0: it has no more seeds times steps than the panel itself",
		"fig2:a:0-8:1":    `fig2:a:0-8:1: there is no setting "stride"`,
	} {
		_, err := a.ParseSize(text, a.options)
		demand.Error(t, err, want)
		if !errors.Is(err, usage.Err) {
			t.Errorf("%v is no usage error", err)
		}
	}
	size, err := a.ParseSize("fig14:a:0-8", a.options)
	if err != nil || size.Figure != "fig14" || size.Panel != "a" || len(size.Seeds) != 9 || size.Minutes <= 0 {
		t.Fatal(size, err)
	}
	a.fix(t, size)
	fixed, err := a.fixedSizes()
	if err != nil || len(fixed) != 1 || !size.Same(fixed[0]) {
		t.Fatal(fixed, err)
	}
	if minutes, err := a.Minutes(fixed[0]); err != nil || minutes != size.Minutes {
		t.Errorf("a fixed size takes %v min, %v, want %v", minutes, err, size.Minutes)
	}
	a.compute(t, []claims.Panel{a.enlarged(t, size)}, func(runs.Wanted, int) float64 { return .5 })
	if p := claim(t, a.verify(t), "fig14-similar").Parts[0]; p.Effect.N != 9 || p.Level != 0 {
		t.Errorf("judged by %d seeds at %v, want 9 at the usual level", p.Effect.N, p.Level)
	}
	if again, err := a.Extend(t.Context(), []claims.Size{size}, time.Hour, a.options); err != nil || len(again) != 0 {
		t.Errorf("a size that is fixed and complete is computed again: %v, %v", again, err)
	}
}
