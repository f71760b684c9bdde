package backtest

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
)

// Result is a back test.
type Result struct {
	tables.About
	Model   string        `json:"model"`
	Metric  string        `json:"metric"` // that chooses and compares: "log-loss" or "squared-error"
	Tuning  int           `json:"tuning"` // test blocks before those that count: choices are made on them, too
	Tested  int           `json:"tested"` // test blocks that count
	Gap     string        `json:"gap,omitempty"`
	Rules   []RuleResult  `json:"rules"`
	Blocks  []BlockResult `json:"blocks"`
	Verdict Advice        `json:"verdict"`

	unit string // of half-lives, for people
}

// Advice is what to do.
type Advice struct {
	Sentence string        `json:"sentence"`
	Rule     string        `json:"rule"`
	Kind     crossfit.Kind `json:"kind"`      // "" for no omega
	HalfLife float64       `json:"half-life"` // in units of time; 0 for none
	Window   int           `json:"window"`    // the last so many blocks; 0 for all
	Helps    bool          `json:"helps"`     // omega is better than tuned forgetting: the interval excludes 0
	// Committee says that a committee is better than the rule, whose weights are the best ones.
	Committee bool `json:"committee"`
}

// RuleResult is what a rule would have given.
type RuleResult struct {
	Rule   string             `json:"rule"`
	Kind   crossfit.Kind      `json:"kind"`
	Tuned  bool               `json:"tuned"`
	Scores map[string]float64 `json:"scores"` // mean over the rows of the test blocks, by measure
	// The verdict rests on the intervals of forgetting, window and last against equal weights, which hold together, and on
	// those of the rules with omega against forgetting, which hold together, too. The others hold one by one.
	AgainstUniform    Difference `json:"against-uniform"`
	AgainstForgetting Difference `json:"against-forgetting"`
	HalfLife          float64    `json:"half-life"`         // chosen after the last test block
	Window            int        `json:"window,omitempty"`  // chosen after the last test block, in blocks
	Power             float64    `json:"power,omitempty"`   // chosen after the last test block
	Chosen            []string   `json:"chosen,omitempty"`  // before each test block that counts
	Members           []Member   `json:"members,omitempty"` // of a committee after the last test block, by falling share

	last Weighting // chosen after the last test block
}

// Difference is a mean difference with its 95% interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// difference is one of a measure for people, as "-0.0140 [-0.0290, -0.0020]"; empty for none.
func (r *Result) difference(d Difference) string {
	if d == (Difference{}) {
		return ""
	}
	return fmt.Sprintf("%s [%s, %s]", r.number("+", d.Mean, 4), r.number("+", d.Low, 4), r.number("+", d.High, 4))
}

// number is a loss, or a difference of losses, with so many decimals; with four digits if equal weights have a loss of
// which that would be too few, or too many. flags are those of fmt.
func (r *Result) number(flags string, v float64, decimals int) string {
	if loss := r.rule(Uniform).Scores[r.Metric]; loss != 0 && (loss < .01 || loss >= 1e6) {
		return fmt.Sprintf("%"+flags+".4g", v)
	}
	return fmt.Sprintf("%"+flags+".*f", decimals, v)
}

// BlockResult is a test block that counts.
type BlockResult struct {
	Time   string             `json:"time"`
	Rows   int                `json:"rows"`
	Scores map[string]float64 `json:"scores"` // Metric by rule
	// HeldOut is the held-out loss of g, of x and y; 0 if it is not fitted.
	HeldOut float64 `json:"g-held-out-loss,omitempty"`
}

// rule is the result of a rule; the zero value if it took no part.
func (r *Result) rule(name string) (found RuleResult) {
	for _, x := range r.Rules {
		if x.Rule == name {
			found = x
		}
	}
	return found
}

func (r *Result) byLoss(a, b RuleResult) int {
	return cmp.Compare(a.Scores[r.Metric], b.Scores[r.Metric])
}

// loss is the loss of a rule for people.
func (r *Result) loss(x RuleResult) string {
	return r.number("", x.Scores[r.Metric], 3)
}

// Words is the metric in sentences.
func (r *Result) Words() string { return strings.ReplaceAll(r.Metric, "-", " ") }

// ShortModel is the name that a comment gives a command, or the model without the folders of its files.
func (r *Result) ShortModel() string {
	if _, name, ok := strings.Cut(r.Model, nameMark); ok {
		return name
	}
	words := strings.Fields(r.Model)
	for i, w := range words {
		path := strings.Index(w, ":") + 1
		words[i] = w[:path] + filepath.Base(w[path:])
	}
	return strings.Join(words, " ")
}
