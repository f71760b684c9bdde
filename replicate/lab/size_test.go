package lab

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// TestEvidenceOfOneFigure: settings that fit the figure alone, and a scale that others lack, are no error.
func TestEvidenceOfOneFigure(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		f paper.Figure
		o Options
	}{
		{paper.Fig14(), Options{Scale: "tiny", Overrides: []string{"first=1", "steps=8"}}},
		{paper.Fig1(), Options{Scale: "tiny", Overrides: []string{"d.epochs=3"}}},
		{paper.Fig10(), Options{Scale: "medium"}},
	} {
		plan, err := l.Panels(c.f, c.o)
		demand.NoError(t, err)
		got, err := l.judge(c.f, c.o, collect(plan, runs.Report{}))
		if err != nil || got.Claims[0].Verdict != claims.NotRun {
			t.Errorf("%s with %v: %v, %v", c.f.Name(), c.o, got.Claims, err)
		}
	}
}

// sizes are those that a lab plans, with what it says of parts for which it plans none.
func (l *testLab) sizes(t *testing.T, budget time.Duration) (sizes []claims.Size, unreachable []string) {
	t.Helper()
	sizes, unreachable, err := l.Sizes(t.Context(), l.options, budget)
	demand.NoError(t, err)
	return sizes, unreachable
}

// TestSizes: of made-up runs, Method 1 minus Method 2 has a spread that needs more seeds. The size is fixed, its runs
// are computed and serve the claim, and no further size is made for it. The tables of the drawn figure give the same
// size and time.
func TestSizes(t *testing.T) {
	l := newLab(t)
	l.only(14)
	noisy := func(job runs.Wanted, _ int) float64 {
		if job.Series == "ours" {
			return .5018 + .0012*math.Sin(float64(7*job.Spec.Seed))
		}
		return .5
	}
	l.compute(t, l.plan(t, paper.Fig14())[0], noisy)
	sizes, _ := l.sizes(t, 0)
	if len(sizes) != 1 {
		t.Fatal(sizes)
	}
	size := sizes[0]
	// The distance from the bound is about .0005, so many seeds are needed; every step shows the same.
	if size.Figure != "fig14" || len(size.Seeds) < 4 || size.Parts[0].Claim != "fig14-similar" ||
		size.Parts[0].Later > size.Parts[0].Aim || !strings.Contains(size.String(), "seeds 0-") {
		t.Errorf("%+v\n%s", size, size)
	}
	dir, o := t.TempDir(), l.options
	o.Out = filepath.Join(dir, "fig14")
	_, err := l.Draw(paper.Fig14(), o)
	demand.NoError(t, err)
	of, _, err := fromTables(t, l.Catalog, dir).Sizes(t.Context(), o, 0)
	if err != nil || len(of) != 1 || of[0].String() != size.String() || math.Abs(of[0].Minutes/size.Minutes-1) > 1e-9 {
		t.Errorf("from tables: %v, %v, want %v in %v min", of, err, size, size.Minutes)
	}
	// Fixed and computed by hand, as nothing may be trained here.
	l.fix(t, size)
	again, unreachable := l.sizes(t, 0)
	if len(again) != 0 || len(unreachable) != 1 || !strings.Contains(unreachable[0], "fig14-similar, panel a: ") ||
		!strings.Contains(unreachable[0], "its size is fixed") {
		t.Errorf("a fixed size whose runs are missing is planned again: %v, or not said to be fixed: %v", again, unreachable)
	}
	l.compute(t, l.enlarged(t, size), noisy)
	if got := claim(t, l.verify(t), "fig14-similar").Parts[0]; got.Effect.N != len(size.Seeds) || got.Level != .975 {
		t.Errorf("the claim is judged by %d seeds at %v, want %d at %v", got.Effect.N, got.Level, len(size.Seeds), .975)
	}
	if again, _ := l.sizes(t, 0); len(again) != 0 {
		t.Errorf("after the size was fixed another is planned: %v", again)
	}
	demand.Write(t, l.sizesFile(), "[{")
	_, err = l.Verify(t.Context(), l.options)
	demand.Error(t, err, "sizes.json cannot be read", "restore it or remove it")
}

