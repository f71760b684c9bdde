package lab

import (
	"cmp"
	"fmt"
	"strings"

	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// Result is the verdict, with the margin of a single part, whose own result tables do not show, and a remark if Holm's
// correction does not keep it.
func (j Judged) Result() string {
	text := string(j.Verdict)
	if len(j.Parts) == 1 && j.Parts[0].Verdict == j.Verdict {
		text = j.Parts[0].withMargin(text)
	}
	if j.Holm == Lost {
		text += ", but not with Holm's correction"
	}
	return text
}

// String returns a line for the terminal, followed by one for each part.
func (j Judged) String() string {
	text := fmt.Sprintf("  %-13s  %s (%s)", j.Result(), j.Text, j.Place)
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
	return fmt.Sprintf("panel %s: %s %s: %s", p.panel(), p.What(), p.Interval(), p.Result())
}

// panel returns the panel's letter, with the stand-in for its data if there is one.
func (p JudgedPart) panel() string {
	if _, standIn, ok := strings.Cut(p.Metric, standInMark); ok {
		return p.Panel + standInMark + standIn
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

// Interval returns the effect's interval, the number of seeds, and which steps were measured, if they are a sample.
func (p JudgedPart) Interval() string {
	if p.Effect.N < 2 {
		return "(one seed, so no interval)"
	}
	text := fmt.Sprintf("%s, n = %d%s", ends(p.Effect), p.Effect.N, p.steps())
	if p.Level > 0 {
		text += fmt.Sprintf(", %g%% for a second look", 100*p.Level)
	}
	return text
}

// steps says which steps were measured, and what the interval is without the others; "" if they stand for no others.
func (p JudgedPart) steps() string {
	switch {
	case p.Effect.N < 2 || p.Steps < 2 || p.Stride == 0:
		return ""
	case p.OverSeeds == nil:
		return ", every step"
	}
	text := fmt.Sprintf(", every %s step (these alone: %s", experiment.Ordinal(p.Stride), ends(*p.OverSeeds))
	if alone := verdictOf(p.Part, *p.OverSeeds); alone != p.Verdict && p.Verdict != NotJudged {
		text += ", " + string(alone) + ": more steps would tell"
	}
	return text + ")"
}

func ends(e figures.Estimate) string { return fmt.Sprintf("[%s, %s]", signed(e.Low), signed(e.High)) }

// Result is the verdict in short, with its margin, and a remark on a stand-in.
func (p JudgedPart) Result() string {
	text := p.withMargin(p.Verdict.Short())
	if p.onStandIn() {
		text += " (not counted)"
	}
	return text
}

// withMargin adds the margin to the words of the part's verdict if it takes part in it.
func (p JudgedPart) withMargin(verdict string) string {
	switch {
	case p.Verdict == NoDifference:
		return fmt.Sprintf("%s above %g", verdict, p.Margin)
	case p.Verdict == Undecided && p.Margin > 0:
		return fmt.Sprintf("%s (margin %g)", verdict, p.Margin)
	}
	return verdict
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
