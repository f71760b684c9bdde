package drift

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/replicate/runs"
	"tvps/replicate/tables"

	"github.com/gomlx/gomlx/support/xslices"
)

// judge puts the verdict together.
func (r *Result) judge() Verdict {
	v := Verdict{Sentence: r.Finding.Sentence, Drift: r.Finding.Drifting()}
	if len(v.Drift) == 0 {
		if t := r.Tests.when(""); t != nil {
			against, differs, stands := "the present", "differs", "one stretch stands out: look at"
			if t.In == tables.InBoth {
				differs = "differ"
			}
			different := map[int]bool{}
			for _, found := range r.Found() {
				different[found.Stretch] = true
			}
			if len(different) > 1 {
				stands = fmt.Sprintf("%d of %d stretches stand out: look first at", len(different), len(r.Tests.Stretches))
			}
			if t.Against == Before {
				against = "the time before"
			}
			v.Sentence += fmt.Sprintf(". But %s the rows from %s on, whose %s %s from %s (p %s)", stands,
				tables.ShortName(r.Tests.Stretches[t.Stretch].Name), t.In, differs, against, tables.PIs(t.Adjusted))
		}
		v.Sentence += "."
		return v
	}
	what, turns := tables.InX, tables.InX
	switch {
	case slices.Contains(v.Drift, tables.InRule):
		what, turns = tables.InRule, tables.InRule
	case !slices.Contains(v.Drift, tables.InX):
		what, turns = tables.InY, tables.InBoth
	}
	g := r.Joint
	if turns == tables.InX {
		g = r.Covariate
	}
	switch at, sharp := r.mapOf(turns).turn(r.Blocks); {
	case r.Finding.Of(what).Recurs(): // so it did not change once
	case r.Finding.Of(what).OnlyTimes() && g != nil && g.View.Cycle != nil && g.View.Waves == 0: // nor here
		v.Sentence += fmt.Sprintf(". The change of %s recurs by %s", what, g.View.Cycle.Name)
	case at == 0: // too weak for g, which is 0 then
		v.Sentence += fmt.Sprintf(". When %s changes is not seen by g", what)
	case sharp:
		v.Turn = r.Blocks[at].Name
		v.Sentence += fmt.Sprintf(". The change of %s seems strongest around %s", what, tables.ShortName(v.Turn))
	default:
		v.Sentence += fmt.Sprintf(". The change of %s is gradual", what)
	}
	for _, c := range r.Columns.List[:min(3, len(r.Columns.List))] {
		if v.Share >= 2./3 {
			break
		}
		v.Columns, v.Share = append(v.Columns, c.Column), v.Share+c.Share
	}
	switch {
	case v.Share == 0 && len(r.Finding.Columns) > 0: // too weak for g
		v.Columns = r.Finding.Columns
		itself := map[bool]string{true: " drifts by itself", false: " drift by themselves"}[len(v.Columns) == 1]
		v.Sentence += "; " + tables.Few(v.Columns, 3) + itself
	case v.Share > 0:
		verb := map[bool]string{true: "carries", false: "carry"}[len(v.Columns) == 1]
		v.Sentence += fmt.Sprintf("; %s %s %.0f%% of log omega", tables.Joined(v.Columns, "and"), verb, 100*v.Share)
	}
	v.Sentence += "."
	if slices.Max(r.likePresent()) < tables.Unlike {
		v.Sentence += " No earlier block is much like the last one."
	}
	return v
}

// String is the summary for a terminal. It opens with the verdict.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%d rows in %s of time, the first from %s on, the last from %s; %s\n", r.Verdict.Sentence, r.Rows,
		runs.Plural(len(r.Blocks), "block"), tables.ShortName(r.Blocks[0].Name), tables.ShortName(r.Blocks[len(r.Blocks)-1].Name), r.Contents)
	b.WriteString(r.Finding.Lines())
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
		order := xslices.Iota(0, len(worth))
		rows := slices.Sorted(slices.Values(xslices.Map(r.Blocks, func(b tables.Block) int { return b.Rows })))
		order = slices.DeleteFunc(order, func(at int) bool { return 4*r.Blocks[at].Rows < rows[len(rows)/2] }) // as a first hour
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
		alike := xslices.Map(order, func(at int) string {
			return fmt.Sprintf("%s %.2f", tables.ShortName(r.Blocks[at].Name), worth[at])
		})
		fmt.Fprintf(&b, "most like the present (1: alike): %s; least: %s\n", strings.Join(alike[:min(3, len(alike))], ", "),
			strings.Join(alike[max(0, len(alike)-2):], ", "))
	}
	return b.String() + r.NoteLines()
}

// timeLines says in how many places the tests over time found a difference; nothing for none.
func (r *Result) timeLines() []string {
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
			most = fmt.Sprintf(" (most: %s)", tables.ShortName(r.Tests.Stretches[t.Stretch].Name))
		}
		few := 0
		for _, s := range r.Tests.Stretches {
			if s.Rows < leastTested {
				few++
			}
		}
		line := fmt.Sprintf("over time, %s: of %d stretches %d differ from the one before%s, %d from the present", in,
			len(r.Tests.Stretches)-few, found[Before], most, found[Present])
		if few > 0 {
			line += fmt.Sprintf("; %d of fewer than %d rows not compared", few, leastTested)
		}
		lines = append(lines, line)
	}
	return lines
}
