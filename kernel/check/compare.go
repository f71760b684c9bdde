package check

import (
	"fmt"
	"math"
)

// Kinds of difference.
const (
	Off     = "off"          // the difference is larger than the tolerance, or a value is not a number
	Missing = "missing"      // only the golden has it
	Extra   = "extra"        // only the notebook, or the figure, has it
	Twice   = "twice"        // it is there twice
	NoRule  = "no tolerance" // there is no rule for it
)

// Difference is one number that differs between a notebook and its golden file.
type Difference struct {
	What      string // Off, Missing, Extra, Twice or NoRule
	Cell      int    // the code cell, counted from 1
	Name      string
	Golden    float64 // NaN if there is none
	Value     float64 // NaN if there is none
	Tolerance float64 // absolute; NaN if there is none
}

// compare lists all differences: first for the notebook's numbers, in their order, then for missing numbers. Numbers
// are matched by name, so a moved cell is not a difference.
func compare(g golden, got []number) []Difference {
	want, seen := map[string]number{}, map[string]float64{}
	for _, n := range g.numbers() {
		want[n.Name] = n
	}
	var all []Difference
	for _, n := range got {
		d := Difference{Cell: n.Cell, Name: n.Name, Golden: math.NaN(), Value: n.Value, Tolerance: math.NaN()}
		if before, twice := seen[n.Name]; twice {
			if d.What = Twice; before != n.Value { // the same table may be shown twice
				all = append(all, d)
			}
			continue
		}
		seen[n.Name] = n.Value
		golden, known := want[n.Name]
		rule, ruled := g.rule(n.Name)
		if known {
			d.Golden = golden.Value
		}
		if known && ruled {
			d.Tolerance = rule.tolerance(golden.Value)
		}
		switch {
		case !known:
			d.What = Extra
		case !ruled:
			d.What = NoRule
		case !Within(d.Value, d.Golden, d.Tolerance):
			d.What = Off
		default:
			continue
		}
		all = append(all, d)
	}
	for _, n := range g.numbers() {
		if _, ok := seen[n.Name]; !ok {
			all = append(all, Difference{Missing, n.Cell, n.Name, n.Value, math.NaN(), math.NaN()})
		}
	}
	return all
}

// updated returns the golden for the numbers got. It keeps the rules of g, and the values of numbers that are within
// their tolerance, so the diff of the files shows only real changes.
func updated(g golden, got []number) (golden, error) {
	if len(g.Tolerances) == 0 {
		g.Tolerances = defaults
	}
	off := map[string]bool{}
	for _, d := range compare(g, got) {
		if off[d.Name] = true; d.What == Twice {
			return golden{}, fmt.Errorf("code cell %d emits %q, which was emitted before with another value: "+
				"give it another name", d.Cell, d.Name)
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
		if _, ok := g.rule(n.Name); !ok {
			return golden{}, fmt.Errorf("no rule under \"tolerances\" matches %q; add one, or a last rule for \"*\"", n.Name)
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
