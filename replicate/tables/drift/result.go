package drift

import (
	"slices"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
)

// Result is what was found.
type Result struct {
	tables.About
	Used int `json:"rows-used"` // by g; the others were left out at regular distances

	Blocks  []tables.Block `json:"blocks"`
	Tests   *Tests         `json:"tests"`
	Columns *Columns       `json:"columns"`
	// Joint and Covariate tell how g sees the time, and what it found in x and y, and in x.
	Joint     *crossfit.Diagnostics `json:"joint,omitempty"`
	Covariate *crossfit.Diagnostics `json:"covariate,omitempty"`
	Maps      []Map                 `json:"maps"` // of x; with a label also of x and y, and of y given x
	Verdict   Verdict               `json:"verdict"`
}

// Verdict is the answer in one sentence, and what it is made of.
type Verdict struct {
	Sentence string   `json:"sentence"`
	Drift    []string `json:"drift"`             // questions answered with yes
	Turn     string   `json:"turn,omitempty"`    // the block at whose begin it changed most; empty: gradually, or unseen
	Columns  []string `json:"columns,omitempty"` // that carry most of the drift
	Share    float64  `json:"share,omitempty"`   // of these columns in log omega
}

// Found are the tests that found drift.
func (r *Result) Found() []Test {
	return slices.DeleteFunc(slices.Clone(r.Tests.List), func(t Test) bool { return !t.Drift })
}

// likePresent is how like the last block each earlier one is in all that a row has: x, and y if there is a label.
func (r *Result) likePresent() []float64 {
	last := len(r.Blocks) - 1
	return r.Maps[min(1, len(r.Maps)-1)].Worth[last][:last]
}

// mapOf is the map of a subject.
func (r *Result) mapOf(in string) *Map {
	return &r.Maps[slices.IndexFunc(r.Maps, func(m Map) bool { return m.In == in })]
}
