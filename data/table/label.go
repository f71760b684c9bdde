package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gomlx/gomlx/support/xslices"
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

// Value is the number or the class of a row.
func (l *Label) Value(row int) float64 {
	if l.Target != nil {
		return l.Target[row]
	}
	return float64(l.Class[row])
}

// LabelKind is how a label is read.
type LabelKind string

// Kinds of labels.
const (
	AnyLabel   LabelKind = ""       // classes, except for numbers that are not whole or have more than 20 values
	Classes    LabelKind = "class"  // classes; numbers are their names
	Regression LabelKind = "number" // a number
)

// Limits of labels: of whole numbers that are classes without being asked, and of classes.
const autoClasses, mostClasses = 20, 1000

// Label reads a column as the label. Errors: no such column, text or times, a row without a label, a label that is
// constant, and more than 1,000 classes.
func (t *Data) Label(name string, kind LabelKind) (*Label, error) {
	c, err := t.complete(name, "label")
	switch {
	case err != nil:
		return nil, err
	case kind != AnyLabel && kind != Classes && kind != Regression:
		return nil, t.errorf(-1, name, "", "the label's kind is %q, which is neither %q, %q nor empty", kind, Classes, Regression)
	case c.Kind == Text || c.Kind == Time:
		return nil, t.errorf(-1, name, "name another column, or give --type COLUMN=category", "the label is a %s", c.Kind)
	case kind == Regression && c.Kind == Category:
		return nil, t.errorf(-1, name, "predict classes, or convert it", "the label is a category, not a number")
	}
	values, index := distinct(c.values)
	text := func(v float64) string {
		if c.Kind == Boolean {
			return strconv.FormatBool(v != 0)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	fraction := func(v float64) bool { return v != math.Trunc(v) }
	l, classes := &Label{Column: name}, len(c.Levels)+len(values)
	switch {
	case classes == 1:
		only := append(slices.Clone(c.Levels), xslices.Map(values, text)...)[0]
		return nil, t.errorf(-1, name, "name another column", "the label is %s in all rows", quote(only))
	case kind == Regression, kind == AnyLabel && c.Kind == Number &&
		(classes > autoClasses || slices.ContainsFunc(values, fraction)):
		l.Target = slices.Clone(c.values)
	case c.Note == roundedNote:
		return nil, t.errorf(-1, name, fmt.Sprintf("give --type %s=category", name),
			"two classes may be one, as the numbers have more digits than are kept")
	case classes > mostClasses:
		return nil, t.errorf(-1, name, "predict a number, name another column, or join classes",
			"the label has %d classes; at most %d are read", classes, mostClasses)
	case c.Kind == Category:
		l.Names = slices.Clone(c.Levels)
		l.Class = xslices.Map(c.code, func(code uint32) int32 { return int32(code) - 1 })
	default:
		l.Names, l.Class = xslices.Map(values, text), index
	}
	return l, nil
}

// LabelOf reads the label of some rows as if the table had no others, which are of class -1, or NaN.
func (t *Data) LabelOf(name string, kind LabelKind, rows []int) (*Label, error) {
	c, err := t.column(name)
	if err != nil {
		return nil, err
	}
	l, err := t.with([]*column{c}).Select(rows).Label(name, kind)
	if err != nil {
		return nil, err
	}
	some := *l
	if l.Target != nil {
		l.Target = slices.Repeat([]float64{math.NaN()}, t.rows)
	} else {
		l.Class = slices.Repeat([]int32{-1}, t.rows)
	}
	for i, row := range rows {
		if l.Target != nil {
			l.Target[row] = some.Target[i]
		} else {
			l.Class[row] = some.Class[i]
		}
	}
	return l, nil
}
