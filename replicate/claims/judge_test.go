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
	_ "tvps/replicate/robots" // its learners have looks
	"tvps/replicate/supervised"

	"gonum.org/v1/gonum/stat/distuv"
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
		{paper.Above, 0, .1, .1, 1, Undecided}, // one seed decides nothing
		{paper.Below, 0, .1, .2, 3, DoesNotHold},
		{paper.Below, 0, -.2, -.1, 3, Holds},
		{paper.Above, -.05, -.04, -.01, 3, Holds},
		{paper.Above, -.05, -.06, -.01, 3, Undecided},
		{paper.Above, -.05, -.09, -.06, 3, DoesNotHold},
		{paper.Below, .05, .01, .04, 3, Holds},
		{paper.Within, .05, -.04, .04, 3, Holds},
		{paper.Within, .05, .01, .06, 3, Undecided},
		{paper.Within, .05, -.06, .06, 3, Undecided},
		{paper.Within, .05, .06, .08, 3, DoesNotHold},
		{paper.Within, .05, -.08, -.06, 3, DoesNotHold},
		{paper.Above, 0, -.002, .002, 3, NoDifference},
		{paper.Below, 0, -.0029, .001, 3, NoDifference},
		{paper.Above, 0, .001, .002, 3, Holds}, // a small difference is one
		{paper.Above, 0, -.002, .0031, 3, Undecided},
	} {
		effect := statistics.Estimate{Mean: (c.low + c.high) / 2, Low: c.low, High: c.high, N: c.n}
		got := verdictOf(paper.Part{Test: c.test, Bound: c.bound, Margin: .003}, effect)
		demand.Equal(t, got, c.want, "%+v", c)
	}
}

