package table

import (
	"math"
	"slices"
	"strconv"
)

// Label is what a model predicts: classes, or a number.
type Label struct {
	Column string
	Names  []string  // of the classes, sorted; nil if the label is a number
	Class  []int32   // the class of every row
	Target []float64 // the number of every row
}

// Classes is the number of classes, 0 if the label is a number.
func (l *Label) Classes() int { return len(l.Names) }

// LabelKind is how a label is read.
type LabelKind string

// Kinds of labels.
const (
	AnyLabel   LabelKind = ""       // classes, except for numbers that are not whole or have more than 20 values
	Classes    LabelKind = "class"  // classes; numbers are their names
	Regression LabelKind = "number" // a number
)

// Limits of labels.
const (
	autoClasses = 20   // of whole numbers that are classes without being asked
	mostClasses = 1000 // of any label
)

// Label reads a column as the label. Errors: no such column, text or times, a row without a label, a label that is
// constant, and more than 1,000 classes.
func (t *Table) Label(name string, kind LabelKind) (*Label, error) {
	c, err := t.complete(name, "label")
	switch {
	case err != nil:
		return nil, err
	case c.kind == Text || c.kind == Time:
		return nil, t.errorf(-1, name, "name another column, or set its kind", "the label is a %s", c.kind)
	case kind == Regression && c.kind == Category:
		return nil, t.errorf(-1, name, "predict classes, or convert it", "the label is a category, not a number")
	}
	values := slices.Compact(slices.Sorted(slices.Values(c.values)))
	text := func(v float64) string {
		if c.kind == Boolean {
			return strconv.FormatBool(v != 0)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	fraction := func(v float64) bool { return v != math.Trunc(v) }
	l, classes := &Label{Column: name}, len(c.levels)+len(values)
	switch {
	case classes == 1:
		only := append(slices.Clone(c.levels), collect(values, text)...)[0]
		return nil, t.errorf(-1, name, "name another column", "the label is %s in all rows", quote(only))
	case kind == Regression, kind == AnyLabel && c.kind == Number &&
		(classes > autoClasses || slices.ContainsFunc(values, fraction)):
		l.Target = slices.Clone(c.values)
	case classes > mostClasses:
		return nil, t.errorf(-1, name, "predict a number, name another column, or join classes",
			"the label has %d classes; at most %d are read", classes, mostClasses)
	case c.kind == Category:
		l.Names = slices.Clone(c.levels)
		l.Class = collect(c.code, func(code uint32) int32 { return int32(code) - 1 })
	default:
		l.Names = collect(values, text)
		l.Class = collect(c.values, func(v float64) int32 {
			at, _ := slices.BinarySearch(values, v)
			return int32(at)
		})
	}
	return l, nil
}
