package lab

import (
	"encoding/json"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/replicate/paper"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		test      paper.Test
		bound     float64
		low, high float64
		n         int
		want      Verdict
	}{
		{paper.Above, 0, .1, .2, 3, Holds},
		{"", 0, .1, .2, 3, Holds},
		{paper.Above, 0, -.2, -.1, 3, DoesNotHold},
		{paper.Above, 0, -.1, .1, 3, Undecided},
		{paper.Above, 0, 0, .1, 3, Undecided},
		{paper.Above, 0, .1, .1, 1, Undecided}, // one seed decides nothing
		{paper.Above, 0, 0, 0, 0, Undecided},
		{paper.Below, 0, .1, .2, 3, DoesNotHold},
		{paper.Below, 0, -.2, -.1, 3, Holds},
		{paper.Below, 0, -.1, .1, 3, Undecided},
		{paper.Above, -.05, -.04, -.01, 3, Holds},
		{paper.Above, -.05, -.06, -.01, 3, Undecided},
		{paper.Above, -.05, -.09, -.06, 3, DoesNotHold},
		{paper.Below, .05, .01, .04, 3, Holds},
		{paper.Within, .05, -.04, .04, 3, Holds},
		{paper.Within, .05, .01, .06, 3, Undecided},
		{paper.Within, .05, -.06, .06, 3, Undecided},
		{paper.Within, .05, .06, .08, 3, DoesNotHold},
		{paper.Within, .05, -.08, -.06, 3, DoesNotHold},
	} {
		effect := figures.Estimate{Mean: (c.low + c.high) / 2, Low: c.low, High: c.high, N: c.n}
		got := verdictOf(paper.Part{Test: c.test, Bound: c.bound}, effect)
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestCombine(t *testing.T) {
	verdicts := map[rune]Verdict{'h': Holds, 'd': DoesNotHold, 'u': Undecided, 'n': NotRun, '-': NotJudged}
	for _, c := range []struct {
		parts string // h holds, d does not, u undecided, n not run, - not judged
		want  Verdict
	}{
		{"h", Holds}, {"hh", Holds}, {"hd", Partly}, {"uh", Partly}, {"hdu", Partly},
		{"d", DoesNotHold}, {"dd", DoesNotHold}, {"du", DoesNotHold}, {"u", Undecided}, {"uu", Undecided},
		{"n", NotRun}, {"hn", NotRun}, {"dn", NotRun},
		{"-", NotJudged}, {"--", NotJudged}, {"-u", Undecided}, {"-h", Partly}, {"-d", DoesNotHold}, {"-n", NotRun},
		{"", NotRun}, // nothing to judge
	} {
		var parts []JudgedPart
		for _, letter := range c.parts {
			parts = append(parts, JudgedPart{Verdict: verdicts[letter]})
		}
		if got := combine(parts); got != c.want {
			t.Errorf("%s: %s, want %s", c.parts, got, c.want)
		}
	}
}

// threeSeeds returns rows of three seeds in which ours is above everything by gain at every step, plus a little noise.
func threeSeeds(gain float64) []figures.Row {
	var rows []figures.Row
	for seed := range int64(3) {
		for t := range 4 {
			noise := .001 * float64((seed+int64(t))%2)
			rows = append(rows,
				figures.Row{Panel: "a", Series: "everything", Seed: seed, T: t, Metric: "accuracy", Value: .5},
				figures.Row{Panel: "a", Series: "ours", Seed: seed, T: t, Metric: "accuracy",
					Value: .5 + gain + noise*float64(seed)})
		}
	}
	return rows
}

// judgeOne judges a claim of one part, about the accuracy of the rows.
func judgeOne(p paper.Part, rows []figures.Row) Judged {
	c := paper.Claim{ID: "x", Text: "Ours is better", Place: "here", Parts: []paper.Part{p}}
	return judge(paper.Figure{Number: 1}, c, map[string]shownPanel{"a": {metric: "accuracy"}}, rows)
}

func TestJudge(t *testing.T) {
	p := paper.Part{Panel: "a", Series: "ours", Base: "everything"}
	for gain, want := range map[float64]Verdict{.1: Holds, -.1: DoesNotHold, -.0005: Undecided} {
		j := judgeOne(p, threeSeeds(gain))
		if j.Verdict != want || j.Parts[0].Effect.N != 3 {
			t.Errorf("gain %v: %+v", gain, j)
		}
		if line := j.String(); !strings.Contains(line, string(want)) || !strings.Contains(line, "n = 3") ||
			!strings.Contains(line, "Ours minus Everything") {
			t.Errorf("line %q", line)
		}
	}
	if j := judgeOne(p, threeSeeds(.1)); j.Parts[0].Statistic != paper.Difference || j.Parts[0].Test != paper.Above ||
		j.Parts[0].Metric != "accuracy" {
		t.Errorf("the part does not say how it was judged: %+v", j.Parts[0])
	}
	one := judgeOne(p, threeSeeds(.1)[:2])
	if line := one.String(); !strings.Contains(line, "one seed, so no interval") || strings.Contains(line, "[") {
		t.Errorf("the line of one seed is %q", line)
	}
	text, err := json.Marshal(one)
	if err != nil || !strings.Contains(string(text), `"verdict":"undecided"`) ||
		!strings.Contains(string(text), `"effect":{`) {
		t.Errorf("one seed: %s, %v", text, err)
	}
}

// TestJudgeNotRun: a part without values, or whose statistic cannot be computed, is not run.
func TestJudgeNotRun(t *testing.T) {
	for _, missing := range []paper.Part{{Panel: "b", Series: "ours", Base: "everything"},
		{Panel: "a", Series: "recent", Base: "everything"}, {Panel: "a", Series: "ours", Base: "recent"}} {
		j := judgeOne(missing, threeSeeds(.1))
		if j.Verdict != NotRun || strings.Contains(j.String(), "n =") {
			t.Errorf("%+v: %s", missing, j)
		}
	}
	for name, p := range map[string]paper.Part{
		"without the exact curve": {Panel: "a", Series: "ours", Base: "everything",
			Statistic: paper.CorrelationGain, Truth: "exact"},
		"over less than one period": {Panel: "a", Series: "ours", Statistic: paper.Phase},
		"by an unknown statistic":   {Panel: "a", Series: "ours", Statistic: "median"},
	} {
		if j := judgeOne(p, threeSeeds(.1)); j.Verdict != NotRun || j.Parts[0].Effect.N != 0 {
			t.Errorf("%s %s: %+v", p.Statistic, name, j)
		}
	}
}
