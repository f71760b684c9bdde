package claims

import (
	"cmp"
	"fmt"
	"strings"

	"tvps/figures"
	"tvps/figures/looks"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// String returns the effect and the verdict in one line.
func (p JudgedPart) String() string {
	if p.Verdict == NotRun {
		return fmt.Sprintf("panel %s: %s: not run", p.panel(), what(p.Part))
	}
	return fmt.Sprintf("panel %s: %s is %s%s: %s", p.panel(), what(p.Part), p.Effect, p.remarks(), p.Result())
}

// panel returns the panel's letter, with its own scale and the stand-in for its data if there are any.
func (p JudgedPart) panel() string {
	key := p.Panel
	if p.Panels != "" {
		key = strings.Join(strings.Split(p.Panels, ""), ", ")
	}
	if p.Scale != "" {
		key += fmt.Sprintf(" (scale %s)", p.Scale)
	}
	return key + inParentheses(p.Metric.StandIn)
}

// remarks says which steps were measured, and the level of the interval if it is another one.
func (p JudgedPart) remarks() string {
	if p.Effect.Exact {
		return ""
	}
	if p.Level > 0 {
		return fmt.Sprintf("%s, %s interval (it is judged more than once)", p.steps(), p.level())
	}
	return p.steps()
}

// level is the level of the interval in words; "" for statistics.Level.
func (p JudgedPart) level() string {
	if p.Level == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g%%", 100*p.Level)
}

// pText is the p-value of the part's verdict, if it has one.
func (p JudgedPart) pText() string {
	switch {
	case p.P == 0:
		return ""
	case p.P < .001:
		return ", p < 0.001"
	}
	return fmt.Sprintf(", p = %.3f", p.P)
}

// Sample is how many seeds were measured and which steps, as "8 seeds, every 2nd step".
func (p JudgedPart) Sample() string {
	s := Sample{Seeds: make([]int64, p.Effect.N)}
	if p.Steps > 1 {
		s.Stride = p.Stride
	}
	return s.String()
}

// steps says which steps were measured, and what the interval is without the others; "" if they stand for no others.
func (p JudgedPart) steps() string {
	switch {
	case p.Effect.N < 2 || p.Steps < 2 || p.Stride == 0:
		return ""
	case p.OverSeeds == nil:
		return ", every step"
	}
	text := fmt.Sprintf(", every %s step (measured steps alone: %s", experiment.Ordinal(p.Stride), p.OverSeeds.Bounds(3))
	if alone := verdictOf(p.Part, *p.OverSeeds); alone != p.Verdict && p.Verdict.kind() != NotJudged {
		text += ", " + string(alone) + ": further steps may decide it"
	}
	return text + ")"
}

// Result is the verdict in short, with its margin. What was measured on a stand-in has none.
func (p JudgedPart) Result() string {
	if p.onStandIn() {
		return "not tested"
	}
	return p.withMargin(p.Verdict.Short())
}

// withMargin adds the margin to the words of the part's verdict if it takes part in it, or if a sign is known of a
// difference that counts as none.
func (p JudgedPart) withMargin(verdict string) string {
	switch {
	case p.Verdict == NoDifference:
		return fmt.Sprintf("%s of more than %s", verdict, p.margin())
	case p.Verdict == Undecided && p.Margin > 0:
		return fmt.Sprintf("%s (margin %s)", verdict, p.margin())
	case p.negligible():
		return verdict + ", " + p.noDifference()
	}
	return verdict
}

// negligible tells whether the part's sign is known but its whole interval lies within the margin.
func (p JudgedPart) negligible() bool {
	return p.Effect.N > 0 && (p.Verdict == Holds || p.Verdict == DoesNotHold) && negligible(p.Part, p.Effect)
}

func (p JudgedPart) noDifference() string {
	return string(NoDifference) + " of more than " + p.margin()
}

// margin is the margin in the unit of the effect.
func (p JudgedPart) margin() string {
	if p.unit() == figures.Points {
		return fmt.Sprintf("%.3g points", 100*p.Margin)
	}
	return fmt.Sprintf("%g", p.Margin)
}

// name is the statistic with its series.
func name(p paper.Part) string {
	words := definitions[cmp.Or(p.Statistic, paper.Difference)].words
	if p.Of != "" {
		words = strings.Replace(words, "mean of", "mean "+p.Of+" of", 1)
	}
	return strings.NewReplacer("SERIES", looks.Of(p.Series).Label, "BASE", looks.Of(p.Base).Label).Replace(words)
}

// unit is that of the effect: points for differences of accuracies, percent for shares.
func (p JudgedPart) unit() figures.Unit {
	switch p.Statistic {
	case paper.Share, paper.Rejected:
		return figures.Percent
	case paper.Level, paper.End:
		if p.Metric.Name == "accuracy" {
			return figures.Percent
		}
	case paper.Difference, paper.EndGain, paper.Further, paper.Regret:
		if p.Metric.Name == "accuracy" {
			return figures.Points
		}
	}
	return ""
}

// what names the statistic with its series and its claimed bound.
func what(p paper.Part) string {
	text := name(p)
	switch {
	case p.Test == paper.Within && p.Around != 0:
		return fmt.Sprintf("%s (claimed within ±%g of %g)", text, p.Bound, p.Around)
	case p.Test == paper.Within:
		return fmt.Sprintf("%s (claimed within ±%g)", text, p.Bound)
	case p.Test == paper.Below:
		return fmt.Sprintf("%s (claimed below %.4g)", text, p.Bound)
	}
	return fmt.Sprintf("%s (claimed above %g)", text, p.Bound)
}

// outcomes gives each verdict its look on a page.
var outcomes = map[Verdict]figures.Outcome{
	Holds: figures.Confirmed, Partly: figures.Mixed, DoesNotHold: figures.Contradicted,
	NoDifference: figures.Contradicted, Undecided: figures.Open,
	NotRun: figures.Missing, NotJudged: figures.Missing, NotAdapted: figures.Missing,
}

// outcome gives the part's verdict its look; one on a stand-in counts as none.
func (p JudgedPart) outcome() figures.Outcome {
	if p.onStandIn() {
		return figures.Missing
	}
	return outcomes[p.Verdict]
}
