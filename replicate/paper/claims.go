package paper

import (
	"fmt"

	"tvps/figures"
)

// Verdict says whether a claim of the paper holds here.
type Verdict string

const (
	Holds       Verdict = "holds"
	DoesNotHold Verdict = "does not hold"
	Undecided   Verdict = "undecided" // the interval does not settle it
	NotRun      Verdict = "not run"
)

// Claim is a statement of the paper about one panel: the mean accuracy of one series
// minus that of another lies above Bound (or, if Below is set, below it).
type Claim struct {
	ID     string  `json:"id"`
	Text   string  `json:"claim"`  // in our words
	Place  string  `json:"place"`  // where the paper says so
	Panel  string  `json:"panel"`  //
	Series string  `json:"series"` // what is claimed to be better (or worse)
	Base   string  `json:"base"`   // than what
	Below  bool    `json:"below"`  // the claim is that the difference is below the bound
	Bound  float64 `json:"bound"`  // of the difference in mean accuracy
}

// Judged is a claim with what was measured. The seed is the unit: differences are
// averaged over steps within each seed, the interval is Student's t over seeds.
type Judged struct {
	Claim
	Verdict    Verdict          `json:"verdict"`
	Difference figures.Estimate `json:"difference"`
}

// judge measures one claim.
func judge(c Claim, rows []figures.Row) Judged {
	j := Judged{Claim: c, Verdict: NotRun}
	summary, err := figures.Table(rows, c.Panel, "accuracy", c.Base)
	if err != nil {
		return j
	}
	for _, r := range summary.Rows {
		if r.Series == c.Series {
			j.Difference = r.Difference
			j.Verdict = c.verdict(r.Difference)
		}
	}
	return j
}

// verdict compares the whole interval with the bound.
func (c Claim) verdict(d figures.Estimate) Verdict {
	above, below := d.Low > c.Bound, d.High < c.Bound
	if c.Below {
		above, below = below, above
	}
	switch {
	case d.N < 2:
		return Undecided
	case above:
		return Holds
	case below:
		return DoesNotHold
	}
	return Undecided
}

// String is one line for the terminal.
func (j Judged) String() string {
	if j.Verdict == NotRun {
		return fmt.Sprintf("  %-13s  %s (%s)", j.Verdict, j.Text, j.Place)
	}
	interval := "one seed, so no interval"
	if d := j.Difference; d.N > 1 {
		interval = fmt.Sprintf("[%+.3f, %+.3f], n = %d seeds", d.Low, d.High, d.N)
	}
	return fmt.Sprintf("  %-13s  %s (%s): %s minus %s is %+.3f %s",
		j.Verdict, j.Text, j.Place, j.Series, j.Base, j.Difference.Mean, interval)
}
