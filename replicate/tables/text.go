package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
)

// Verdict is the answer in one sentence, and what it is made of.
type Verdict struct {
	Sentence string   `json:"sentence"`
	Drift    []string `json:"drift"`             // questions answered with yes
	Turn     string   `json:"turn,omitempty"`    // the block at whose begin it changed most; empty: gradually, or unseen
	Columns  []string `json:"columns,omitempty"` // that carry most of the drift
	Share    float64  `json:"share,omitempty"`   // of these columns in log omega
}

// judge puts the verdict together.
func (m *measurement) judge() Verdict {
	v := Verdict{Sentence: m.Finding.Sentence, Drift: m.Finding.drifting()}
	if len(v.Drift) == 0 {
		if t := m.Tests.when(""); t != nil {
			against := "the present"
			if t.Against == Before {
				against = "the time before"
			}
			v.Sentence += fmt.Sprintf(". But one stretch stands out: look at the rows from %s on, whose %s differs from %s (p %s)",
				ShortName(m.Tests.Stretches[t.Stretch].Name), t.In, against, pIs(t.Adjusted))
		}
		v.Sentence += "."
		return v
	}
	what, turns := "x", m.mapOf(InX)
	switch {
	case slices.Contains(v.Drift, InRule):
		what, turns = "y given x", m.mapOf(InRule)
	case !slices.Contains(v.Drift, InX):
		what, turns = "y", m.mapOf(InBoth)
	}
	switch at, sharp := turns.turn(); {
	case at == 0: // too weak for g, which is 0 then
		v.Sentence += fmt.Sprintf(". When %s changes is not seen by g", what)
	case sharp:
		v.Turn = m.Blocks[at].Name
		v.Sentence += fmt.Sprintf(". The change of %s is strongest around %s", what, ShortName(v.Turn))
	default:
		v.Sentence += fmt.Sprintf(". The change of %s is gradual", what)
	}
	for _, c := range m.Columns.List[:min(3, len(m.Columns.List))] {
		if v.Share >= 2./3 {
			break
		}
		v.Columns, v.Share = append(v.Columns, c.Column), v.Share+c.Share
	}
	switch {
	case v.Share == 0 && len(m.Finding.Columns) > 0: // too weak for g
		v.Columns = m.Finding.Columns
		itself := map[bool]string{true: " drifts by itself", false: " drift by themselves"}[len(v.Columns) == 1]
		v.Sentence += "; " + few(v.Columns, 3) + itself
	case v.Share > 0:
		verb := map[bool]string{true: "carries", false: "carry"}[len(v.Columns) == 1]
		v.Sentence += fmt.Sprintf("; %s %s %.0f%% of log omega", joined(v.Columns, "and"), verb, 100*v.Share)
	}
	v.Sentence += "."
	if slices.Max(m.likePresent()) < unlike {
		v.Sentence += " No earlier block is much like the last one."
	}
	return v
}

// String is the summary for a terminal. It opens with the verdict.
func (r *Drift) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%d rows in %s of time, the first from %s on, the last from %s; %s\n", r.Verdict.Sentence, r.Rows,
		runs.Plural(len(r.Blocks), "block"), ShortName(r.Blocks[0].Name), ShortName(r.Blocks[len(r.Blocks)-1].Name), r.Contents)
	b.WriteString(r.Finding.lines())
	for _, line := range r.timeLines() {
		fmt.Fprintf(&b, "%s\n", line)
	}
	var shares []string
	for _, c := range r.Columns.List[:min(5, len(r.Columns.List))] {
		if share := math.Round(100 * c.Share); share > 0 {
			shares = append(shares, fmt.Sprintf("%s %.0f%%", c.Title(), share))
		}
	}
	if len(shares) > 0 {
		fmt.Fprintf(&b, "share of each column in log omega: %s\n", strings.Join(shares, ", "))
		worth := r.likePresent()
		order := crossfit.Positions(len(worth))
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
		alike := collect(order, func(at int) string {
			return fmt.Sprintf("%s %.2f", ShortName(r.Blocks[at].Name), worth[at])
		})
		fmt.Fprintf(&b, "most like the present (1: alike): %s; least: %s\n", strings.Join(alike[:min(3, len(alike))], ", "),
			strings.Join(alike[max(0, len(alike)-2):], ", "))
	}
	return b.String() + r.noteLines()
}

// Title is the column's name; that of the label is marked.
func (c Contribution) Title() string {
	if c.Label {
		return c.Column + " (label)"
	}
	return c.Column
}

// timeLines says in how many places the tests over time found a difference; nothing for none.
func (r *Drift) timeLines() []string {
	var lines []string
	for _, in := range subjects {
		found := map[string]int{}
		for _, t := range r.Found() {
			if t.In == in {
				found[t.Against]++
			}
		}
		if len(found) == 0 {
			continue
		}
		most := ""
		if t := r.Tests.when(in); t.Against == Before {
			most = fmt.Sprintf(" (most: %s)", ShortName(r.Tests.Stretches[t.Stretch].Name))
		}
		line := fmt.Sprintf("over time, %s: of %d stretches %d differ from the one before%s, %d from the present", in,
			len(r.Tests.Stretches), found[Before], most, found[Present])
		lines = append(lines, line)
	}
	return lines
}
