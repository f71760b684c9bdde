package lab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// declaredSettings turn the small scale of images into the medium one (figures/gallery/archive/images-declared.md).
var declaredSettings = []string{"max-updates=0", "checkpoint=split", "convolution=winograd"}

// TestMediumOfImages: images have the settings at the medium scale that were declared, so that both commands name the
// same runs. Panels whose scenario lacks the scale are at the small one. Seeds and looks are those that were declared.
func TestMediumOfImages(t *testing.T) {
	for _, scenario := range []string{"cifar10a", "cifar10b", "cifar10c", "noshift"} {
		is, err := testCatalog.Setup(scenario, experiment.Medium, nil)
		demand.NoError(t, err)
		want, err := testCatalog.Setup(scenario, experiment.Small, declaredSettings)
		if err != nil || is != want {
			t.Errorf("%s: %+v, want %+v (%v)", scenario, is, want, err)
		}
	}
	outline := func(o Options) []experiment.Outline {
		o.Panels, o.Seeds = []string{"c"}, []int64{0}
		p, err := testCatalog.Panels(paper.Fig1(), o)
		demand.NoError(t, err)
		out, err := p[0].Settings.Outlines(p[0].Series, p[0].Measure)
		demand.NoError(t, err)
		return out
	}
	of := outline(Options{Scale: experiment.Medium})
	declared := outline(Options{Scale: experiment.Small, Overrides: declaredSettings})
	for i, o := range of {
		id := func(o experiment.Outline) string {
			return runs.Spec{Experiment: o.Data[0].Experiment, Learner: o.Learner, Settings: o.Settings}.ID()
		}
		if id(o) != id(declared[i]) || !slices.Equal(o.Steps, declared[i].Steps) || len(of) != 5 {
			t.Errorf("%s at the medium scale is another run than with the declared settings", o.Series)
		}
	}
	for _, c := range []struct {
		f      paper.Figure
		judged bool
		want   string
	}{
		{paper.Fig1(), false, "a small 0,1,2 0; b medium 0-3 0; c medium 0-3 0; d small 0,1,2 0"},
		{paper.Fig1(), true, "a small 0-9 3; b medium 0-3 2; c medium 0-3 2; d small 0,1,2 0"},
		{paper.Fig3(), true, "a medium 0-3 0; b medium 0-3 0"},
		{paper.Fig8(), true, "a medium 0-3 0; b medium 0-3 0; c small 0,1,2 0"},
		{paper.Fig13(), true, "a medium 0-3 0; b medium 0-3 0; c medium 0-3 0; d medium 0-3 0"},
	} {
		panels, err := testCatalog.Panels(c.f, Options{Scale: experiment.Medium, Judged: c.judged})
		demand.NoError(t, err)
		var got []string
		for _, p := range panels {
			got = append(got, fmt.Sprint(p.Key, " ", p.Scale, " ", claims.FormatSeeds(p.Seeds, ","), " ", p.Looks))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s, judged %v: %s, want %s", c.f.Name(), c.judged, text, c.want)
		}
	}
	_, err := testCatalog.Panels(paper.Fig5(), Options{Scale: experiment.Medium})
	demand.Error(t, err, "there is no scale medium here")
}

// storedElsewhere stores made-up runs of panels as other machines would have computed them.
func (l *testLab) storedElsewhere(t *testing.T, f paper.Figure, o Options, value func(job runs.Wanted, step int) float64) {
	t.Helper()
	panels, err := l.Panels(f, o)
	demand.NoError(t, err)
	for _, p := range panels {
		outlines, err := p.Settings.Outlines(p.Series, p.Measure)
		demand.NoError(t, err)
		for _, o := range outlines {
			data := o.Data[slices.IndexFunc(o.Data, func(d experiment.Data) bool { return cmp.Or(d.Name, "full") == "full" })]
			for _, seed := range p.Seeds {
				spec := runs.Spec{Experiment: data.Experiment, Learner: o.Learner, Seed: seed, Settings: maps.Clone(o.Settings)}
				spec.Settings["backend"] = "xla:cpu"
				if data.Name != "" {
					spec.Settings["data"], spec.Settings["checkpoint-hash"] = data.Name, fmt.Sprint(seed)
				}
				p.Jobs = append(p.Jobs, runs.Wanted{Series: o.Series, Job: runs.Job{Spec: spec, Steps: o.Steps}})
			}
		}
		l.compute(t, p, value)
	}
}

// TestVerifyMedium: claims about images are judged at the medium scale when all their runs are stored, with the panels
// at the small scale that lack it, and are not run while one is missing. Figures without runs change nothing that is
// said of the others.
func TestVerifyMedium(t *testing.T) {
	l := newLab(t)
	o := Options{Scale: experiment.Medium, Judged: true}
	value := func(job runs.Wanted, step int) float64 {
		return map[string]float64{"ours": .6, "recent": .7}[job.Series] + .001*float64(job.Spec.Seed)
	}
	verify := func() claims.Verification {
		stored, err := OpenStored(l.Catalog, OpenOptions{Results: l.results, Tables: medium})
		demand.NoError(t, err)
		return verified(t, stored, o)
	}
	l.lacks = func(job runs.Wanted) bool { return job.Series == "recent" && job.Spec.Seed == 3 }
	l.storedElsewhere(t, paper.Fig1(), o, value)
	v := verify()
	ours, recent := claim(t, v, "fig1-ours-everything"), claim(t, v, "fig1-recent-everything")
	if p := ours.Parts[1]; ours.Verdict != claims.Holds || p.Effect.N != 4 || p.Steps != 11 || p.Level != .975 {
		t.Errorf("%s", ours)
	}
	if recent.Verdict != claims.NotRun || claim(t, v, "fig1a-ours-everything").Verdict != claims.Holds ||
		claim(t, v, "fig3a-ours-standard").Verdict != claims.NotRun {
		t.Errorf("without a run: %s", recent)
	}
	demand.Words(t, strings.Join(v.Basis(), "\n"), "Scale medium, seeds 0-9 (figure 3: 0-3; figure 7: 0-3; figure 8: 0-3; figure 12: 0-7; figure 13: 0-3), backend xla:cpu.",
		"The scenario gaussian has no scale medium: it is at the scale small.")
	l.lacks = func(job runs.Wanted) bool { return false }
	l.storedElsewhere(t, paper.Fig1(), o, value)
	if c := claim(t, verify(), "fig1-recent-everything"); c.Verdict != claims.DoesNotHold {
		t.Errorf("with all runs: %s", c)
	}
}
