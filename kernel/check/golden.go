package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"tvps/kernel/nbformat"
)

// golden is the content of a golden file: the numbers that a notebook must emit. The file has one number per line.
type golden struct {
	Tolerances []rule                     `json:"tolerances"`
	Cells      map[int]map[string]float64 `json:"cells"` // by number of the code cell, then by name
}

// rule is the tolerance of all numbers whose names match a pattern. The first rule that matches applies. In the
// pattern, * stands for any characters or none.
type rule struct {
	Names    string  `json:"names"`
	Absolute float64 `json:"absolute,omitempty"`
	Relative float64 `json:"relative,omitempty"` // to the golden; the larger of the two tolerances counts
	Why      string  `json:"why,omitempty"`      // for people
}

// defaults are the rules of a new golden file. On another machine, results of training differ by some hundredths. The
// last rule, for all other numbers, is a starting point to be narrowed by hand.
var defaults = []rule{
	{
		Names: "fig*/low", Absolute: 0.3,
		Why: "an interval over few seeds is far wider than its mean is off",
	},
	{Names: "fig*/high", Absolute: 0.3},
	{Names: "fig*/accuracy", Absolute: 0.02, Why: "a mean over steps and seeds, as in ci/tolerances.json"},
	{Names: "fig*/minus-*", Absolute: 0.02},
	{Names: "fig*", Absolute: 0.10, Why: "a point, as in ci/tolerances.json"},
	{Names: "*", Absolute: 0.01, Relative: 0.01},
}

func (r rule) matches(name string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(r.Names), `\*`, `.*`)
	return regexp.MustCompile(`(?s)^` + pattern + `$`).MatchString(name)
}

// tolerance is that of a rule for a golden value.
func (r rule) tolerance(golden float64) float64 {
	return max(r.Absolute, r.Relative*math.Abs(golden))
}

// rule is the rule for a name, and whether there is one.
func (g golden) rule(name string) (rule, bool) {
	for _, r := range g.Tolerances {
		if r.matches(name) {
			return r, true
		}
	}
	return rule{}, false
}

// numbers lists the golden numbers, by cell, then by name.
func (g golden) numbers() []number {
	var all []number
	for _, cell := range slices.Sorted(maps.Keys(g.Cells)) {
		for _, name := range slices.Sorted(maps.Keys(g.Cells[cell])) {
			all = append(all, number{cell, name, g.Cells[cell][name]})
		}
	}
	return all
}

// readGolden reads a golden file. The error wraps fs.ErrNotExist if there is none.
func readGolden(file string) (golden, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return golden{}, fmt.Errorf("cannot read the golden file: %w", err)
	}
	var g golden
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&g); err == nil {
		err = g.wrong(text)
	}
	if err != nil {
		return golden{}, fmt.Errorf("the golden file %s is damaged: %w; correct it, or delete it and repeat with --update",
			file, err)
	}
	return g, nil
}

// wrong says what is no golden in the text of g, although JSON allows it.
func (g golden) wrong(text []byte) error {
	var all struct{ Cells map[int]map[string]*float64 } // nil is null
	_ = json.Unmarshal(text, &all)                      // as for g
	seen := map[string]bool{}
	for _, n := range g.numbers() {
		if all.Cells[n.Cell][n.Name] == nil {
			return fmt.Errorf("%q of cell %d is null", n.Name, n.Cell)
		}
		if seen[n.Name] {
			return fmt.Errorf("%q is there twice", n.Name)
		}
		seen[n.Name] = true
	}
	for _, r := range g.Tolerances {
		if min(r.Absolute, r.Relative) < 0 {
			return fmt.Errorf("the tolerance of %q is negative", r.Names)
		}
	}
	return nil
}

// write writes the golden file, unless its content is the same already. It reports whether it wrote the file.
func (g golden) write(file string) (bool, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(g); err != nil {
		return false, fmt.Errorf("cannot encode the golden file as JSON: %w", err)
	}
	if before, err := os.ReadFile(file); err == nil && bytes.Equal(before, text.Bytes()) {
		return false, nil
	}
	err := nbformat.WriteFile(file, text.Bytes())
	return err == nil, err
}

// slack allows for rounding, so that a decimal difference equal to the tolerance is within it.
const slack = 1e-9

// Within says whether a value differs from its golden by at most an absolute tolerance. It is
// false for NaN.
func Within(value, golden, tolerance float64) bool {
	return math.Abs(value-golden) <= tolerance+slack
}
