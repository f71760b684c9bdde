package drift

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"tvps/replicate/own"
)

// Verdict is the answer in one sentence, and what it is made of.
type Verdict struct {
	Sentence string   `json:"sentence"`
	Drift    []string `json:"drift"`             // questions answered with yes
	Turn     string   `json:"turn,omitempty"`    // the block at whose begin it changed most; empty: gradually
	Columns  []string `json:"columns,omitempty"` // that carry most of the drift
	Share    float64  `json:"share,omitempty"`   // of these columns
}

// judge puts the verdict together.
func (m *measurement) judge() Verdict {
	var v Verdict
	var yes, no []string
	for _, q := range m.Questions {
		if q.Drift {
			v.Drift = append(v.Drift, q.Name)
			yes = append(yes, fmt.Sprintf("%s (p %s)", q.Name, pIs(q.Holm)))
		} else {
			no = append(no, q.Name)
		}
	}
	if len(yes) == 0 {
		v.Sentence = fmt.Sprintf("drift: none found in %s (smallest p %s)", joined(no, "or"), pIs(m.smallestP()))
		if t := m.Tests.strongest(); t != nil {
			against := "the present"
			if t.Against == Before {
				against = "the one before"
			}
			v.Sentence += fmt.Sprintf(", but tests over time find it in %s, most in %s against %s (p %s): g missed it", t.In,
				own.ShortName(m.Tests.Stretches[t.Stretch].Name), against, pIs(t.Adjusted))
		}
		return v
	}
	sentence := "drift: in " + joined(yes, "and")
	if len(no) > 0 {
		sentence += ", not in " + joined(no, "or")
	}
	what, turns := "x", m.mapOf(InX)
	switch {
	case slices.Contains(v.Drift, InRule):
		what, turns = "the rule", m.mapOf(InRule)
	case !slices.Contains(v.Drift, InX):
		what, turns = "y", m.mapOf(InBoth)
	}
	if at, sharp := turns.turn(); sharp {
		v.Turn = m.Blocks[at].Name
		sentence += fmt.Sprintf("; %s changed most around %s", what, own.ShortName(v.Turn))
	} else {
		sentence += fmt.Sprintf("; %s changed gradually", what)
	}
	for _, c := range m.Columns.List[:min(3, len(m.Columns.List))] {
		if v.Share >= 2./3 {
			break
		}
		v.Columns, v.Share = append(v.Columns, c.Column), v.Share+c.Share
	}
	if v.Share > 0 {
		verb := "carry"
		if len(v.Columns) == 1 {
			verb = "carries"
		}
		sentence += fmt.Sprintf("; %s %s %.0f%% of all drift", joined(v.Columns, "and"), verb, 100*v.Share)
	}
	v.Sentence = sentence
	return v
}

func (r *Result) smallestP() float64 {
	p := 1.
	for _, q := range r.Questions {
		p = min(p, q.Holm)
	}
	return p
}

// joined is "a", "a and b" or "a, b and c".
func joined(list []string, and string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + and + " " + list[last]
}

// pText is a probability with three decimals, as ".012".
func pText(p float64) string {
	if p < .0005 {
		return "< .001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0")
}

// pIs is a probability as "= .012" or "< .001".
func pIs(p float64) string {
	if text := pText(p); text[0] == '<' {
		return text
	}
	return "= " + pText(p)
}

// yesNo is a verdict as a word.
func yesNo(drift bool) string {
	if drift {
		return "yes"
	}
	return "no"
}

// String is the summary for a terminal. The verdict is its last line.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows in %d blocks of time, %s to %s, %s\n", r.Rows, len(r.Blocks), own.ShortName(r.Blocks[0].Name),
		own.ShortName(r.Blocks[len(r.Blocks)-1].Name), r.about)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "drift in\tloss\twithout drift\tp\tp (Holm)\t\n")
	for _, q := range r.Questions {
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%s\t%s\t%s\n", q.Name, q.Loss, q.Null, pText(q.P), pText(q.Holm), yesNo(q.Drift))
	}
	w.Flush()
	for _, line := range r.timeLines() {
		fmt.Fprintf(&b, "%s\n", line)
	}
	fmt.Fprintf(&b, "columns, by their share of log omega at %s:\n", own.ShortName(r.present().Name))
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range r.Columns.List[:min(5, len(r.Columns.List))] {
		fmt.Fprintf(w, "  %s\t%3.0f%%\t%s\n", c.title(), 100*c.Share, strings.Repeat("#", int(math.Round(30*c.Share))))
	}
	w.Flush()
	fmt.Fprintf(&b, "most like the present: %s; least: %s\n", r.worthText(r.alike()[:min(3, len(r.Blocks)-1)]),
		r.worthText(r.alike()[len(r.Blocks)-2:]))
	for _, note := range slices.Concat(r.Schema.Notes, r.Notes) {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String() + r.Verdict.Sentence + "\n"
}

// title is the column's name; that of the label is marked.
func (c Contribution) title() string {
	if c.Label {
		return c.Column + " (label)"
	}
	return c.Column
}

// timeLines says in how many places the tests over time found drift.
func (r *Result) timeLines() []string {
	var lines []string
	for _, in := range r.Tests.subjects() {
		var found, all [2]int
		for _, t := range r.Tests.List {
			if t.In != in {
				continue
			}
			against := 0
			if t.Against == Present {
				against = 1
			}
			all[against]++
			if t.Drift {
				found[against]++
			}
		}
		line := fmt.Sprintf("over time, in %s: %d of %d stretches differ from the one before, %d of %d from the present",
			in, found[0], all[0], found[1], all[1])
		if t := r.Tests.when(in); t != nil && t.Against == Before {
			line += fmt.Sprintf("; most: %s (MMD² %.3f)", own.ShortName(r.Tests.Stretches[t.Stretch].Name), t.MMD2)
		}
		lines = append(lines, line)
	}
	return lines
}

// subjects lists what was tested.
func (t *Tests) subjects() []string {
	var out []string
	for _, test := range t.List {
		if !slices.Contains(out, test.In) {
			out = append(out, test.In)
		}
	}
	return out
}

// present is the last block.
func (r *Result) present() Block { return r.Blocks[len(r.Blocks)-1] }

// alike lists the blocks of the past by falling worth at the present.
func (r *Result) alike() []int {
	worth := r.whole().Worth[len(r.Blocks)-1]
	order := make([]int, len(r.Blocks)-1)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return order
}

// worthText lists blocks with their worth at the present.
func (r *Result) worthText(blocks []int) string {
	var parts []string
	for _, b := range blocks {
		parts = append(parts, fmt.Sprintf("%s %.2f", own.ShortName(r.Blocks[b].Name), r.whole().Worth[len(r.Blocks)-1][b]))
	}
	return strings.Join(parts, ", ")
}
