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
	Partly      Verdict = "partly"        // some parts hold, others do not or are undecided
	DoesNotHold Verdict = "does not hold" // no part holds, and at least one does not hold
	Undecided   Verdict = "undecided"     // the intervals decide no part
	NotRun      Verdict = "not run"       // a run that the claim needs is missing
)

// Judged is a claim with its verdict and effects.
type Judged struct {
	paper.Claim
	Figure  string       `json:"figure"`
	Verdict Verdict      `json:"verdict"`
	Parts   []JudgedPart `json:"parts"`
}

// JudgedPart is a part with its verdict and effect. The seed is the unit: the statistic is computed within each seed,
// the interval is Student's t over seeds.
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
		if slices.ContainsFunc(c.Parts, func(p paper.Part) bool { return shown[p.Panel] != "" }) {
			out = append(out, judge(f, c, shown, rows))
		}
	}
	return out
}

// shownIn returns the metric that each panel of a plan shows, by key.
func shownIn(plan []PanelPlan) map[string]string {
	shown := map[string]string{}
	for _, p := range plan {
		shown[p.Key] = p.Shown
	}
	return shown
}

// judge judges one claim; shown is the metric of each panel. A part without values is not run.
func judge(f paper.Figure, c paper.Claim, shown map[string]string, rows []figures.Row) Judged {
	j := Judged{Claim: c, Figure: f.Name()}
	for _, p := range c.Parts {
		p.Statistic, p.Test = cmp.Or(p.Statistic, paper.Difference), cmp.Or(p.Test, paper.Above)
		part := JudgedPart{Part: p, Metric: shown[p.Panel], Verdict: NotRun}
		if values, err := perSeed(rows, p, shown[p.Panel]); err == nil && len(values) > 0 {
			part.Effect = figures.MeanInterval(values)
			part.Verdict = verdictOf(p, part.Effect)
		}
		j.Parts = append(j.Parts, part)
	}
	j.Verdict = combine(j.Parts)
	return j
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

// combine returns the verdict on a claim with these parts.
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
	}
	return Undecided
}

// String returns a line for the terminal, followed by one for each part.
func (j Judged) String() string {
	text := fmt.Sprintf("  %-13s  %s (%s)", j.Verdict, j.Text, j.Place)
	for _, p := range j.Parts {
		text += fmt.Sprintf("\n  %13s    %s", "", p)
	}
	return text
}

// String returns the effect and the verdict in one line.
func (p JudgedPart) String() string {
	if p.Verdict == NotRun {
		return fmt.Sprintf("panel %s: %s: not run", p.panel(), what(p.Part))
	}
	return fmt.Sprintf("panel %s: %s %s: %s", p.panel(), p.What(), p.Interval(), p.Verdict)
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
