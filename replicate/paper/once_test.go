package paper

import (
	"cmp"
	"fmt"
	"testing"
)

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
