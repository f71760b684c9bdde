package claims

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
)

// ofAccuracy is a panel a that shows accuracies.
var ofAccuracy = map[string]shownPanel{"a": {metric: Metric{Name: "accuracy"}}}

// TestRegret: in three panels of three seeds each, by hand. Ours is .029 behind Recent in panel a, Fine-tune .009
// behind Ours in panel c; there they differ from seed to seed by 0, 1 and 2 thousandths.
func TestRegret(t *testing.T) {
	var rows []figures.Row
	shown := map[string]shownPanel{}
	learners := []string{"everything", "recent", "finetune", "ours"}
	for panel, means := range map[string][]float64{"a": {.5, .9, .9, .87}, "b": {.7, .705, .705, .71}, "c": {.7, .7, .71, .72}} {
		shown[panel] = shownPanel{metric: Metric{Name: "accuracy"}, series: learners}
		for i, name := range learners {
			for seed := range int64(3) {
				value := means[i]
				if panel == "a" && name == "ours" || panel == "c" && name == "finetune" {
					value += .001 * float64(seed)
				}
				rows = append(rows, figures.Row{Panel: panel, Series: name, Seed: seed, T: 1, Metric: "accuracy", Value: value})
			}
		}
	}
	p := paper.Part{Panel: "a", Panels: "abc", Series: "ours", Base: "finetune", Statistic: paper.Regret, Test: paper.Below}
	judged := func(rows []figures.Row) JudgedPart {
		return judgeClaim(paper.Claim{Parts: []paper.Part{p}}, shown, rowsOf(rows)).Parts[0]
	}
	got := judged(rows)
	// Upper end of Ours minus lower end of Fine-tune: each a half width of the interval of 0, 1, 2 thousandths at
	// 1 - .05/18. Fine-tune's lower end is at least that of its distance 0 from Recent in panel b.
	half := statistics.OverSeeds([]float64{0, .001, .002})(1-.05/18).High - .001
	if math.Abs(got.Effect.Mean-.02) > 1e-9 || math.Abs(got.Effect.High-(.029+half-max(.005, .009-half))) > 1e-9 ||
		math.Abs(got.Effect.Low-(.029-half-.009-half)) > 1e-9 || got.Effect.N != 3 || got.Verdict != Undecided {
		t.Errorf("%s: %+v, half width %g", got.Verdict, got.Effect, half)
	}
	demand.Words(t, got.String(), "panel a, b, c: worst distance from the best learner")
	best := slices.Clone(rows) // Ours is the best everywhere, so 0 behind; Fine-tune is .245 behind in panel b
	for i := range best {
		if best[i].Series == "ours" {
			best[i].Value = .95
		}
	}
	demand.Near(t, "the difference to the best", judged(best).Effect.Mean, -.245)
	if got := judged(rows[:20]); got.Verdict != NotRun {
		t.Errorf("without the runs of a panel: %s", got.Verdict)
	}
	delete(shown, "a")
	if got := judged(rows); got.Verdict != NotRun {
		t.Errorf("with --panel b,c: %s", got.Verdict)
	}
}

// TestClosedForm: a closed form decides instead of a measurement. Without the runs the claim is not run.
func TestClosedForm(t *testing.T) {
	for _, c := range []struct {
		part paper.Part
		want Verdict
		text string
	}{
		{paper.Part{Statistic: paper.Variation, Test: paper.Below, Bound: .25, Known: .1}, Holds, "0.1 by its closed form: holds"},
		{paper.Part{Statistic: paper.Variation, Test: paper.Below, Bound: .05, Known: .1}, DoesNotHold, ""},
	} {
		c.part.Panel, c.part.Series = "a", "ours"
		j := judgeOne(c.part, threeSeeds(.1))
		line := figures.Lines([]figures.Claim{j.onPage(noCommand)})[0].String()
		if j.Verdict != c.want || j.P != 0 || !strings.Contains(j.String(), c.text) || !strings.Contains(line, "by its closed form") {
			t.Errorf("%+v: %s\n%s", c.part, j, line)
		}
		if j := judgeOne(c.part, nil); j.Verdict != NotRun {
			t.Errorf("without runs: %s", j)
		}
	}
}

// TestSignWithinMargin: a sign that is known of a difference that counts as none is a verdict, with that remark.
func TestSignWithinMargin(t *testing.T) {
	part := func(margin float64) paper.Part {
		return paper.Part{Panel: "a", Series: "ours", Base: "everything", Test: paper.Below, Margin: margin}
	}
	const remark = "does not hold, no difference of more than 0.3 points"
	for _, c := range []struct {
		parts []paper.Part
		want  string
	}{
		{[]paper.Part{part(.003)}, remark}, {[]paper.Part{part(.003), part(.003)}, remark},
		{[]paper.Part{part(.003), part(1e-4)}, "does not hold"}, {[]paper.Part{part(0)}, "does not hold"},
	} {
		j := judgeClaim(paper.Claim{Parts: c.parts}, ofAccuracy, rowsOf(threeSeeds(.001)))
		if j.Verdict != DoesNotHold || j.Result() != c.want {
			t.Errorf("%+v: %s", c.parts, j)
		}
	}
}

