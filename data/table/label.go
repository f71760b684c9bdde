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
	c, err := t.column(name)
	if err != nil {
		return nil, err
	}
	if kind != AnyLabel && kind != Classes && kind != Regression {
		return nil, &Error{File: t.file, Problem: "label kind " + quote(string(kind)) + " is neither class nor number"}
	}
	switch {
	case c.problem != nil:
		return nil, c.problem
	case c.kind == Text || c.kind == Time:
		return nil, t.errorf(-1, name, "name another column, or set its kind", "the label is a %s", c.kind)
	case kind == Regression && c.kind == Category:
		return nil, t.errorf(-1, name, "predict classes, or convert it", "the label is a category, not a number")
	}
	if rows := t.Missing(name); rows != nil {
		return nil, t.errorf(rows[0], name, "fill it in, or remove the row", "the label is missing")
	}
	constant := func(value string) error {
		return t.errorf(-1, name, "name another column", "the label is %s in all rows", quote(value))
	}
	l := &Label{Column: name}
	if c.kind == Category {
		if len(c.levels) == 1 {
			return nil, constant(c.levels[0])
		}
		if len(c.levels) > mostClasses {
			return nil, t.errorf(-1, name, "name another column, or join classes", "the label has %d classes; at most %d "+
				"are read", len(c.levels), mostClasses)
		}
		l.Names, l.Class = slices.Clone(c.levels), make([]int32, t.rows)
		for i, code := range c.code {
			l.Class[i] = int32(code) - 1
		}
		return l, nil
	}
	target := make([]float64, t.rows)
	whole := true
	for i := range target {
		target[i] = c.number(i)
		whole = whole && target[i] == math.Trunc(target[i])
	}
	values := slices.Compact(slices.Sorted(slices.Values(target)))
	if len(values) == 1 {
		return nil, constant(strconv.FormatFloat(values[0], 'g', -1, 64))
	}
	if kind == Regression || kind == AnyLabel && c.kind == Number && (!whole || len(values) > autoClasses) {
		l.Target = target
		return l, nil
	}
	if len(values) > mostClasses {
		return nil, t.errorf(-1, name, "predict a number, or join classes", "the label has more than %d classes",
			mostClasses)
	}
	l.Class = make([]int32, t.rows)
	for i, v := range target {
		at, _ := slices.BinarySearch(values, v)
		l.Class[i] = int32(at)
	}
	for _, v := range values {
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if c.kind == Boolean {
			text = strconv.FormatBool(v != 0)
		}
		l.Names = append(l.Names, text)
	}
	return l, nil
}