func TestCombine(t *testing.T) {
	verdicts := map[rune]Verdict{'h': Holds, 'd': DoesNotHold, 'u': Undecided, 'n': NotRun, '-': NotJudged,
		'0': NoDifference, 'a': NotAdapted}
	for _, c := range []struct {
		parts string // h holds, d does not, u undecided, n not run, - not judged, 0 no difference, * on a stand-in
		want  Verdict
	}{
		{"h", Holds}, {"hh", Holds}, {"hd", Partly}, {"uh", Undecided}, {"hdu", Partly}, {"0hu", Undecided}, {"0hdu", Partly},
		{"d", DoesNotHold}, {"dd", DoesNotHold}, {"du", DoesNotHold}, {"u", Undecided}, {"uu", Undecided},
		{"n", NotRun}, {"hn", NotRun}, {"dn", NotRun},
		{"-", NotJudged}, {"--", NotJudged}, {"-u", Undecided}, {"-h", NotJudged}, {"-d", DoesNotHold}, {"-n", NotRun},
		{"a", NotAdapted}, {"a-", NotJudged}, {"ah", NotAdapted}, {"au", Undecided}, {"ad", DoesNotHold},
		{"0", NoDifference}, {"00", NoDifference}, {"0h", Partly}, {"0d", DoesNotHold}, {"0u", Undecided},
		{"0-", Undecided}, {"0n", NotRun},
		{"hh*", Holds}, {"hd*", Holds}, {"dh*", DoesNotHold}, {"uh*", Undecided}, {"0u*", NoDifference},
		{"h*", NotRun}, {"hn*", Holds}, {"n*", NotRun}, {"h*n*", NotRun},
		{"", NotRun}, // nothing to judge
	} {
		var parts []JudgedPart
		for _, letter := range c.parts {
			if letter == '*' {
				parts[len(parts)-1].Metric.StandIn = "stand-in, not CLEAR"
				continue
			}
			parts = append(parts, JudgedPart{Verdict: verdicts[letter]})
		}
		demand.Equal(t, combine(parts), c.want, "%s", c.parts)
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
	return judgeClaim(c, ofAccuracy, rowsOf(rows))
}

func TestJudge(t *testing.T) {
	p := paper.Part{Panel: "a", Series: "ours", Base: "everything"}
	for gain, want := range map[float64]Verdict{.1: Holds, -.1: DoesNotHold, -.0005: Undecided} {
		j := judgeOne(p, threeSeeds(gain))
		if j.Verdict != want || j.Parts[0].Effect.N != 3 {
			t.Errorf("gain %v: %+v", gain, j)
		}
		demand.Words(t, j.String(), string(want), "n = 3", "Ours minus Everything")
	}
	one := judgeOne(p, threeSeeds(.1)[:2])
	if line := one.String(); !strings.Contains(line, "one seed, so no interval") || strings.Contains(line, "[") {
		t.Errorf("the line of one seed is %q", line)
	}
}

// TestSteps: where steps are a sample, a difference that changes from step to step decides nothing that those between
// them could change, though the seeds agree; where every step was measured, it does.
func TestSteps(t *testing.T) {
	rows := func(distance int) []figures.Row {
		var out []figures.Row
		for seed := range int64(3) {
			for i, gain := range []float64{.3, -.1, .3, -.1, .3, -.1} {
				for series, value := range map[string]float64{"everything": .5, "ours": .5 + gain + .001*float64(seed)} {
					out = append(out, figures.Row{Panel: "a", Series: series, Seed: seed, T: 3 + distance*i,
						Metric: "accuracy", Value: value})
				}
			}
		}
		return out
	}
	c := paper.Claim{Parts: []paper.Part{{Panel: "a", Series: "ours", Base: "everything"}}}
	judged := func(distance int, sample bool) JudgedPart {
		shown := map[string]shownPanel{"a": {metric: Metric{Name: "accuracy"}, sample: sample}}
		return judgeClaim(c, shown, rowsOf(rows(distance))).Parts[0]
	}
	for _, whole := range []JudgedPart{judged(1, true), judged(7, false)} {
		sample := whole.Stride == 1
		if whole.Verdict != Holds || whole.OverSeeds != nil || strings.Contains(whole.String(), ", every step:") != sample {
			t.Errorf("every step was measured: %s", whole)
		}
	}
	part := judged(7, true)
	// Neighbours differ by .4, so B² = .08, and 2.5706 is Student's quantile for 5 degrees of freedom.
	half := math.Sqrt(math.Pow(4.302653*.001, 2)/3 + math.Pow(2.570582, 2)*6/7*.08/6)
	if part.Verdict != Undecided || math.Abs(part.Effect.High-part.Effect.Mean-half) > 1e-6 || part.Steps != 6 ||
		part.Stride != 7 || !strings.Contains(part.String(), "every 7th step (measured steps alone: [+0.099, +0.103], holds") {
		t.Errorf("every seventh step: %s, want +- %v", part, half)
	}
}

// TestSecondLook: at the level of a second look the interval is that of this level, and the p-value, doubled, is below
// .05 where it decides.
func TestSecondLook(t *testing.T) {
	rows := threeSeeds(.1)
	p := paper.Part{Panel: "a", Series: "ours", Base: "everything"}
	first := judgePart(p, ofAccuracy, rowsOf(rows))
	again := rowsOf(rows)
	again[0].level = (Panel{Looks: 2}).Level()
	second := judgePart(p, ofAccuracy, again)
	// Student's quantiles for 2 degrees of freedom: 4.302653 of 95%, 6.205347 of 97.5%.
	width := (second.Effect.High - second.Effect.Low) / (first.Effect.High - first.Effect.Low)
	if math.Abs(width-6.205347/4.302653) > 1e-6 || math.Abs(second.P-2*first.P) > 1e-9 || second.Verdict != Holds ||
		!strings.Contains(second.String(), ", 97.5% interval (") || first.Level != 0 {
		t.Errorf("%s, p = %v; at first %s, p = %v", second, second.P, first, first.P)
	}
}

// TestLookLevel: the n-th look has an n-th of the errors of the first.
func TestLookLevel(t *testing.T) {
	for n, want := range []float64{.95, .95, .975, 1 - .05/3, .9875} {
		if got := (Panel{Looks: n}).Level(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d looks: %v, want %v", n, got, want)
		}
	}
}

// TestNarrow: a part is judged by the narrow sample that has all of its series, others by what is drawn, each at the
// level of its looks.
func TestNarrow(t *testing.T) {
	panel := func(narrow bool, looks int, series ...string) Collected {
		return Collected{Panel: Panel{Panel: paper.Panel{Key: "a", Series: series}, Protocol: &supervised.Protocol,
			Narrow: narrow, Looks: looks}}
	}
	e := newEvidence([]Collected{panel(false, 2, "everything", "ours", "recent"), panel(true, 3, "ours", "everything")})
	for _, c := range []struct {
		series, base string
		looks        int
	}{{"ours", "everything", 3}, {"everything", "", 3}, {"ours", "recent", 2}, {"exact", "ours", 1}} {
		if _, level := e.of("a", needs(paper.Part{Series: c.series, Base: c.base})); level != (Panel{Looks: c.looks}).Level() {
			t.Errorf("%s and %s are judged at %v, want that of look %d", c.series, c.base, level, c.looks)
		}
	}
}

// TestFurther: the first three seeds against the others, in the closed form of Welch.
func TestFurther(t *testing.T) {
	var rows []figures.Row
	for seed, gain := range []float64{.1, .2, .3, .1, .5, .6, .2} {
		for series, value := range map[string]float64{"everything": .5, "ours": .5 + gain} {
			rows = append(rows, figures.Row{Panel: "a", Series: series, Seed: int64(seed), T: 1, Metric: "accuracy", Value: value})
		}
	}
	part := judgePart(paper.Part{Panel: "a", Series: "ours", Base: "everything", Statistic: paper.Further},
		ofAccuracy, rowsOf(rows))
	// Means .2 and .35, variances .01 and .17/3: 4.31 degrees of freedom, 2.6992 is Student's quantile.
	va, vb := .01/3, .17/3/4
	freedom := math.Pow(va+vb, 2) / (va*va/2 + vb*vb/3)
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(.975) * math.Sqrt(va+vb)
	if math.Abs(part.Effect.Mean+.15) > 1e-12 || math.Abs(part.Effect.High-part.Effect.Mean-half) > 1e-9 || part.Effect.N != 7 {
		t.Errorf("%s, want -.15 +- %v", part, half)
	}
}

// TestHolm: by hand. Of four p-values and one undecided claim, .009 <= .05/5 and .012 <= .05/4, but .02 > .05/3, so
// that one and the larger .021 do not survive.
func TestHolm(t *testing.T) {
	claims := []Judged{{Verdict: Holds, P: .02}, {Verdict: DoesNotHold, P: .009}, {Verdict: Undecided},
		{Verdict: Holds, P: .012}, {Verdict: NotRun}, {Verdict: NotJudged}, {Verdict: NoDifference, P: .021}}
	Correct(claims)
	for i, want := range []Holm{Lost, Kept, "", Kept, "", "", Lost} {
		demand.Equal(t, claims[i].Holm, want, "claim %d with p = %v", i, claims[i].P)
	}
}

// TestClaimsPValue: the largest of parts that all hold, the smallest of those that fail, times their number.
func TestClaimsPValue(t *testing.T) {
	part := func(v Verdict, p float64) JudgedPart { return JudgedPart{Verdict: v, P: p} }
	standIn := JudgedPart{Verdict: Holds, P: .9, Metric: Metric{StandIn: "stand-in"}}
	for _, c := range []struct {
		parts []JudgedPart
		want  float64
	}{
		{[]JudgedPart{part(Holds, .01), part(Holds, .03), standIn}, .03},
		{[]JudgedPart{part(DoesNotHold, .01), part(Undecided, 0), part(DoesNotHold, .02)}, .03},
		{[]JudgedPart{part(NoDifference, .01), part(NoDifference, .04)}, .04},
		{[]JudgedPart{part(Holds, .01), part(DoesNotHold, .01)}, 0}, // partly
		{[]JudgedPart{part(Undecided, 0)}, 0},
	} {
		if got := pValue(Judged{Verdict: combine(c.parts), Parts: c.parts}); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: p = %v, want %v", c.parts, got, c.want)
		}
	}
	one := judgeOne(paper.Part{Panel: "a", Series: "ours", Base: "everything"}, threeSeeds(.1))
	if one.P <= 0 || one.P >= .05 || one.P != one.Parts[0].P {
		t.Errorf("a claim that holds has p = %v", one.P)
	}
	// By hand: the mean of the gains .0007, .0012 and .0017 is 5.196 standard errors below the margin, at 2 degrees of
	// freedom. A narrow interval excludes 0.
	none := judgeOne(paper.Part{Panel: "a", Series: "ours", Base: "everything", Margin: .0027}, threeSeeds(.0007))
	demand.Equal(t, none.Verdict, NoDifference, "the verdict")
	demand.Near(t, "p", none.P, .03510)
}

