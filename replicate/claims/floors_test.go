package claims

import (
	"slices"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/replicate/paper"
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
	shown := map[string]shownPanel{"a": {metric: Metric{Name: "return"}, base: "sac", floors: []string{"nothing", "random"}}}
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
		j := judgeClaim(paper.Figure{Number: 2}, c, shown, Evidence{drawn: c2.rows})
		if j.Verdict != c2.want || j.Parts[0].Verdict != c2.want || len(j.Floors) != 2 {
			t.Errorf("%s: %+v, want %s", what, j, c2.want)
		}
		line := j.String()
		if says := strings.Contains(line, "SAC minus Doing nothing over the last quarter"); says != (c2.want == NotJudged) {
			t.Errorf("%s: %s", what, line)
		}
	}
	one := slices.DeleteFunc(agentRows(-85, 1, -90), func(r figures.Row) bool { return r.Seed > 0 })
	if j := judgeClaim(paper.Figure{}, c, shown, Evidence{drawn: one}); j.Verdict != Undecided {
		t.Errorf("one seed: %s, want %s", j, Undecided)
	}
	below := Evidence{drawn: agentRows(-85, 1, -90)}
	shownPart := judgeClaim(paper.Figure{}, c, shown, below).OnPage()
	if len(shownPart.Parts) != 3 || shownPart.Verdict.Outcome != figures.Missing || shownPart.Verdict.Word != string(NotJudged) {
		t.Errorf("the page shows %+v", shownPart)
	}
	shown["a"] = shownPanel{metric: Metric{Name: "return"}}
	if j := judgeClaim(paper.Figure{}, c, shown, below); j.Verdict != Holds {
		t.Errorf("a panel without floors: %s", j)
	}
}
