package claims

import (
	"slices"

	"tvps/replicate/paper"
)

// gate tells whether the comparisons of a panel are judged: Holds if one of its learners has learned. It looks at those
// of the part first.
func (j *Judged) gate(p paper.Part, panel shownPanel, e evidence) Verdict {
	if len(panel.floors) == 0 && panel.single == "" {
		return Holds
	}
	own := among(panel.learners, needs(p))
	var verdicts []Verdict
	for _, learner := range slices.Concat(own, without(panel.learners, own)) {
		verdicts = append(verdicts, j.learned(paper.Part{Panel: p.Panel, Series: learner}, panel, e))
		if slices.Contains(verdicts, Holds) {
			return Holds
		}
	}
	for _, v := range []Verdict{NotRun, NotAdapted} {
		if slices.Contains(verdicts, v) {
			return v
		}
	}
	return NotJudged
}

// learned returns Holds if the series of a part exceeds every floor of the panel where the steps end and, if the panel
// asks for it, adapts to its tasks. It adds the comparisons to the claim's floors, each once.
func (j *Judged) learned(p paper.Part, panel shownPanel, e evidence) Verdict {
	compare := func(base string, statistic paper.Statistic) Verdict {
		p.Base, p.Statistic, p.Test = base, statistic, paper.Above
		i := slices.IndexFunc(j.Floors, func(f JudgedPart) bool { return f.Part == p })
		if i < 0 {
			i, j.Floors = len(j.Floors), append(j.Floors, judgePart(p, panel, e))
		}
		return j.Floors[i].Verdict
	}
	for _, floor := range panel.floors {
		switch compare(floor, paper.EndGain) {
		case NotRun:
			return NotRun
		case Holds:
		default:
			return NotJudged
		}
	}
	if panel.single == "" {
		return Holds
	}
	switch v := compare(panel.single, paper.Adapts); v {
	case NotRun, Holds:
		return v
	}
	return NotAdapted
}

// Shown returns the parts, and the floors where one of them is the reason of a verdict.
func (j Judged) Shown() []JudgedPart {
	if slices.ContainsFunc(j.Parts, func(p JudgedPart) bool { return p.Verdict.kind() == NotJudged }) {
		return slices.Concat(j.Parts, j.Floors)
	}
	return j.Parts
}
