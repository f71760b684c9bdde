package claims

import (
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/paper"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
)

// TestEnds: learners are compared over tasks and seeds where the steps end. Of four seeds and two tasks, those of SAC
// end at 0 to 3 and 10 to 13, those of SAC with omega 100 above, those of the latest episodes 200 above, and those
// with context and omega, which the figure compares with SAC with omega, 300 above; doing nothing is no learner.
func TestEnds(t *testing.T) {
	p := Panel{Panel: paper.Panel{Key: "a", Series: []string{"sac", "sac-omega", "sac-recent", "sac-context-omega",
		"nothing"}, References: []string{"nothing"}}, Protocol: &robots.Protocol}
	var err error
	p.Settings, err = robots.Protocol.At("claw", "tiny")
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
	c := Collect(p, report.Results)
	notes := strings.Join(c.ends(declared), "\n")
	demand.Words(t, notes, "2 tasks and the seeds", "SAC 6.5 [", "SAC with ω 106.5 [",
		"one of the other: SAC with ω above SAC 1.00 [0.", "SAC, latest episodes above SAC 1.00 [",
		"SAC with context and ω above SAC with ω 1.00 [")
	if strings.Contains(notes, "nothing") {
		t.Errorf("doing nothing is compared:\n%s", notes)
	}
	c.Metric = "omega-similarity"
	if notes := c.ends(declared); notes != nil {
		t.Errorf("a panel of another metric: %v", notes)
	}
	c.Noted = []paper.Noted{{Name: "return-next", Meaning: "next"}, {Name: "none", Meaning: "nowhere"}}
	told := strings.Join(c.noted(), "\n")
	if strings.Count(told, "next 7.000 [7.000, 7.000].") != len(p.Series) || strings.Contains(told, "nowhere") {
		t.Errorf("the noted metrics: %s", told)
	}
}
