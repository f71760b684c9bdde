// Package claims judges the claims of the paper by stored runs: which runs serve a claim, the statistics and their
// intervals, the verdicts, and which further runs would decide. It draws nothing and computes no run.
package claims

import (
	"cmp"
	"slices"

	"tvps/figures"
	"tvps/replicate/paper"
)

// Verdict says whether a claim of the paper holds here.
type Verdict string

const (
	Holds       Verdict = "holds"         // every part holds
	Partly      Verdict = "partly"        // some parts hold; others do not, or show no difference and none is undecided
	DoesNotHold Verdict = "does not hold" // no part holds, and at least one does not hold
	Undecided   Verdict = "undecided"     // no part does not hold, and an interval decides nothing
	NotRun      Verdict = "not run"       // a run that the claim needs is missing

	// NoDifference is the verdict on a claimed difference of which the interval shows neither side, but that it is
	// smaller than the claim's margin.
	NoDifference Verdict = "no difference"

	// NotJudged is the verdict on a comparison of learners that is not made: the first one of the panel is not above
	// the protocol's floors. It is no evidence, neither for a claim nor of an effect that is too small to be seen.
	NotJudged Verdict = "not judged: agents are not trained at this scale"

	// OnStandIn is the verdict on a claim all of whose parts are about data that a stand-in replaces.
	OnStandIn Verdict = "not judged: a stand-in replaces the paper's data"
)

// Judged is a claim with its verdict and effects.
type Judged struct {
	paper.Claim
	Figure  string       `json:"figure"`
	Verdict Verdict      `json:"verdict"`
	Parts   []JudgedPart `json:"parts"`
	Floors  []JudgedPart `json:"floors,omitempty"` // the comparisons that decide whether the parts are judged
	P       float64      `json:"p,omitempty"`      // p-value of the verdict; 0 if nothing is decided
	Holm    Holm         `json:"holm,omitempty"`   // set where all claims are judged together
}

// Holm tells what Holm's correction for all judged claims makes of a verdict.
type Holm string

// What becomes of a verdict that is decided without the correction.
const (
	Kept Holm = "kept"
	Lost Holm = "lost"
)

// JudgedPart is a part with its verdict and effect. Effect is about all steps of the stream. OverSeeds is about the
// measured ones alone, if these are every second step or fewer.
type JudgedPart struct {
	paper.Part
	Metric    Metric            `json:"metric,omitzero"` // what the panel shows
	Verdict   Verdict           `json:"verdict"`
	P         float64           `json:"p,omitempty"` // p-value of a verdict that the interval decides
	Effect    figures.Estimate  `json:"effect"`
	OverSeeds *figures.Estimate `json:"over-seeds,omitempty"`
	Steps     int               `json:"steps,omitempty"`  // number of measured steps
	Stride    int               `json:"stride,omitempty"` // distance between them; 0 if they stand for no others
	Level     float64           `json:"level,omitempty"`  // of the intervals, if it is not figures.Level
}

// Figure is a figure of the paper with its runs, what its claims are judged by, and the verdicts on them.
type Figure struct {
	paper.Figure
	Panels   []Collected
	Evidence Evidence
	Claims   []Judged
}

// Judge judges all claims of a figure. One with a part about another panel is not run.
func Judge(f paper.Figure, panels []Collected, e Evidence) Figure {
	out := Figure{Figure: f, Panels: panels, Evidence: e}
	shown := map[string]shownPanel{}
	for _, p := range panels {
		shown[p.Key] = shownPanel{metric: p.Shown(), base: p.Series[0], sample: p.Sampled(), floors: p.floors()}
	}
	for _, c := range f.Claims {
		out.Claims = append(out.Claims, judgeClaim(f, c, shown, e))
	}
	return out
}

// shownPanel is what a panel shows.
type shownPanel struct {
	metric Metric
	base   string   // its first series
	sample bool     // whether its steps stand for those between them
	floors []string // series that the base must exceed, or no part of the panel is judged
}

// onStandIn tells whether a stand-in replaces the data of the part's panel. Such a part decides nothing about a claim
// that has others.
func (p JudgedPart) onStandIn() bool { return p.Metric.StandIn != "" }

// judgeClaim judges one claim; shown is what each panel shows. A part without values is not run. A part of a panel
// whose base does not exceed every floor is not judged.
func judgeClaim(f paper.Figure, c paper.Claim, shown map[string]shownPanel, e Evidence) Judged {
	j := Judged{Claim: c, Figure: f.Name()}
	trained := map[string]Verdict{} // by panel: holds if its base exceeds every floor
	for _, p := range c.Parts {
		panel := shown[p.Panel]
		if _, known := trained[p.Panel]; !known {
			floors := judgeFloors(p.Panel, panel, e)
			j.Floors = append(j.Floors, floors...)
			trained[p.Panel] = Holds
			if len(floors) > 0 {
				trained[p.Panel] = combine(floors)
			}
		}
		part := judgePart(p, panel, e)
		switch {
		case part.Verdict == NotRun || part.Effect.N < 2:
		case trained[p.Panel] == NotRun:
			part = JudgedPart{Part: part.Part, Metric: part.Metric, Verdict: NotRun}
		case trained[p.Panel] != Holds:
			part.Verdict = NotJudged
		}
		j.Parts = append(j.Parts, part)
	}
	j.Verdict = combine(j.Parts)
	j.P = pValue(j)
	return j
}