// TestUntested: reasons and remarks of a verdict stand before what was not tested, which stays without them. Pages,
// terminal and README.md have these words of the gallery's claims: TestPlacesAgree of lab.
func TestUntested(t *testing.T) {
	j := Judged{Verdict: DoesNotHold, Holm: Lost, Tested: []string{"the Gaussian", "CIFAR-10"}, Untested: []string{"CLEAR"}}
	const short, remark = "does not hold on the Gaussian and CIFAR-10", ", but not with Holm's correction"
	const untested = "; CLEAR not tested"
	if j.Result() != short+remark+untested || j.Word() != short+untested {
		t.Errorf("%q, in short %q", j.Result(), j.Word())
	}
	if j.Untested = nil; j.Result() != "does not hold"+remark {
		t.Errorf("with all data: %q", j.Result())
	}
	if part := (JudgedPart{Verdict: Holds, Metric: Metric{StandIn: "a stand-in"}}).Result(); part != "not tested" {
		t.Errorf("a part on a stand-in: %q", part)
	}
}

// TestAround: Within is about a number other than 0, on both sides.
func TestAround(t *testing.T) {
	p := paper.Part{Test: paper.Within, Around: .96, Bound: .01}
	for _, c := range []struct {
		low, high float64
		want      Verdict
	}{{.955, .965, Holds}, {.945, .955, Undecided}, {.965, .975, Undecided}, {.971, .98, DoesNotHold},
		{.93, .949, DoesNotHold}, {-.001, .001, DoesNotHold}} {
		demand.Equal(t, verdictOf(p, statistics.Estimate{Low: c.low, High: c.high, N: 3}), c.want, "%+v", c)
	}
}

// TestCountedOnce: a claim with a twin is counted with it, also by Holm, and has what it has; new claims are not
// counted and are a family of their own.
func TestCountedOnce(t *testing.T) {
	claim := func(id string, v Verdict, p float64) Judged {
		return Judged{Claim: paper.Claim{ID: id}, Verdict: v, P: p}
	}
	all := []Judged{claim("a", Holds, .02), claim("b", Holds, .03), claim("c", Holds, .02), claim("d", Holds, .04),
		claim("e", Undecided, 0)}
	all[2].Twin, all[3].New = "a", true
	if got := Total(all); got != "3 claims: 2 hold, 1 is undecided; not counted: 1 holds" {
		t.Error(got)
	}
	shown := Show(all, func(string) string { return "" }).Tally
	if shown != "4 claims: 3 hold, 1 is undecided; 1 repeats another; not counted: 1 holds" {
		t.Error(shown)
	}
	if got := Total(all[2:3]); got != "no claim" {
		t.Error(got)
	}
	for id, want := range map[string]string{"fig1-few": "repeats a claim of Figure 12, with the same numbers",
		"fig12-few": "repeats another claim of this figure, with the same numbers"} {
		twin := Judged{Claim: paper.Claim{ID: id, Twin: "fig12-others"}}
		demand.Equal(t, twin.Remarks(), want, "%s", id)
	}
	for first, want := range map[float64][]Holm{.02: {Lost, Lost, Lost, Kept, ""}, .001: {Kept, Lost, Kept, Kept, ""}} {
		all[0].P = first // .02 > .05/3 of a, b, e; .04 is alone
		Correct(all)
		for i, holm := range want {
			demand.Equal(t, all[i].Holm, holm, "p = %g, claim %s", first, all[i].ID)
		}
	}
}

// TestFirstWording: a claim with another wording than at first shows the verdict on the first wording.
func TestFirstWording(t *testing.T) {
	within := func(bound float64) []paper.Part {
		return []paper.Part{{Panel: "a", Series: "ours", Base: "everything", Test: paper.Within, Bound: bound}}
	}
	c := paper.Claim{Parts: within(.05), Was: &paper.Wording{Text: "within 20 points", Parts: within(.2)}}
	j := judgeClaim(c, ofAccuracy, rowsOf(threeSeeds(.1)))
	if j.Verdict != DoesNotHold || !strings.Contains(j.String(), `as first worded, "within 20 points" (+10.0 points): holds`) {
		t.Errorf("%s", j)
	}
}

func TestFormatSeeds(t *testing.T) {
	for want, seeds := range map[string][]int64{"0": {0}, "0,1,2": {0, 1, 2}, "0-7": {0, 1, 2, 3, 4, 5, 6, 7},
		"5,1-4,9": {5, 1, 2, 3, 4, 9}, "": nil} {
		got := FormatSeeds(seeds, ",")
		demand.Equal(t, got, want, "%v", seeds)
	}
}

func TestTotal(t *testing.T) {
	var claims []Judged
	for _, v := range []Verdict{Undecided, Holds, DoesNotHold, Holds, Partly, NotRun, DoesNotHold} {
		claims = append(claims, Judged{Verdict: v})
	}
	for n, want := range map[int]string{0: "no claim", 1: "1 claim is undecided",
		7: "7 claims: 2 hold, 1 holds partly, 2 do not hold, 1 is undecided, 1 is not run"} {
		demand.Equal(t, Total(claims[:n]), want, "%d claims", n)
	}
	claims[1].Holm, claims[3].Holm, claims[3].Untested = Kept, Lost, []string{"CLEAR"}
	for want, some := range map[string][]Judged{
		"2 claims: 1 holds (1 also with Holm's correction), 1 is undecided":                    claims[:2],
		"2 claims: 1 holds (0 also with Holm's correction), 1 does not hold; CLEAR not tested": claims[2:4],
	} {
		demand.Equal(t, Total(some), want, "with Holm and CLEAR")
	}
}

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
