package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"tvps/kernel/nbformat"
)

// rule is the tolerance of all numbers whose names match a pattern. The first rule that matches applies. In the
// pattern, * stands for any characters or none.
type rule struct {
	Names    string  `json:"names"`
	Absolute float64 `json:"absolute"`
	Relative float64 `json:"relative"` // to the number in the file; the larger of the two tolerances counts
	Why      string  `json:"why"`      // for people

	pattern *regexp.Regexp // of Names
}

// defaults are the rules of a notebook that has none. On another machine, results of training differ by some
// hundredths.
var defaults = []rule{
	{Names: "fig*/low", Absolute: 0.3, Why: "an interval over few seeds is far wider than its mean is off"},
	{Names: "fig*/high", Absolute: 0.3},
	{Names: "fig*/accuracy", Absolute: 0.02, Why: "a mean over steps and seeds, as in ci/tolerances.json"},
	{Names: "fig*/minus-*", Absolute: 0.02},
	{Names: "fig*", Absolute: 0.10, Why: "a point, as in ci/tolerances.json"},
	{Names: "*", Absolute: 1e-9, Relative: 1e-6, Why: "numbers of the gallery or closed forms, nothing trained"},
}

// ruleFor returns the first rule that matches a name, and whether there is one.
func ruleFor(rules []rule, name string) (rule, bool) {
	for _, r := range rules {
		if r.pattern.MatchString(name) {
			return r, true
		}
	}
	return rule{}, false
}

// tolerance is that of a rule for a number in the file.
func (r rule) tolerance(stored float64) float64 {
	return max(r.Absolute, r.Relative*math.Abs(stored))
}

// metadataKey is the field of a notebook's metadata that has its rules, under "tolerances".
const metadataKey = "tvps"

// rulesOf returns the rules in a notebook's metadata, or the defaults. Its errors continue a sentence that begins with
// the notebook's name.
func rulesOf(nb *nbformat.Notebook) ([]rule, error) {
	var own struct {
		Tolerances []rule `json:"tolerances"`
	}
	text, _ := json.Marshal(nb.Metadata[metadataKey]) // null if there is none
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&own)
	rules := own.Tolerances
	if len(rules) == 0 {
		rules = slices.Clone(defaults)
	}
	for i := range rules {
		err = cmp.Or(err, rules[i].prepare())
	}
	if err != nil {
		return nil, fmt.Errorf("has damaged metadata %q: %w", metadataKey, err)
	}
	return rules, nil
}

// prepare checks a rule and compiles its pattern.
func (r *rule) prepare() error {
	if r.Names == "" {
		return errors.New("a tolerance has no names")
	}
	if min(r.Absolute, r.Relative) < 0 {
		return fmt.Errorf("the tolerance of %q is negative", r.Names)
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(r.Names), `\*`, `.*`)
	r.pattern = regexp.MustCompile(`(?s)^` + pattern + `$`)
	return nil
}

// slack allows for rounding, so that a decimal difference equal to the tolerance is within it.
const slack = 1e-9

// Within says whether a value differs from its golden by at most an absolute tolerance. It is false for NaN.
func Within(value, golden, tolerance float64) bool {
	return math.Abs(value-golden) <= tolerance+slack
}
