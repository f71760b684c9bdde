package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/paper"
)

// Verdict says whether a claim of the paper holds here.
type Verdict string

const (
	Holds       Verdict = "holds"         // every part holds
	Partly      Verdict = "partly"        // some parts hold, others do not
	DoesNotHold Verdict = "does not hold" // no part holds, and at least one does not hold
	Undecided   Verdict = "undecided"     // the intervals decide no part
	NotRun      Verdict = "not run"       // a run that the claim needs is missing

	// NotJudged is the verdict on a comparison of learners that is not made: the first one of the panel is not above
	// the protocol's floors. It is no evidence, neither for a claim nor of an effect that is too small to be seen.
	NotJudged Verdict = "not judged: agents are not trained at this scale"
)

// Short is the verdict without its reason.
func (v Verdict) Short() string {
	word, _, _ := strings.Cut(string(v), ":")
	return word
}

// Judged is a claim with its verdict and effects.
type Judged struct {
	paper.Claim
	Figure  string       `json:"figure"`
	Verdict Verdict      `json:"verdict"`
	Parts   []JudgedPart `json:"parts"`
	Floors  []JudgedPart `json:"floors,omitempty"` // the comparisons that decide whether the parts are judged
}

// JudgedPart is a part with its verdict and effect. The seed is the unit: see Statistic.
type JudgedPart struct {
	paper.Part
	Metric  string           `json:"metric,omitempty"` // metric that the panel shows; it names a stand-in for its data
	Verdict Verdict          `json:"verdict"`
	Effect  figures.Estimate `json:"effect"`
}

// judgeAll judges the claims of a figure that have a part in a panel of the plan.
func judgeAll(f paper.Figure, plan []PanelPlan, rows []figures.Row) []Judged {
	shown := shownIn(plan)
	var out []Judged
	for _, c := range f.Claims {
		if slices.ContainsFunc(c.Parts, func(p paper.Part) bool { return shown[p.Panel].metric != "" }) {
			out = append(out, judge(f, c, shown, rows))
		}
	}
	return out
}

// shownPanel is what a panel shows.
type shownPanel struct {
	metric string
	base   string   // its first series
	floors []string // series that the base must exceed, or no part of the panel is judged
}

// shownIn returns what each panel of a plan shows, by key. A panel has those floors of its protocol that are its
// references.
func shownIn(plan []PanelPlan) map[string]shownPanel {
	shown := map[string]shownPanel{}
	for _, p := range plan {
		one := shownPanel{metric: p.Shown, base: p.Series[0]}
		for _, name := range p.Protocol.Floors {
			if slices.Contains(p.References, name) {
				one.floors = append(one.floors, name)
			}
		}
		shown[p.Key] = one
	}
	return shown
}

