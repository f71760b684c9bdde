package claims

import (
	"slices"

	"tvps/data/statistics"
	"tvps/replicate/paper"
)

// Verdict says whether a claim of the paper holds here.
type Verdict string

const (
	Holds       Verdict = "holds"         // every part holds
	Partly      Verdict = "partly"        // some parts hold; others do not, or show no difference and none is undecided
	DoesNotHold Verdict = "does not hold" // no part holds, and at least one does not hold
	Undecided   Verdict = "undecided"     // no part does not hold, and an interval decides nothing
	NotRun      Verdict = "not run"       // a run that the claim needs is missing, or a stand-in replaces all its data

	// NoDifference is the verdict on a claimed difference of which the interval shows neither side, but that it is
	// smaller than the claim's margin.
	NoDifference Verdict = "no difference"

	// NotJudged is the verdict on a comparison of learners that is not made: the base is not above the protocol's floors.
	// It is no evidence, neither for a claim nor of an effect that is too small to be seen.
	NotJudged Verdict = "not judged: agents are not trained at this scale"

	// NotAdapted is the same where neither of the two does more in its tasks than the panel's policy for all of them.
	NotAdapted Verdict = "not judged: no agent adapts to its task"

	// AtTiny stands for a verdict where the scale is too small for one.
	AtTiny Verdict = "not judged: the scale tiny checks the program"
)

// verdictOf compares the whole interval with the bound. With fewer than two seeds a part is undecided.
func verdictOf(p paper.Part, e statistics.Estimate) Verdict {
	holds, fails := e.Low > p.Bound, e.High < p.Bound
	switch p.Test {
	case paper.Below:
		holds, fails = fails, holds
	case paper.Within:
		low, high := p.Around-p.Bound, p.Around+p.Bound
		holds, fails = e.Low > low && e.High < high, e.Low > high || e.High < low
	}
	switch {
	case e.N < 2 && !e.Exact:
		return Undecided
	case holds:
		return Holds
	case fails:
		return DoesNotHold
	case negligible(p, e):
		return NoDifference
	}
	return Undecided
}

// negligible tells whether the whole interval lies within the margin.
func negligible(p paper.Part, e statistics.Estimate) bool {
	return e.Low > p.Bound-p.Margin && e.High < p.Bound+p.Margin
}

// combine returns the verdict on a claim with these parts, of those that count. Parts on a stand-in do not: a claim
// without others is not run. A claim is undecided if one of its parts is and none contradicts it,
// however many hold. Parts that are not judged decide nothing; the claim is not judged if the others do not decide it
// either and none of them is undecided.
func combine(parts []JudgedPart) Verdict {
	count := map[Verdict]int{}
	counted := 0
	for _, p := range parts {
		if !p.onStandIn() {
			count[p.Verdict]++
			counted++
		}
	}
	switch {
	case counted == 0 || count[NotRun] > 0:
		return NotRun
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
	case count[NotAdapted] > 0 && count[NoDifference] == 0:
		return NotAdapted
	}
	return Undecided
}

// Unjudged returns the claims with their numbers alone, for a scale that judges nothing.
func Unjudged(claims []Judged) []Judged {
	out := slices.Clone(claims)
	for i := range out {
		c := &out[i]
		c.P, c.Note, c.Was, c.Floors, c.Parts = 0, "", nil, nil, slices.Clone(c.Parts)
		c.Tested, c.Untested = nil, nil
		if c.Verdict != NotRun {
			c.Verdict = AtTiny
		}
		for k := range c.Parts {
			c.Parts[k].P = 0
			if c.Parts[k].Verdict != NotRun {
				c.Parts[k].Verdict = AtTiny
			}
		}
	}
	return out
}

// kind is the verdict, whatever the reason why agents are not compared.
func (v Verdict) kind() Verdict {
	if v == NotAdapted {
		return NotJudged
	}
	return v
}
