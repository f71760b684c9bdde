package lab

import (
	"cmp"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/robots"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"
)

// scalesOf lists the scales that the scenarios of a figure have.
func scalesOf(f paper.Figure) []experiment.Scale {
	return slices.DeleteFunc(slices.Clone(experiment.Scales), func(s experiment.Scale) bool {
		return !slices.ContainsFunc(testCatalog.FiguresAt(s), func(at paper.Figure) bool { return at.Number == f.Number })
	})
}

func TestPanels(t *testing.T) {
	o := Options{Scale: "tiny", Overrides: []string{"epochs=3", "b.epochs=4", "c.clip=none"},
		Learners: []string{"ours", "everything", "ours", "recent", "b.pretrained"}}
	plan, err := testCatalog.Panels(paper.Fig1(), o)
	demand.NoError(t, err)
	want := map[string]struct {
		epochs int
		clip   propensity.ClipPolicy
	}{"a": {3, "min1"}, "b": {4, "min1"}, "c": {3, "none"}, "d": {3, "min1"}}
	for _, p := range plan {
		if s, w := p.Settings.(supervised.Settings), want[p.Key]; s.Epochs != w.epochs || s.Clip != w.clip {
			t.Errorf("panel %s: epochs %d, clip %s; want %+v", p.Key, s.Epochs, s.Clip, w)
		}
		series := []string{"everything", "ours", "recent"}
		if p.Key == "b" {
			series = append(series, "pretrained")
		}
		demand.List(t, p.Series, series, "series of panel %s", p.Key)
	}
	demand.Equal(t, len(plan), 4, "panels")
	if plan, err = testCatalog.Panels(paper.Fig1(), Options{Scale: "tiny", Panels: []string{"c"}}); err != nil ||
		len(plan) != 1 || plan[0].Key != "c" {
		t.Errorf("panel c alone: %v, %v", plan, err)
	}
	// A linear model is valid for the Gaussian only: a setting without a panel's key applies to the chosen panels.
	plan, err = testCatalog.Panels(paper.Fig1(), Options{Scale: "tiny", Panels: []string{"a"},
		Overrides: []string{"network=linear"}})
	if err != nil || plan[0].Settings.(supervised.Settings).Network != "linear" {
		t.Errorf("panel a with a linear model: %v, %v", plan, err)
	}
}

func TestPanelsErrors(t *testing.T) {
	for _, c := range []struct {
		o     Options
		words []string
	}{
		{Options{Scale: "tiny", Panels: []string{"a", "e"}}, []string{`no panel "e"`, "a, b, c, d"}},
		{Options{Scale: ""}, []string{"no scale"}},
		{Options{Scale: "tiny", Overrides: []string{"b.epohcs=4"}}, []string{`"epohcs"`, `did you mean "epochs"`}},
		{Options{Scale: "tiny", Overrides: []string{"z.epochs=4"}}, []string{`no setting "z.epochs"`}},
		{Options{Scale: "tiny", Overrides: []string{"b.epochs"}}, []string{"name=value"}},
		{Options{Scale: "tiny", Learners: []string{"hours"}}, []string{"panel a", `did you mean "ours"`}},
		{Options{Scale: "tiny", Panels: []string{"a"}, Learners: []string{"b.hours"}}, []string{"panel b", `did you mean "ours"`}},
		{Options{Scale: "tiny", Panels: []string{"a"}, Learners: []string{"b.ours"}}, []string{"b.ours", "--panel leaves out"}},
		{Options{Scale: "tiny", Panels: []string{"a"}, Overrides: []string{"b.epochs=3"}}, []string{"b.epochs=3", "leaves out"}},
		{Options{Scale: "tiny", Learners: []string{"pretrained"}}, []string{"panel a", "pretrained"}},
		{Options{Scale: "tiny", Learners: []string{"everything"}}, []string{"panel a", "name another learner"}},
	} {
		_, err := testCatalog.Panels(paper.Fig1(), c.o)
		demand.Error(t, err, c.words...)
		if !errors.Is(err, usage.Err) {
			t.Errorf("%v is not a usage error", err)
		}
	}
	_, err := testCatalog.Panels(paper.Fig2(), Options{Scale: "tiny", Learners: []string{"c.sac-recent"}})
	demand.Error(t, err, "panel c shows omega-similarity", "c.sac-recent")
}

