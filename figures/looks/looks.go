// Package looks says how a series of a given name looks in every figure. Learners declare their looks, and figures draw
// them: neither knows the other.
package looks

import (
	"cmp"
	"slices"
)

// Look is the appearance that a series of a given name has in every figure.
type Look struct {
	Name  string // as in the CSV
	Label string // for people
	Color string // "#rrggbb"
	Dash  string // lengths of dashes and gaps in pixels, as "6 3"; empty for a solid line
}

// declared are the looks in the order in which tables list series. Lines of one chart differ in colour, also as
// simulated for red- and green-blindness (Machado, Oliveira and Fernandes, 2009), and in their dashes: in greys some
// colours are one, and for these eyes some are close. Two names share a look if they have the same role: Ours is Method
// 2, and plain SAC is the base that other agents are compared with, as Everything is.
var declared []Look

// Declare adds the look of a series, or replaces the one of the same name. Call it from a package's initialisation:
// looks are read without a lock.
func Declare(l Look) {
	if i := index(l.Name); i < len(declared) {
		declared[i] = l
		return
	}
	declared = append(declared, l)
}

// All returns what is declared.
func All() []Look { return slices.Clone(declared) }

// Of returns the look of a series. An unknown name is its own label, in dark grey: give such series colours of their
// own.
func Of(name string) Look {
	if i := index(name); i < len(declared) {
		return declared[i]
	}
	return Look{Name: name, Label: name, Color: "#4d4d4d"}
}

// Labels are the names of series for people.
func Labels(series ...string) []string {
	out := make([]string, len(series))
	for i, name := range series {
		out[i] = Of(name).Label
	}
	return out
}

// Compare orders names as they are declared, then the others by name.
func Compare(a, b string) int { return cmp.Or(index(a)-index(b), cmp.Compare(a, b)) }

// index is the place of a name in declared, len(declared) for unknown names.
func index(name string) int {
	if i := slices.IndexFunc(declared, func(l Look) bool { return l.Name == name }); i >= 0 {
		return i
	}
	return len(declared)
}
