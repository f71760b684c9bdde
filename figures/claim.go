package figures

import (
	"fmt"
	"slices"
	"strings"

	"tvps/data/statistics"
)

// Claim is a statement that the figure tests, with its verdict.
type Claim struct {
	ID      string
	Text    string // the statement
	Place   string // where the source states it, for example "Section 4.1"
	Says    string // the source's own words
	Verdict Verdict
	Parts   []ClaimPart
	Note    string // more about the claim, shown next to what was measured; empty for nothing
	Gallery string // what the gallery's larger sample says; empty for nothing more
	Command string // measures its parts, and is shown instead of missing ones; empty for none
}

// ClaimPart is one measured effect of a claim.
type ClaimPart struct {
	What    string              // statistic, with what is claimed of it
	Short   string              // statistic alone, for a line
	Unit    Unit                // of the effect, in a line
	Panel   string              // key of the panel, with a remark if its data need one
	Effect  statistics.Estimate // N is 0 if it was not measured
	Verdict Verdict
	Steps   string // what is added to the interval about the steps that were measured
	Command string // measures the part alone
	Level   string // of the interval, as "97.5%"; empty for 95%
}

// Verdict is a judgement as the page shows it: always its word, never its colour alone.
type Verdict struct {
	Word    string // for example "does not hold"
	Outcome Outcome
}

// Short is the verdict without its reason, its margin or a remark; what stands after a semicolon stays.
func (v Verdict) Short() Verdict {
	verdict, limits, limited := strings.Cut(v.Word, ";")
	if end := strings.IndexAny(verdict, ":(,"); end > 0 {
		verdict = strings.TrimSpace(verdict[:end])
	}
	if v.Word = verdict; limited {
		v.Word += ";" + limits
	}
	return v
}

// Outcome gives a verdict its colour and mark.
type Outcome string

// The outcomes that a verdict can have.
const (
	Confirmed    Outcome = "confirmed"
	Mixed        Outcome = "mixed" // confirmed in part
	Contradicted Outcome = "contradicted"
	Open         Outcome = "open"    // the measurements do not decide
	Missing      Outcome = "missing" // there are no measurements
)

// ClaimLine is a claim in a list. A part that an earlier claim shows is only referred to.
type ClaimLine struct {
	Claim
	Effects []Effect
	Before  string // as "parts of claims 1 and 3"; empty for none
}

// Effect is one measured number of a claim.
type Effect struct {
	What    string // empty where it is that of the effect before
	Text    string
	Verdict *Verdict // nil where it is the claim's
}

// String is what was measured, in a line.
func (l ClaimLine) String() string {
	if len(l.Parts) == 0 {
		return l.Command
	}
	var out []string
	for _, e := range l.Effects {
		text := e.Text
		if e.What != "" {
			text = e.What + ": " + text
		}
		if e.Verdict != nil {
			text += " (" + e.Verdict.Word + ")"
		}
		out = append(out, text)
	}
	for _, more := range []string{l.Before, l.Note} {
		if more != "" {
			out = append(out, more)
		}
	}
	return strings.Join(out, "; ")
}

// Lines lists claims with the numbers that decide them, each number once.
func Lines(claims []Claim) []ClaimLine {
	var out []ClaimLine
	first := map[[2]string]int{} // the claim that shows a part, counted from 1
	for i, c := range claims {
		line := ClaimLine{Claim: c}
		var before []int
		what := ""
		for _, p := range c.Parts {
			key := [2]string{p.What, p.Panel}
			if at := first[key]; at > 0 && at <= i {
				before = append(before, at)
				continue
			}
			first[key] = i + 1
			e := Effect{Text: p.Panel + " " + p.text()}
			if p.Short != what {
				what = p.Short
				e.What = what
			}
			if p.Verdict.Outcome != c.Verdict.Outcome && p.Verdict.Outcome != Missing {
				short := p.Verdict.Short()
				e.Verdict = &short
			}
			line.Effects = append(line.Effects, e)
		}
		if slices.Sort(before); len(before) > 0 {
			line.Before = "parts shown in " + listed("claim", slices.Compact(before))
		}
		out = append(out, line)
	}
	return out
}

// listed is "panel a", "panels a and b" or "panels a, b and c".
func listed[T any](noun string, items []T) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = fmt.Sprint(item)
	}
	last := len(items) - 1
	if last == 0 {
		return noun + " " + words[0]
	}
	return noun + "s " + strings.Join(words[:last], ", ") + " and " + words[last]
}

// Effects has the parts of claims about a panel in a line, each once.
func (f Figure) Effects(panel string) string {
	var out []string
	for _, c := range f.Claims {
		for _, p := range c.Parts {
			if key, _, _ := strings.Cut(p.Panel, " "); key == panel && !slices.Contains(out, p.String()) {
				out = append(out, p.String())
			}
		}
	}
	return strings.Join(out, "; ")
}

// String is the part in a line.
func (p ClaimPart) String() string { return p.Short + " " + p.text() }

// text is the effect with its interval.
func (p ClaimPart) text() string {
	mean, low, high := Short(p.Effect, p.Unit)
	switch {
	case p.Effect.Exact:
		return fmt.Sprintf("%g%s by its closed form", p.Effect.Mean, p.Unit)
	case p.Effect.N == 0:
		return "not measured"
	case p.Effect.N == 1:
		return mean + string(p.Unit) + " (one seed, so no interval)"
	}
	text := fmt.Sprintf("%s [%s, %s]%s", mean, low, high, p.Unit)
	if p.Level != "" {
		text += fmt.Sprintf(" (%s)", p.Level)
	}
	return text
}

// Unit says in what a number is printed.
type Unit string

// The units of an effect. An effect without one is printed as it is.
const (
	Points  Unit = " points" // hundredths, of a difference of shares
	Percent Unit = "%"       // hundredths, of a share
)
