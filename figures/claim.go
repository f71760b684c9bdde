package figures

import "fmt"

// Claim is a statement that the figure tests, with its verdict.
type Claim struct {
	ID      string
	Text    string // the statement
	Place   string // where the source states it, for example "Section 4.1"
	Says    string // the source's own words
	Verdict Verdict
	Parts   []ClaimPart
	Command string // computes what is missing, and is shown instead of Parts; empty for none
	Figure  Link   // where a page of several figures shows the claim's; empty on a figure's own page
}

// ClaimPart is one measured effect of a claim.
type ClaimPart struct {
	What    string   // statistic, with what is claimed of it
	Panel   string   // key of the panel, with a remark if its data need one
	Effect  Estimate // N is 0 if it was not measured
	Verdict Verdict
	Steps   string // what is added to the interval about the steps that were measured
}

// Verdict is a judgement as the page shows it: always its word, never its colour alone.
type Verdict struct {
	Word    string // for example "does not hold"
	Outcome Outcome
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

// effect is one line of a claim's measurements.
type effect struct {
	What    string // empty where it is that of the line before
	Text    string
	Verdict *Verdict // nil where it is the claim's, because there is one part only
}

// effects lists what was measured of a claim: mean, interval and number of seeds.
func effects(c Claim) []effect {
	if c.Command != "" {
		return nil
	}
	var lines []effect
	what := ""
	for _, p := range c.Parts {
		line := effect{Text: p.Panel + ": " + p.Effect.text() + p.Steps}
		if p.What != what {
			what = p.What
			line.What = what
		}
		if len(c.Parts) > 1 {
			line.Verdict = &p.Verdict
		}
		lines = append(lines, line)
	}
	return lines
}

// text is the estimate with its interval in words, to three decimals.
func (e Estimate) text() string {
	switch e.N {
	case 0:
		return "not measured"
	case 1:
		return fmt.Sprintf("%s (one seed, so no interval)", signedTo(3, e.Mean))
	}
	const format = "%s [%s, %s], n\u00a0=\u00a0%d" // no line break within "n = 3"
	return fmt.Sprintf(format, signedTo(3, e.Mean), signedTo(3, e.Low), signedTo(3, e.High), e.N)
}
