package claims

import (
	"slices"

	"tvps/data/statistics"
)

// Holm tells what Holm's correction for all judged claims makes of a verdict.
type Holm string

// What becomes of a verdict that is decided without the correction.
const (
	Kept Holm = "kept"
	Lost Holm = "lost"
)

// Correct sets Holm of all decided claims: the step-down procedure of Holm (1979) at the level of the intervals, over
// the claims that could be judged. New claims are a family of their own. A claim with a Twin has what that one has.
func Correct(claims []Judged) {
	correct(claims, false)
	correct(claims, true)
	for i, c := range claims {
		if at := slices.IndexFunc(claims, func(d Judged) bool { return d.ID == c.Twin }); c.Twin != "" && at >= 0 && c.Verdict != NotRun {
			claims[i].Holm = claims[at].Holm
		}
	}
}

// correct is Correct of the new claims, or of the others.
func correct(claims []Judged, added bool) {
	var decided []int
	var p []float64
	family := 0
	for i, c := range claims {
		switch {
		case c.Twin != "" || c.New != added:
		case c.P > 0:
			decided, p = append(decided, i), append(p, c.P)
			family++
		case c.Verdict == Undecided || c.Verdict == Partly:
			family++
		}
	}
	for k, adjusted := range statistics.Holm(p, family) {
		kept := Kept
		if adjusted > 1-statistics.Level {
			kept = Lost
		}
		claims[decided[k]].Holm = kept
	}
}
