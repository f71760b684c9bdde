package paper

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"

	"tvps/data/streams"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// TestClosedForms: the total variation by which a claim of Figure 9 is decided, and the rise that its note tells for
// three horizons, follow from the label distributions of CIFAR-10b. If all classes are equally far from each other, the
// squared MMD between a step and the mixture of those before it is a multiple of the squared distance of their label
// distributions; the multiple is that which gives the measured mean, .0292 (six seeds, 11 steps).
func TestClosedForms(t *testing.T) {
	const mean, steps = .0292, 120
	prior := streams.CIFAR10b.Prior
	variation := func(a, b int) float64 { return floats.Distance(prior(a), prior(b), 1) / 2 }
	var times, distances []float64
	past := make([]float64, streams.CIFAR10b.Classes)
	next, far := 0., 0.
	for step := 1; step < steps; step++ {
		floats.Add(past, prior(step-1))
		mixture := make([]float64, len(past))
		floats.ScaleTo(mixture, 1/float64(step), past)
		d := floats.Distance(prior(step), mixture, 2)
		times, distances = append(times, float64(step)), append(distances, d*d)
		next = max(next, variation(step, step-1))
		for other := range step {
			far = max(far, variation(step, other))
		}
	}
	for last, want := range map[int]float64{30: .078, 60: .021, 119: .0015} {
		_, slope := stat.LinearRegression(times[:last], distances[:last], nil, false)
		if rise := 100 * slope * mean / stat.Mean(distances, nil); math.Abs(rise/want-1) > .03 {
			t.Errorf("until step %d the MMD rises by %g in 100 steps, Figure 9 says %g", last, rise, want)
		}
	}
	if math.Abs(next-nextStep) > 1e-12 || math.Abs(far-farthest) > 1e-12 {
		t.Errorf("total variation: %g from a step to the next, %g at most; Figure 9 says %g and %g", next, far, nextStep, farthest)
	}
}

// TestCountedOnce: of claims with the same parts, which the same numbers decide, all but one name it as their twin.
// Parts are the same if they compare the same learners by the same runs, whatever the letter of the panel.
func TestCountedOnce(t *testing.T) {
	by := map[string]Claim{} // parts
	all := map[string]Claim{}
	for _, f := range Figures() {
		panels := map[string]string{}
		for _, p := range f.Panels {
			panels[p.Key] = fmt.Sprint(p.Scenario, p.Set, p.Measure, p.Metric, p.Judged, p.Take, f.SeedsFor("medium"))
		}
		for _, c := range f.Claims {
			all[c.ID] = c
			parts := ""
			for _, p := range c.Parts {
				runs := panels[p.Panel]
				for _, key := range p.Panels {
					runs += panels[string(key)]
				}
				p.Panel, p.Panels, p.Margin = "", "", 0
				p.Statistic, p.Test = cmp.Or(p.Statistic, Difference), cmp.Or(p.Test, Above)
				parts += fmt.Sprintf("%s %+v;", runs, p)
			}
			if c.Twin != "" {
				continue
			}
			if other, ok := by[parts]; ok {
				t.Errorf("%s and %s are decided by the same numbers: one counts, the other is its twin", other.ID, c.ID)
			}
			by[parts] = c
		}
	}
	for id, c := range all {
		if other, ok := all[c.Twin]; c.Twin != "" && (!ok || other.Twin != "" || other.New != c.New) {
			t.Errorf("%s is the twin of %s, which is not a claim that counts where this one does", id, c.Twin)
		}
	}
}

// TestNotesOfAllSettings: notes of claims are on pages of all settings, so none tells how many checkpoints there are,
// which the setting checkpoint decides and panels say.
func TestNotesOfAllSettings(t *testing.T) {
	for _, f := range Figures() {
		for _, c := range f.Claims {
			if strings.Contains(c.Note, "for all seeds") {
				t.Errorf("%s: the note depends on a setting: %s", c.ID, c.Note)
			}
		}
	}
}
