package claims

import "slices"

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
