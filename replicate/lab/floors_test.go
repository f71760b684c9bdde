package lab

import (
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/paper"
)

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
