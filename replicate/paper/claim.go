package paper

// Claim is a statement of the paper about one figure. It holds if all its parts do.
type Claim struct {
	ID    string `json:"id"`
	Text  string `json:"claim"` // in our words
	Short string `json:"-"`     // in the sentence that answers the figure's question; empty: not in it
	Place string `json:"place"` // where the paper says so
	Says  string `json:"says"`  // what the paper says, as a quotation or a description of its curves
	Parts []Part `json:"parts"`

	Was  *Wording `json:"was,omitempty"`  // how it was worded and judged at first, if otherwise
	Note string   `json:"note,omitempty"` // numbers of other runs, with their source, next to the measured ones
	Twin string   `json:"twin,omitempty"` // another claim with the same parts: counted there alone
	New  bool     `json:"new,omitempty"`  // not counted: not in the paper, so by construction, or added when the others had been judged
}

// Wording is an earlier form of a claim.
type Wording struct {
	Text  string `json:"claim"`
	Parts []Part `json:"-"`
}

// Part is one number with what is claimed about it: a statistic of one or two series of a panel lies above a bound,
// below it, or within it on both sides of 0.
type Part struct {
	Panel     string    `json:"panel"`
	Series    string    `json:"series"`         // claimed to be better (or worse)
	Base      string    `json:"base,omitempty"` // than this series
	Truth     string    `json:"-"`              // the series of the closed form, for CorrelationGain and Highest
	Statistic Statistic `json:"statistic"`      // Difference if empty
	Test      Test      `json:"test"`           // Above if empty
	Bound     float64   `json:"bound"`
	Around    float64   `json:"around,omitempty"` // the centre of Within

	Panels string `json:"panels,omitempty"` // those of Regret, Panel first

	// Of is a metric that the panel's notes tell; that which the panel shows if empty.
	Of string `json:"of,omitempty"`

	// Known is the statistic by its closed form for the scenario's own settings. It decides instead of a measured one. 0
	// for none.
	Known float64 `json:"known,omitempty"`

	// Margin is the largest distance from Bound that counts as none: an undecided part whose interval is nearer than
	// this to Bound shows that there is no difference of more than the margin. 0 for no such verdict.
	Margin float64 `json:"margin,omitempty"`
}

// inPanels returns the part for each of these panels, as "abc".
func inPanels(keys string, part Part) []Part {
	var out []Part
	for _, key := range keys {
		part.Panel = string(key)
		out = append(out, part)
	}
	return out
}

// better claims in each of these panels that a series is above its base, as far as differences above Margin go.
func better(panels, series, base string) []Part {
	return inPanels(panels, Part{Series: series, Base: base, Margin: Margin})
}

// worse claims the opposite of better.
func worse(panels, series, base string) []Part {
	return inPanels(panels, Part{Series: series, Base: base, Test: Below, Margin: Margin})
}

// Margin is that of differences that decide which learner is better: 0.3 points of accuracy, hardly seen in the paper's
// pictures. It was set after the first three seeds were known, and before more were run. Two claims of Figure 9 have
// margins of their own.
const Margin = .003

// Test names the side of its bound on which a statistic is claimed to lie.
type Test string

// The tests of a part.
const (
	Above  Test = "above"
	Below  Test = "below"
	Within Test = "within" // nearer to Around than Bound
)

// Statistic names a number that is computed within each seed, over its steps, with an interval over seeds and the steps
// that were left out; Spread and Further are computed over all seeds, Regret over panels. Package claims does it.
type Statistic string

const (
	Level       Statistic = "level"       // mean of the series over steps
	End         Statistic = "end"         // mean of the series over the last quarter of the steps
	Difference  Statistic = "difference"  // mean of series minus base over steps
	EndGain     Statistic = "end-gain"    // mean of series minus base over the last quarter of the steps
	Share       Statistic = "share"       // share of steps at which the series is above the base; a tie counts half
	Rejected    Statistic = "rejected"    // share of steps at which the series, a p-value, is below 0.05
	Slope       Statistic = "slope"       // slope of the least-squares line through the series, per 100 steps
	Correlation Statistic = "correlation" // Pearson's, of series and base over steps
	Ratio       Statistic = "ratio"       // mean of series minus base, divided by the mean of the base
	Highest     Statistic = "highest"     // lowest value at times 84, 79, 74, 69 minus the highest off phase; of Figure 5
	Sooner      Statistic = "sooner"      // steps by which the series reaches the final level of the base earlier
	Spread      Statistic = "spread"      // log of the variance of the series over seeds, divided by the base's
	Adapts      Statistic = "adapts"      // end-gain where the base, a policy of Panel.Single, earns less than on average
	Further     Statistic = "further"     // difference with the first three seeds minus that with all others
	Variation   Statistic = "variation"   // total variation from one step to the next, at most; only Known
	Regret      Statistic = "regret"      // largest distance from the best of the learners of Panel over Panels, of series minus base

	// CorrelationGain is the correlation of the series with Part.Truth minus that of the base.
	CorrelationGain Statistic = "correlation-gain"
)
