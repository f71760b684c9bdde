package paper

import (
	"encoding/json"
	"strings"
	"testing"

	"tvps/figures"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		below     bool
		bound     float64
		low, high float64
		n         int
		want      Verdict
	}{
		{false, 0, .1, .2, 3, Holds},
		{false, 0, -.2, -.1, 3, DoesNotHold},
		{false, 0, -.1, .1, 3, Undecided},
		{false, 0, 0, .1, 3, Undecided},
		{false, 0, .1, .1, 1, Undecided}, // one seed settles nothing
		{false, 0, 0, 0, 0, Undecided},
		{true, 0, .1, .2, 3, DoesNotHold},
		{true, 0, -.2, -.1, 3, Holds},
		{true, 0, -.1, .1, 3, Undecided},
		{false, -.05, -.04, -.01, 3, Holds},
		{false, -.05, -.06, -.01, 3, Undecided},
		{false, -.05, -.09, -.06, 3, DoesNotHold},
		{true, .05, .01, .04, 3, Holds},
	} {
		got := Claim{Below: c.below, Bound: c.bound}.verdict(figures.Estimate{Mean: (c.low + c.high) / 2, Low: c.low, High: c.high, N: c.n})
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// threeSeeds are rows in which ours lies above everything by gain at every place but
// for a little noise.
func threeSeeds(gain float64) []figures.Row {
	var rows []figures.Row
	for seed := range int64(3) {
		for t := range 4 {
			noise := .001 * float64((seed+int64(t))%2)
			rows = append(rows,
				figures.Row{Panel: "a", Series: "everything", Seed: seed, T: t, Metric: "accuracy", Value: .5},
				figures.Row{Panel: "a", Series: "ours", Seed: seed, T: t, Metric: "accuracy", Value: .5 + gain + noise*float64(seed)})
		}
	}
	return rows
}

func TestJudge(t *testing.T) {
	c := Claim{ID: "x", Text: "Ours is better", Place: "here", Panel: "a", Series: "ours", Base: "everything"}
	for gain, want := range map[float64]Verdict{.1: Holds, -.1: DoesNotHold, -.0005: Undecided} {
		j := judge(c, threeSeeds(gain))
		if j.Verdict != want || j.Difference.N != 3 {
			t.Errorf("gain %v: %+v", gain, j)
		}
		if line := j.String(); !strings.Contains(line, string(want)) || !strings.Contains(line, "n = 3 seeds") || !strings.Contains(line, "ours minus everything") {
			t.Errorf("line %q", line)
		}
	}
	for _, missing := range []Claim{{Panel: "b", Series: "ours", Base: "everything"}, {Panel: "a", Series: "recent", Base: "everything"}, {Panel: "a", Series: "ours", Base: "recent"}} {
		j := judge(missing, threeSeeds(.1))
		if j.Verdict != NotRun || strings.Contains(j.String(), "seeds") {
			t.Errorf("%+v: %s", missing, j)
		}
	}
	one := judge(c, threeSeeds(.1)[:2])
	if line := one.String(); !strings.Contains(line, "one seed, so no interval") || strings.Contains(line, "[") {
		t.Errorf("the line of one seed is %q", line)
	}
	text, err := json.Marshal(one)
	if err != nil || !strings.Contains(string(text), `"verdict":"undecided"`) {
		t.Errorf("one seed: %s, %v", text, err)
	}
}

// TestDrawable: what failed runs leave without a partner is left out, the rest stays.
func TestDrawable(t *testing.T) {
	plan := []PanelPlan{
		{Panel: Panel{Key: "a", Learners: []string{"everything", "recent", "ours"}}},
		{Panel: Panel{Key: "b", Learners: []string{"everything", "ours"}}},
	}
	rows := append(threeSeeds(.1), figures.Row{Panel: "b", Series: "ours", Metric: "accuracy"},
		figures.Row{Panel: "a", Series: "recent", Seed: 9, T: 9, Metric: "accuracy"})
	panels, kept := drawable(plan, rows)
	if len(panels) != 1 || strings.Join(panels[0].Learners, " ") != "everything ours" || len(kept) != 24 {
		t.Errorf("left are %+v and %d rows", panels, len(kept))
	}
	if len(plan[0].Learners) != 3 {
		t.Error("the plan itself was changed")
	}
	if panels, kept := drawable(plan, nil); panels != nil || kept != nil {
		t.Error("something is left of nothing")
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "single", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 17: "17th", 21: "21st", 22: "22nd", 111: "111th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %q", n, got)
		}
	}
}
