package claims

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
)

// kind is the verdict, whatever the reason why agents are not compared.
func (v Verdict) kind() Verdict {
	if v == NotAdapted {
		return NotJudged
	}
	return v
}
