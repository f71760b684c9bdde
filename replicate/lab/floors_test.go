package lab

import (
	"slices"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/reinforce"
	"tvps/replicate/runs"
)

// agentRows returns rows of three seeds over eight steps: SAC rises from -100 to end, omega stays 10 above it, doing
// nothing stays at -80, and random actions at random. The seeds differ by spread.
func agentRows(end, spread, random float64) []figures.Row {
	var rows []figures.Row
	for seed := range int64(3) {
		for t := 1; t <= 8; t++ {
			sac := end + spread*float64(seed-1)
			if t <= 6 { // before the last quarter
				sac = -100
			}
			for series, value := range map[string]float64{"sac": sac, "sac-omega": sac + 10 + .1*float64(seed),
				"nothing": -80, "random": random} {
				rows = append(rows, figures.Row{Panel: "a", Series: series, Seed: seed, T: t, Metric: "return", Value: value})
			}
		}
	}
	return rows
}

// A comparison of agents is judged where the first agent ends above doing nothing and above random actions, by the
// interval over seeds. Otherwise it is not judged, which is neither undecided nor not run.
func TestFloors(t *testing.T) {
	c := paper.Claim{ID: "x", Text: "Omega is better", Place: "here", Parts: []paper.Part{
		{Panel: "a", Series: "sac-omega", Base: "sac"}}}
	shown := map[string]shownPanel{"a": {metric: "return", base: "sac", floors: []string{"nothing", "random"}}}
	without := func(name string) []figures.Row {
		return slices.DeleteFunc(agentRows(-40, 1, -90), func(r figures.Row) bool { return r.Series == name })
	}
	for what, c2 := range map[string]struct {
		rows []figures.Row
		want Verdict
	}{
		"above both":             {agentRows(-40, 1, -90), Holds},
		"below doing nothing":    {agentRows(-85, 1, -90), NotJudged},
		"below random actions":   {agentRows(-40, 1, -30), NotJudged},
		"above, but not surely":  {agentRows(-75, 20, -90), NotJudged},
		"without a floor's runs": {without("random"), NotRun},
		"without the part's run": {without("sac-omega"), NotRun},
	} {
		j := judge(paper.Figure{Number: 2}, c, shown, evidence{drawn: c2.rows})
		if j.Verdict != c2.want || j.Parts[0].Verdict != c2.want || len(j.Floors) != 2 {
			t.Errorf("%s: %+v, want %s", what, j, c2.want)
		}
		line := j.String()
		if says := strings.Contains(line, "SAC minus Doing nothing over the last quarter"); says != (c2.want == NotJudged) {
			t.Errorf("%s: %s", what, line)
		}
	}
	one := slices.DeleteFunc(agentRows(-85, 1, -90), func(r figures.Row) bool { return r.Seed > 0 })
	if j := judge(paper.Figure{}, c, shown, evidence{drawn: one}); j.Verdict != Undecided {
		t.Errorf("one seed: %s, want %s", j, Undecided)
	}
	if j := judge(paper.Figure{}, c, map[string]shownPanel{"a": {metric: "return"}}, evidence{drawn: agentRows(-85, 1, -90)}); j.Verdict != Holds {
		t.Errorf("a panel without floors: %s", j)
	}
	open := agentRows(-85, 1, -90)
	shownPart := judge(paper.Figure{}, c, shown, evidence{drawn: open}).onPage()
	if len(shownPart.Parts) != 3 || shownPart.Verdict.Outcome != figures.Missing ||
		shownPart.Verdict.Word != "not judged: agents are not trained at this scale" {
		t.Errorf("the page shows %+v", shownPart)
	}
	two := []Judged{judge(paper.Figure{}, c, shown, evidence{drawn: open}), judge(paper.Figure{}, c, shown, evidence{drawn: agentRows(-40, 1, -90)})}
	if got, want := countVerdicts(two), "2 claims: 1 holds, 1 is not judged"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The panels of robots show their references with any choice of learners, and have the protocol's floors.
func TestReferencesStay(t *testing.T) {
	for _, o := range []Options{{Scale: "tiny"}, {Scale: "tiny", Learners: []string{"sac-context"}}} {
		for _, f := range []paper.Figure{paper.Fig2(), paper.Fig10(), paper.Fig11()} {
			plan, err := testCatalog.Panels(f, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range plan {
				if p.Metric != "" { // no return
					continue
				}
				if len(p.References) != 3 || !slices.Equal(p.Series[len(p.Series)-3:], p.References) {
					t.Errorf("%s, panel %s, learners %v: series %v", f.Name(), p.Key, o.Learners, p.Series)
				}
				shown := shownIn(plan)[p.Key]
				if !slices.Equal(shown.floors, []string{"nothing", "random"}) || shown.base != p.Series[0] {
					t.Errorf("%s, panel %s: %+v", f.Name(), p.Key, shown)
				}
			}
		}
	}
}

// TestEnds: learners are compared over tasks and seeds where the steps end. Of four seeds and two tasks, those of SAC
// end at 0 to 3 and 10 to 13, those of SAC with omega 100 above, those with the true weights 200 above, and those with
// context and omega, which the figure compares with SAC with omega, 300 above; doing nothing is no learner.
func TestEnds(t *testing.T) {
	p := PanelPlan{Panel: paper.Panel{Key: "a", Series: []string{"sac", "sac-omega", "sac-task", "sac-context-omega",
		"nothing"}, References: []string{"nothing"}}, Protocol: &reinforce.Protocol, Shown: "return"}
	var err error
	if p.Settings, err = testCatalog.Setup("claw", "tiny", nil); err != nil {
		t.Fatal(err)
	}
	claims := []paper.Claim{{Parts: []paper.Part{{Panel: "a", Series: "sac-context-omega", Base: "sac-omega"},
		{Panel: "b", Series: "sac-context-omega", Base: "sac"}}}}
	r := &Result{Report: runs.Report{Results: map[string]*runs.Result{}}}
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
			r.Report.Results[job.Spec.ID()] = run
		}
	}
	r.Rows = p.Rows(r.Report)
	notes := strings.Join(p.ends(r, claims), "\n")
	for _, words := range []string{"2 tasks and the seeds", "SAC 6.5 [", "SAC with ω 106.5 [",
		"one of the other: SAC with ω above SAC 1.00 [0.", "SAC, true weights above SAC 1.00 [",
		"SAC with context and ω above SAC with ω 1.00 [",
		"SAC, true weights minus SAC: +200.000 [+200.000, +200.000]. So an omega that follows the tasks would gain here."} {
		if !strings.Contains(notes, words) {
			t.Errorf("the notes lack %q:\n%s", words, notes)
		}
	}
	if strings.Contains(notes, "nothing") {
		t.Errorf("doing nothing is compared:\n%s", notes)
	}
	p.Metric = "omega-similarity"
	if notes := p.ends(r, claims); notes != nil {
		t.Errorf("a panel of another metric: %v", notes)
	}
	p.Noted = []paper.Noted{{Name: "return-next", Meaning: "next"}, {Name: "none", Meaning: "nowhere"}}
	noted := strings.Join(p.noted(r.Report), "\n")
	if strings.Count(noted, "next 7.000 [7.000, 7.000].") != len(p.Series) || strings.Contains(noted, "nowhere") {
		t.Errorf("the noted metrics: %s", noted)
	}
}
