package check

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"tvps/ci"
)

// Difference is one number in which a notebook differs from its golden.
type Difference struct {
	What      string // of package ci: Off, Missing, Extra, Twice or NoRule
	Cell      int    // the code cell, counted from 1
	Name      string
	Golden    float64 // NaN where there is none
	Value     float64 // NaN where there is none
	Tolerance float64 // absolute; NaN where there is none
}

// compare lists every difference: first of the numbers of the notebook, in its order, then
// those that it lacks. A cell that has moved is no difference.
func compare(g golden, got []number) []Difference {
	want, seen := map[string]number{}, map[string]float64{}
	for _, n := range g.numbers() {
		want[n.Name] = n
	}
	var all []Difference
	for _, n := range got {
		d := Difference{Cell: n.Cell, Name: n.Name, Golden: math.NaN(), Value: n.Value, Tolerance: math.NaN()}
		if before, twice := seen[n.Name]; twice {
			if d.What = ci.Twice; before != n.Value { // the same table shown again is no harm
				all = append(all, d)
			}
			continue
		}
		seen[n.Name] = n.Value
		if d.What = judge(&d, g, want); d.What != "" {
			all = append(all, d)
		}
	}
	for _, n := range g.numbers() {
		if _, ok := seen[n.Name]; !ok {
			all = append(all, Difference{ci.Missing, n.Cell, n.Name, n.Value, math.NaN(), math.NaN()})
		}
	}
	return all
}

// judge fills in d's golden and tolerance and says what is wrong, or "".
func judge(d *Difference, g golden, want map[string]number) string {
	n, ok := want[d.Name]
	if !ok {
		return ci.Extra
	}
	d.Golden = n.Value
	bound, ok := g.bound(d.Name)
	if !ok {
		return ci.NoRule
	}
	if d.Tolerance = bound.Tolerance(n.Value); !ci.Within(d.Value, d.Golden, d.Tolerance) {
		return ci.Off
	}
	return ""
}

// updated is the golden that got agrees with. Its rules stay, and so do the numbers that are
// within their tolerance: what differs between the files is what has changed.
func updated(g golden, got []number) (golden, error) {
	if len(g.Tolerances) == 0 {
		g.Tolerances = defaults
	}
	off := map[string]bool{}
	for _, d := range compare(g, got) {
		if off[d.Name] = true; d.What == ci.Twice {
			return g, fmt.Errorf("code cell %d emits %q, which has another value before: give it another name", d.Cell, d.Name)
		}
	}
	old := map[string]float64{}
	for _, n := range g.numbers() {
		old[n.Name] = n.Value
	}
	g.Cells = map[int]map[string]float64{}
	done := map[string]bool{}
	for _, n := range got {
		if done[n.Name] {
			continue
		}
		done[n.Name] = true
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
			return g, fmt.Errorf("code cell %d emits %q as %v, which cannot be a golden", n.Cell, n.Name, n.Value)
		}
		if _, ok := g.bound(n.Name); !ok {
			return g, fmt.Errorf("no rule under \"tolerances\" is for %q; a last rule for \"*\" is for all others", n.Name)
		}
		if !off[n.Name] {
			n.Value = old[n.Name]
		}
		if g.Cells[n.Cell] == nil {
			g.Cells[n.Cell] = map[string]float64{}
		}
		g.Cells[n.Cell][n.Name] = n.Value
	}
	return g, nil
}

// Report writes one line for each difference.
func Report(w io.Writer, differences []Difference) error {
	if len(differences) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "what\tcell\tname\tgolden\tvalue\ttolerance")
	for _, d := range differences {
		value := text(d.Value)
		if d.What != ci.Missing && math.IsNaN(d.Value) {
			value = "NaN"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", d.What, d.Cell, d.Name, text(d.Golden), value, text(d.Tolerance))
	}
	return table.Flush()
}

func text(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.6g", v)
}