// TestHolmOfTwoScales: .03 survives alone with .04 only if the other claim's .001 is that of the larger scale.
func TestHolmOfTwoScales(t *testing.T) {
	of := func(id string, p float64) Judged {
		return Judged{Claim: paper.Claim{ID: id}, Verdict: Holds, P: p, Parts: []JudgedPart{{}}}
	}
	small, larger := Verification{Claims: []Judged{of("x", .03), of("y", .04)}}, Verification{Claims: []Judged{of("y", .001)}}
	small.Figures, larger.Figures = []State{{}}, []State{{}}
	Correct(small.Claims)
	demand.Equal(t, small.Claims[0].Holm, Lost, "at the small scale")
	demand.Equal(t, small.With(larger).Claims[0].Holm, Kept, "with the larger scale")
}

// TestMarginOfSinglePart: tables and pages show the verdict of a claim of one part alone, so it has the margin; that of
// several parts stands next to each of them.
func TestMarginOfSinglePart(t *testing.T) {
	part := func(v Verdict) JudgedPart {
		return JudgedPart{Part: paper.Part{Series: "ours", Base: "everything", Margin: .003}, Verdict: v}
	}
	standIn := part(Undecided)
	standIn.Metric.StandIn = "stand-in"
	for _, c := range []struct {
		j    Judged
		want string
	}{
		{Judged{Verdict: Undecided, Parts: []JudgedPart{part(Undecided)}}, "undecided (margin 0.003)"},
		{Judged{Verdict: NoDifference, Parts: []JudgedPart{part(NoDifference)}, Holm: Lost},
			"no difference of more than 0.003, but not with Holm's correction"},
		{Judged{Verdict: Holds, Parts: []JudgedPart{part(Holds)}}, "holds"},
		{Judged{Verdict: Undecided, Parts: []JudgedPart{part(Undecided), part(Holds)}}, "undecided"},
		{Judged{Verdict: NotRun, Parts: []JudgedPart{standIn}}, string(NotRun)},
		{Judged{Verdict: NotJudged, Parts: []JudgedPart{part(NotJudged)}}, string(NotJudged)},
	} {
		if got := c.j.Result(); got != c.want || c.j.onPage(noCommand).Verdict.Word != c.want {
			t.Errorf("%v: %q, on the page %q, want %q", c.j.Parts, got, c.j.onPage(noCommand).Verdict.Word, c.want)
		}
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
		"over less than one period": {Panel: "a", Series: "ours", Statistic: paper.Highest},
		"by an unknown statistic":   {Panel: "a", Series: "ours", Statistic: "median"},
	} {
		if j := judgeOne(p, threeSeeds(.1)); j.Verdict != NotRun || j.Parts[0].Effect.N != 0 {
			t.Errorf("%s %s: %+v", p.Statistic, name, j)
		}
	}
}

// noCommand is for claims of which no test reads a command.
func noCommand(string) string { return "" }

// rowsOf is the evidence of panels with these rows, all of one sample.
func rowsOf(rows []figures.Row) evidence {
	var e evidence
	for _, r := range rows {
		i := slices.IndexFunc(e, func(s samplePart) bool { return s.panel == r.Panel })
		if i < 0 {
			i, e = len(e), append(e, samplePart{panel: r.Panel, rows: rows, level: statistics.Level})
		}
		if !slices.Contains(e[i].series, r.Series) {
			e[i].series = append(e[i].series, r.Series)
		}
	}
	return e
}
