package check

import (
	"fmt"
	"math"
)

// Kinds of difference.
const (
	Off     = "off"     // the difference is larger than the tolerance, or a value is not a number
	Missing = "missing" // only the file, or the golden, has it
	Extra   = "extra"   // only the run, or the figure, has it
)

// Difference is one number that differs between the outputs in a notebook's file and those of a run.
type Difference struct {
	What      string // Off, Missing or Extra
	Cell      int    // the code cell, counted from 1
	Name      string
	Was, Now  float64 // in the file and in the run; NaN if there is none
	Tolerance float64 // absolute; NaN unless What is Off
}

// verify returns an error if a name has two values in a run, or no tolerance.
func verify(run []number, rules []rule) error {
	values := map[string]float64{}
	for _, n := range run {
		if before, twice := values[n.Name]; twice && before != n.Value { // the same table may be shown twice
			return fmt.Errorf("code cell %d emits %q, which was emitted before with another value: give it another name",
				n.Cell, n.Name)
		}
		values[n.Name] = n.Value
		if _, ok := ruleFor(rules, n.Name); !ok {
			return fmt.Errorf("no rule under \"tolerances\" in its metadata %q matches %q; add one, or a last rule for \"*\"",
				metadataKey, n.Name)
		}
	}
	return nil
}

// compare lists all differences: first of the numbers in the file, in their order, then those that only the run has.
// Numbers of the same name are compared cell by cell, because --update replaces the outputs of whole cells.
func compare(file, run []number, rules []rule) []Difference {
	type place struct {
		cell int
		name string
	}
	values, stored := map[place]float64{}, map[place]bool{}
	for _, n := range run {
		values[place{n.Cell, n.Name}] = n.Value
	}
	var all []Difference
	for _, n := range file {
		at := place{n.Cell, n.Name}
		stored[at] = true
		value, ok := values[at]
		r, _ := ruleFor(rules, n.Name)
		if tolerance := r.tolerance(n.Value); !ok {
			all = append(all, Difference{Missing, n.Cell, n.Name, n.Value, math.NaN(), math.NaN()})
		} else if !Within(value, n.Value, tolerance) {
			all = append(all, Difference{Off, n.Cell, n.Name, n.Value, value, tolerance})
		}
	}
	for _, n := range run {
		if at := (place{n.Cell, n.Name}); !stored[at] {
			stored[at] = true // it may be emitted twice
			all = append(all, Difference{Extra, n.Cell, n.Name, math.NaN(), n.Value, math.NaN()})
		}
	}
	return all
}