// judgeFloors compares the base of a panel with each of its floors, where the steps end.
func judgeFloors(key string, panel shownPanel, e Evidence) []JudgedPart {
	var out []JudgedPart
	for _, floor := range panel.floors {
		p := paper.Part{Panel: key, Series: panel.base, Base: floor, Statistic: paper.EndGain}
		out = append(out, judgePart(p, panel, e))
	}
	return out
}

// lookLevel is the level of intervals at the n-th look at runs of a panel, each of which was taken because those before
// had left something undecided: an n-th of the errors of the first look, which has [figures.Level]. Two looks together
// err in at most 7.5%, three in at most 9% (TestLooks).
func lookLevel(n int) float64 { return 1 - (1-figures.Level)/float64(n) }

// judgePart judges one part, about the metric that its panel shows.
func judgePart(p paper.Part, panel shownPanel, e Evidence) JudgedPart {
	p.Statistic, p.Test = cmp.Or(p.Statistic, paper.Difference), cmp.Or(p.Test, paper.Above)
	part := JudgedPart{Part: p, Metric: panel.metric, Verdict: NotRun}
	rows, again := e.of(p)
	m, err := NewEffect(rows, p, panel.metric.Name, panel.sample)
	if err != nil {
		return part
	}
	level := cmp.Or(again, figures.Level)
	part.Effect, part.Steps, part.Level = m.Interval(level), m.steps, again
	if panel.sample {
		part.Stride = m.stride
	}
	if m.stride > 1 {
		alone := m.overSeeds(level)
		part.OverSeeds = &alone
	}
	if part.Verdict = verdictOf(p, part.Effect); part.Verdict != Undecided {
		p := m.Interval.PValue(func(e figures.Estimate) bool { return verdictOf(part.Part, e) == part.Verdict })
		part.P = min(1, p*(1-figures.Level)/(1-level))
	}
	return part
}

// verdictOf compares the whole interval with the bound. With fewer than two seeds a part is undecided.
func verdictOf(p paper.Part, e figures.Estimate) Verdict {
	holds, fails := e.Low > p.Bound, e.High < p.Bound
	switch p.Test {
	case paper.Below:
		holds, fails = fails, holds
	case paper.Within:
		holds, fails = e.Low > -p.Bound && e.High < p.Bound, e.Low > p.Bound || e.High < -p.Bound
	}
	switch {
	case e.N < 2:
		return Undecided
	case holds:
		return Holds
	case fails:
		return DoesNotHold
	case e.Low > p.Bound-p.Margin && e.High < p.Bound+p.Margin:
		return NoDifference
	}
	return Undecided
}

// combine returns the verdict on a claim with these parts. Parts on a stand-in count only if there are no others, and
// then nothing is judged. A claim is undecided if one of its parts is and none contradicts it, however many hold. Parts
// that are not judged decide nothing; the claim is not judged if the others do not decide it either and none of them is
// undecided.
func combine(parts []JudgedPart) Verdict {
	count := map[Verdict]int{}
	counted, run := 0, 0
	for _, p := range parts {
		if !p.onStandIn() {
			count[p.Verdict]++
			counted++
		}
		if p.Verdict != NotRun {
			run++
		}
	}
	switch {
	case run == 0 || count[NotRun] > 0:
		return NotRun
	case counted == 0:
		return OnStandIn
	case count[Holds] == counted:
		return Holds
	case count[Holds] > 0 && count[DoesNotHold] > 0:
		return Partly
	case count[DoesNotHold] > 0:
		return DoesNotHold
	case count[Undecided] > 0:
		return Undecided
	case count[Holds] > 0 && count[NoDifference] > 0:
		return Partly
	case count[NoDifference] == counted:
		return NoDifference
	case count[NotJudged] > 0 && count[NoDifference] == 0:
		return NotJudged
	}
	return Undecided
}

// pValue is that of a claim's verdict: all parts hold, or all show no difference (the largest of theirs, as in an
// intersection-union test), or one part fails (the smallest of theirs, times the number of parts). Other verdicts
// decide nothing about the claim as a whole.
func pValue(j Judged) float64 {
	var values []float64
	parts := 0
	for _, p := range j.Parts {
		if p.onStandIn() {
			continue
		}
		parts++
		if p.Verdict == j.Verdict {
			values = append(values, p.P)
		}
	}
	switch {
	case len(values) == 0:
		return 0
	case j.Verdict == Holds || j.Verdict == NoDifference:
		return slices.Max(values)
	case j.Verdict == DoesNotHold:
		return min(1, slices.Min(values)*float64(parts))
	}
	return 0
}

// Correct sets Holm of all decided claims: the step-down procedure of Holm (1979) at the level of the intervals, over
// the claims that could be judged.
func Correct(claims []Judged) {
	var decided []int
	var p []float64
	family := 0
	for i, c := range claims {
		switch {
		case c.P > 0:
			decided, p = append(decided, i), append(p, c.P)
			family++
		case c.Verdict == Undecided || c.Verdict == Partly:
			family++
		}
	}
	for k, adjusted := range figures.Holm(p, family) {
		kept := Kept
		if adjusted > 1-figures.Level {
			kept = Lost
		}
		claims[decided[k]].Holm = kept
	}
}

// Shown returns the parts, and the floors where one of them is the reason of a verdict.
func (j Judged) Shown() []JudgedPart {
	if slices.ContainsFunc(j.Parts, func(p JudgedPart) bool { return p.Verdict == NotJudged }) {
		return slices.Concat(j.Parts, j.Floors)
	}
	return j.Parts
}