// judge judges one claim; shown is what each panel shows. A part without values is not run. A part of a panel whose
// base does not exceed every floor is not judged.
func judge(f paper.Figure, c paper.Claim, shown map[string]shownPanel, rows []figures.Row) Judged {
	j := Judged{Claim: c, Figure: f.Name()}
	trained := map[string]Verdict{} // by panel: holds if its base exceeds every floor
	for _, p := range c.Parts {
		panel := shown[p.Panel]
		if _, known := trained[p.Panel]; !known {
			floors := judgeFloors(p.Panel, panel, rows)
			j.Floors = append(j.Floors, floors...)
			trained[p.Panel] = Holds
			if len(floors) > 0 {
				trained[p.Panel] = combine(floors)
			}
		}
		part := judgePart(p, panel.metric, rows)
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
	return j
}

// judgeFloors compares the base of a panel with each of its floors, where the steps end.
func judgeFloors(key string, panel shownPanel, rows []figures.Row) []JudgedPart {
	var out []JudgedPart
	for _, floor := range panel.floors {
		p := paper.Part{Panel: key, Series: panel.base, Base: floor, Statistic: paper.EndGain}
		out = append(out, judgePart(p, panel.metric, rows))
	}
	return out
}

// judgePart judges one part, about the metric that its panel shows.
func judgePart(p paper.Part, metric string, rows []figures.Row) JudgedPart {
	p.Statistic, p.Test = cmp.Or(p.Statistic, paper.Difference), cmp.Or(p.Test, paper.Above)
	part := JudgedPart{Part: p, Metric: metric, Verdict: NotRun}
	if effect, err := estimate(rows, p, metric); err == nil {
		part.Effect, part.Verdict = effect, verdictOf(p, effect)
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
	}
	return Undecided
}

// combine returns the verdict on a claim with these parts. Parts that are not judged decide nothing; the claim is not
// judged if the others do not decide it either and none of them is undecided.
func combine(parts []JudgedPart) Verdict {
	count := map[Verdict]int{}
	for _, p := range parts {
		count[p.Verdict]++
	}
	switch {
	case len(parts) == 0 || count[NotRun] > 0:
		return NotRun
	case count[Holds] == len(parts):
		return Holds
	case count[Holds] > 0:
		return Partly
	case count[DoesNotHold] > 0:
		return DoesNotHold
	case count[NotJudged] > 0 && count[Undecided] == 0:
		return NotJudged
	}
	return Undecided
}

// Shown returns the parts, and the floors where one of them is the reason of a verdict.
func (j Judged) Shown() []JudgedPart {
	if slices.ContainsFunc(j.Parts, func(p JudgedPart) bool { return p.Verdict == NotJudged }) {
		return slices.Concat(j.Parts, j.Floors)
	}
	return j.Parts
}

// String returns a line for the terminal, followed by one for each part.
func (j Judged) String() string {
	text := fmt.Sprintf("  %-13s  %s (%s)", j.Verdict, j.Text, j.Place)
	for _, p := range j.Shown() {
		text += fmt.Sprintf("\n  %13s    %s", "", p)
	}
	return text
}

// String returns the effect and the verdict in one line.
func (p JudgedPart) String() string {
	if p.Verdict == NotRun {
		return fmt.Sprintf("panel %s: %s: not run", p.panel(), what(p.Part))
	}
	return fmt.Sprintf("panel %s: %s %s: %s", p.panel(), p.What(), p.Interval(), p.Verdict.Short())
}

// panel returns the panel's letter, with the stand-in for its data if there is one.
func (p JudgedPart) panel() string {
	if _, standIn, ok := strings.Cut(p.Metric, " ("); ok {
		return p.Panel + " (" + standIn
	}
	return p.Panel
}

// What names the statistic with its series, its claimed bound and its mean.
func (p JudgedPart) What() string {
	if p.Verdict == NotRun {
		return what(p.Part)
	}
	return fmt.Sprintf("%s is %s", what(p.Part), signed(p.Effect.Mean))
}

// Interval returns the effect's interval and the number of seeds.
func (p JudgedPart) Interval() string {
	if p.Effect.N < 2 {
		return "(one seed, so no interval)"
	}
	return fmt.Sprintf("[%s, %s], n = %d", signed(p.Effect.Low), signed(p.Effect.High), p.Effect.N)
}

// signed formats a number with its sign and three decimals, never as minus zero.
func signed(v float64) string {
	if text := fmt.Sprintf("%+.3f", v); text != "-0.000" {
		return text
	}
	return "+0.000"
}

// what names the statistic with its series and its claimed bound.
func what(p paper.Part) string {
	series, _ := figures.LookUp(p.Series)
	base, _ := figures.LookUp(p.Base)
	words := statistics[cmp.Or(p.Statistic, paper.Difference)].words
	text := strings.NewReplacer("SERIES", series.Label, "BASE", base.Label).Replace(words)
	switch {
	case p.Test == paper.Within:
		return fmt.Sprintf("%s (claimed within ±%g)", text, p.Bound)
	case p.Test == paper.Below:
		return fmt.Sprintf("%s (claimed below %g)", text, p.Bound)
	}
	return fmt.Sprintf("%s (claimed above %g)", text, p.Bound)
}