// TestCatalog: the panels and claims of every figure are consistent, and numbers and ids are unique.
func TestCatalog(t *testing.T) {
	ids, numbers := map[string]bool{}, map[int]bool{}
	for _, f := range testCatalog.Figures {
		if numbers[f.Number] || f.Number < 1 {
			t.Errorf("figure %d is declared twice or has no number", f.Number)
		}
		numbers[f.Number] = true
		if n := len(scalesOf(f)); n < 3 {
			t.Errorf("%s has %d scales", f.Name(), n)
		}
		series := map[string][]string{}
		for _, p := range f.Panels {
			if series[p.Key] != nil {
				t.Errorf("%s has two panels %s", f.Name(), p.Key)
			}
			series[p.Key] = p.Series
			if metric := cmp.Or(p.Metric, p.Measure, "accuracy"); metric != "accuracy" && p.YLabel == "" {
				t.Errorf("%s, panel %s: the y axis has no name", f.Name(), p.Key)
			}
			for _, scale := range scalesOf(f) {
				if testCatalog.hasScale(scale, p) {
					checkPanel(t, p, scale)
				}
			}
		}
		for _, c := range f.Claims {
			checkClaim(t, c, series)
			if ids[c.ID] || c.ID == "" || c.Text == "" || c.Place == "" || c.Says == "" || len(c.Parts) == 0 {
				t.Errorf("claim %+v is incomplete or declared twice", c)
			}
			ids[c.ID] = true
		}
	}
}

// checkClaim checks that the parts of a claim name series of their panels and existing statistics.
func checkClaim(t *testing.T, c paper.Claim, series map[string][]string) {
	t.Helper()
	for _, p := range c.Parts {
		has := series[p.Panel]
		if !slices.Contains(has, p.Series) || p.Series == p.Base ||
			p.Base != "" && !slices.Contains(has, p.Base) || p.Truth != "" && !slices.Contains(has, p.Truth) {
			t.Errorf("claim %s compares %s and %s in panel %q, which has %v", c.ID, p.Series, p.Base, p.Panel, has)
		}
		if (p.Statistic == paper.CorrelationGain || p.Statistic == paper.Highest) != (p.Truth != "") {
			t.Errorf("claim %s: %s with the closed form %q", c.ID, p.Statistic, p.Truth)
		}
		if p.Test == paper.Within && p.Bound <= 0 {
			t.Errorf("claim %s: within %v", c.ID, p.Bound)
		}
	}
}

// checkPanel checks that the series of a panel exist and fit its scenario and measure, and that it reports at two or
// more steps. Strides share no factor with T: otherwise the chosen steps would always have the same class ratios.
func checkPanel(t *testing.T, p paper.Panel, scale experiment.Scale) {
	t.Helper()
	s, err := testCatalog.Setup(p.Scenario, scale, p.Set)
	demand.NoError(t, err)
	for _, name := range slices.Concat(p.Series, p.MeanLines) {
		if err := s.CheckSeries(name, p.Measure); err != nil || !slices.Contains(p.Series, name) {
			t.Errorf("panel %s, %s: %s, %v", p.Key, scale, name, err)
		}
	}
	if len(s.PlannedSteps()) < 2 {
		t.Errorf("%s, %s trains at %v only", p.Scenario, scale, s.PlannedSteps())
	}
	if of, ok := s.(supervised.Settings); ok && of.CheckStride() != nil {
		t.Errorf("%s, %s: %v", p.Scenario, scale, of.CheckStride())
	}
}

