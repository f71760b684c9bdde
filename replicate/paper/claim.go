package paper

// Claim is a statement of the paper about one figure. It holds if all its parts do.
type Claim struct {
	ID    string `json:"id"`
	Text  string `json:"claim"` // in our words
	Place string `json:"place"` // where the paper says so
	Says  string `json:"says"`  // what the paper says, as a quotation or a description of its curves
	Parts []Part `json:"parts"`
}

// Part is one number with what is claimed about it: a statistic of two series of a panel lies above a bound, below it,
// or within it on both sides of 0.
type Part struct {
	Panel     string    `json:"panel"`
	Series    string    `json:"series"`         // what is claimed to be better (or worse)
	Base      string    `json:"base,omitempty"` // than what
	Truth     string    `json:"-"`              // the series of the closed form, for CorrelationGain
	Statistic Statistic `json:"statistic"`      // Difference if empty
	Test      Test      `json:"test"`           // Above if empty
	Bound     float64   `json:"bound"`
}

// Test says on which side of its bound a statistic is claimed to lie.
type Test string

const (
	Above  Test = "above"
	Below  Test = "below"
	Within Test = "within" // between -bound and +bound
)

// Statistic names a number that is taken within each seed, over its steps. Package lab computes it.
type Statistic string

const (
	Level       Statistic = "level"       // mean of the series over steps
	End         Statistic = "end"         // mean of the series over the last quarter of the steps
	Difference  Statistic = "difference"  // mean of series minus base over steps
	Share       Statistic = "share"       // share of steps at which the series is above the base; a tie counts half
	Slope       Statistic = "slope"       // of the least-squares line through the series, for 100 steps
	Correlation Statistic = "correlation" // Pearson's, of series and base over steps
	Ratio       Statistic = "ratio"       // mean of series minus base, divided by the mean of the base
	Phase       Statistic = "phase"       // mean at the steps of the last one's phase (period 5) minus mean at the others
	Sooner      Statistic = "sooner"      // by how many steps the series reaches sooner than the base where the base ends
	Spread      Statistic = "spread"      // mean distance of the series from the median over seeds, minus that of the base

	// CorrelationGain is the correlation of the series with Part.Truth minus that of the base.
	CorrelationGain Statistic = "correlation-gain"
)
