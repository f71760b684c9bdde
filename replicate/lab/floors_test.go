package lab

import (
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
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

// TestEnds: learners are compared over tasks and seeds where the steps end. Of four seeds and two tasks, those of SAC
// end at 0 to 3 and 10 to 13, those of SAC with omega 100 above, those with the true weights 200 above, and those with
// context and omega, which the figure compares with SAC with omega, 300 above; doing nothing is no learner.
func TestEnds(t *testing.T) {
	p := claims.Panel{Panel: paper.Panel{Key: "a", Series: []string{"sac", "sac-omega", "sac-task", "sac-context-omega",
		"nothing"}, References: []string{"nothing"}}, Protocol: &robots.Protocol}
	var err error
	p.Settings, err = testCatalog.Setup("claw", "tiny", nil)
	demand.NoError(t, err)
	declared := []paper.Claim{{Parts: []paper.Part{{Panel: "a", Series: "sac-context-omega", Base: "sac-omega"},
		{Panel: "b", Series: "sac-context-omega", Base: "sac"}}}}
	report := runs.Report{Results: map[string]*runs.Result{}}
	for i, name := range p.Series {
		for seed := range int64(4) {
			job := runs.Wanted{Series: name, Job: runs.Job{Steps: []int{10, 20, 30, 40},
				Spec: runs.Spec{Experiment: "claw", Learner: name, Seed: seed}}}
			p.Jobs = append(p.Jobs, job)
			run := &runs.Result{Spec: job.Spec, Steps: job.Steps}
			for _, at := range job.Steps {
				low := float64(100*i) + float64(seed)
				if at < 40 { // before the last quarter
					low = -1000
				}
				run.Rows = append(run.Rows, runs.Row{T: at, Metric: "return-valve-0", Value: low},
					runs.Row{T: at, Metric: "return-valve-1", Value: low + 10},
					runs.Row{T: at, Metric: "return-next", Value: 7}, runs.Row{T: at, Metric: "return", Value: low + 5})
			}
			report.Results[job.Spec.ID()] = run
		}
	}
	c := claims.Collect(p, report.Results)
	notes := strings.Join(ends(c, declared), "\n")
	demand.Words(t, notes, "2 tasks and the seeds", "SAC 6.5 [", "SAC with ω 106.5 [",
		"one of the other: SAC with ω above SAC 1.00 [0.", "SAC, true weights above SAC 1.00 [",
		"SAC with context and ω above SAC with ω 1.00 [",
		"SAC, true weights minus SAC: +200.000 [+200.000, +200.000]. This weighting by tasks helps here.")
	if strings.Contains(notes, "nothing") {
		t.Errorf("doing nothing is compared:\n%s", notes)
	}
	c.Metric = "omega-similarity"
	if notes := ends(c, declared); notes != nil {
		t.Errorf("a panel of another metric: %v", notes)
	}
	c.Noted = []paper.Noted{{Name: "return-next", Meaning: "next"}, {Name: "none", Meaning: "nowhere"}}
	told := strings.Join(noted(c), "\n")
	if strings.Count(told, "next 7.000 [7.000, 7.000].") != len(p.Series) || strings.Contains(told, "nowhere") {
		t.Errorf("the noted metrics: %s", told)
	}
}