// TestOptionsForAllFigures: options for all figures apply to those whose protocol has them. Options that no protocol
// has are errors; so are options for one figure that its protocol does not have.
func TestOptionsForAllFigures(t *testing.T) {
	o := Options{Scale: "tiny", Overrides: []string{"epochs=3", "episodes=16", "b.clip=none", "clip=exp1"},
		Learners: []string{"recent", "sac-omega"}, AllFigures: true}
	images, err := testCatalog.Panels(paper.Fig1(), o)
	demand.NoError(t, err)
	demand.Equal(t, string(images[0].Settings.(supervised.Settings).Clip), "exp1", "clip of panel a")
	if s := images[1].Settings.(supervised.Settings); s.Epochs != 3 || s.Clip != "none" ||
		!slices.Equal(images[1].Series, []string{"everything", "recent"}) {
		t.Errorf("figure 1: epochs %d, clip %s, series %v", s.Epochs, s.Clip, images[1].Series)
	}
	rl, err := testCatalog.Panels(paper.Fig2(), o)
	demand.NoError(t, err)
	if s := rl[1].Settings.(robots.Settings); s.Episodes != 16 || s.Clip != "none" ||
		!slices.Equal(rl[1].Series, append([]string{"sac", "sac-omega"}, rl[1].References...)) {
		t.Errorf("figure 2: episodes %d, clip %s, series %v", s.Episodes, s.Clip, rl[1].Series)
	}
	demand.NoError(t, testCatalog.CheckAll(Options{Scale: "tiny", Overrides: o.Overrides, Learners: o.Learners}))
	demand.Error(t, testCatalog.CheckAll(Options{Scale: "tiny", Overrides: []string{"epohcs=3"}}),
		`did you mean "epochs"`)
	demand.Error(t, testCatalog.CheckAll(Options{Scale: "tiny", Learners: []string{"sacc"}}), `"sacc"`)
	demand.Error(t, testCatalog.CheckAll(Options{Scale: "tiny", Overrides: []string{"scenario=periodic"}}), "cannot be set")
	o.AllFigures = false
	_, err = testCatalog.Panels(paper.Fig2(), o)
	demand.Error(t, err, `"epochs"`)
}

// TestNotesOfDeclaredRuns: what a claim says of its declared runs is left out beside runs with other settings.
func TestNotesOfDeclaredRuns(t *testing.T) {
	for want, o := range map[bool]Options{true: {}, false: {Overrides: []string{"target=50"}}} {
		noted := slices.ContainsFunc(o.judge(paper.Fig5(), nil), func(c claims.Judged) bool { return c.Note != "" })
		demand.Equal(t, noted, want, "%v: a note", o.Overrides)
	}
}

// TestSettingsNameTheirInterpretation: every interpretation that a setting names exists.
func TestSettingsNameTheirInterpretation(t *testing.T) {
	document := demand.Read(t, filepath.Join("..", "paper", "INTERPRETATIONS.md"))
	for _, p := range testCatalog.Protocols {
		named := 0
		for _, f := range p.Fields() {
			for _, about := range regexp.MustCompile(`\bI\d+\b`).FindAllString(f.Doc, -1) {
				named++
				if !regexp.MustCompile(`(?m)^## ` + about + ` `).Match(document) {
					t.Errorf("%s names %s, which is not an interpretation", f.Name, about)
				}
			}
		}
		if named == 0 {
			t.Errorf("no setting of the protocol of %s names an interpretation", p.Base)
		}
	}
}

// TestFiguresAt: all figures but those of simulated data and CLEAR alone have the medium scale.
func TestFiguresAt(t *testing.T) {
	for scale, want := range map[experiment.Scale][]int{experiment.Medium: {1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14},
		experiment.Tiny: nil, experiment.Small: nil, experiment.Paper: nil} {
		var got []int
		for _, f := range testCatalog.FiguresAt(scale) {
			got = append(got, f.Number)
		}
		if want == nil && len(got) != len(testCatalog.Figures) || want != nil && !slices.Equal(got, want) {
			t.Errorf("scale %s: figures %v", scale, got)
		}
	}
}

// The panels of robots show their references with any choice of learners, and have the protocol's floors.
func TestReferencesStay(t *testing.T) {
	for _, o := range []Options{{Scale: "tiny"}, {Scale: "tiny", Learners: []string{"sac-context"}},
		{Scale: "tiny", Learners: []string{"sac"}}} {
		for _, f := range []paper.Figure{paper.Fig2(), paper.Fig10(), paper.Fig11()} {
			plan, err := testCatalog.Panels(f, o)
			demand.NoError(t, err)
			for _, p := range plan {
				if p.Metric != "" { // no return
					continue
				}
				if len(p.References) != 3 || !slices.Equal(p.Series[len(p.Series)-3:], p.References) {
					t.Errorf("%s, panel %s, learners %v: series %v", f.Name(), p.Key, o.Learners, p.Series)
				}
			}
		}
	}
}