// TestSizesOfOtherLearners: a size for a claim about Figure 5c has the learners that it compares, and not those of
// Figure 4a under the same settings, whose claims are decided and which lacks the standard score. Their runs alone
// serve the claim.
func TestSizesOfOtherLearners(t *testing.T) {
	l := newLab(t)
	l.only(4, 5)
	accuracy := func(job runs.Wanted, _ int) float64 {
		value := map[string]float64{"everything": .5, "ours": .9, "standard": .9}[job.Series]
		if job.Series == "standard" {
			value += .01 * math.Sin(float64(7*job.Spec.Seed))
		}
		return value
	}
	for _, p := range slices.Concat(l.plan(t, paper.Fig4()), l.plan(t, paper.Fig5())) {
		if p.Scenario == "gaussian" {
			l.compute(t, p, accuracy)
		}
	}
	sizes, _ := l.sizes(t, 0)
	if len(sizes) != 1 || sizes[0].Figure != "fig05" || sizes[0].Panel != "c" ||
		!slices.Equal(sizes[0].Series, []string{"standard", "ours"}) {
		t.Fatalf("sizes %v; want one for the standard score and Ours of figure 5c", sizes)
	}
	every := sizes[0]
	every.Series = nil
	if minutes, err := l.Minutes(every); err != nil || minutes <= sizes[0].Minutes {
		t.Errorf("the size takes %v min, with Everything %v min, %v", sizes[0].Minutes, minutes, err)
	}
	l.fix(t, sizes...)
	l.compute(t, l.enlarged(t, sizes[0]), accuracy)
	if p := claim(t, l.verify(t), "fig5-ours-standard").Parts[0]; p.Effect.N != len(sizes[0].Seeds) || p.Level != .975 {
		t.Errorf("%s, want %d seeds", p, len(sizes[0].Seeds))
	}
}

// TestSizeWithinBudget: some parts of a panel need seeds, others steps. Where a size for all of them takes longer than
// the budget, there is one for those that fit. A size that takes longer is not fixed.
func TestSizeWithinBudget(t *testing.T) {
	l := newLab(t)
	l.only(1)
	l.compute(t, l.plan(t, paper.Fig1())[0], func(job runs.Wanted, step int) float64 {
		switch job.Series {
		case "recent": // needs seeds
			return .5 + .01*(math.Sin(float64(7*job.Spec.Seed))-.2)
		case "finetune": // needs steps
			return .5 + .01*(math.Sin(float64(7*step))-.2)
		}
		return .5
	})
	whole, _ := l.sizes(t, 0)
	if len(whole) != 1 {
		t.Fatal(whole)
	}
	budget := time.Duration(whole[0].Minutes*float64(time.Minute)) - 1
	sizes, _ := l.sizes(t, budget)
	if len(sizes) != 1 || len(sizes[0].Parts) >= len(whole[0].Parts) || sizes[0].Minutes > budget.Minutes() {
		t.Errorf("within %g min %v, want some parts of %s", budget.Minutes(), sizes, whole[0])
	}
	if now, err := l.Extend(t.Context(), whole, budget, l.options); err != nil || len(now) != 0 {
		t.Errorf("computed beyond the budget: %v, %v", now, err)
	}
	if fixed, err := l.fixedSizes(); err != nil || len(fixed) != 0 {
		t.Errorf("fixed beyond the budget: %v, %v", fixed, err)
	}
}

// TestSizeByHand: a size that the user writes into the file serves the claims, at the usual level.
func TestSizeByHand(t *testing.T) {
	l := newLab(t)
	demand.Write(t, l.sizesFile(),
		`[{"scale": "tiny", "figure": "fig14", "panel": "a", "seeds": [0, 1, 2, 3, 4, 5, 6, 7, 8]}]`)
	fixed, err := l.fixedSizes()
	if err != nil || len(fixed) != 1 {
		t.Fatal(fixed, err)
	}
	l.compute(t, l.enlarged(t, fixed[0]), func(runs.Wanted, int) float64 { return .5 })
	if p := claim(t, l.verify(t), "fig14-similar").Parts[0]; p.Effect.N != 9 || p.Level != 0 {
		t.Errorf("judged by %d seeds at %v, want 9 at the usual level", p.Effect.N, p.Level)
	}
	if again, err := l.Extend(t.Context(), fixed, time.Hour, l.options); err != nil || len(again) != 0 {
		t.Errorf("a size that is fixed and complete is computed again: %v, %v", again, err)
	}
}
