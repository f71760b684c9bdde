package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// spot is where a value was found first.
type spot struct {
	row, line int // from 1; row 0: nowhere
	text      string
}

func (s *spot) set(row, line int, text []byte) {
	if s.row == 0 {
		*s = spot{row, line, string(text[:min(len(text), 200)])}
	}
}

// guess collects, over all texts of a column, what the column may be.
type guess struct {
	in      *input
	name    string
	decimal byte
	dates   dates

	values, missing          int
	numbers, booleans, times int // how many values are one
	naive, zoned             spot
	badNumber, badBoolean    spot // first value that is not one
	badTime, badFamily       spot
	endless                  spot // first NaN or infinity
	commas                   int  // decimal commas
	padded                   bool // a number has a leading zero
	length                   int  // of all values; -1 if they differ
}

func (in *input) newGuess(name string) *guess {
	g := &guess{in: in, name: name, decimal: '.'}
	g.dates = dates{families: allFamilies, location: in.o.Location}
	if in.o.Decimal != 0 {
		g.decimal = in.o.Decimal
	}
	return g
}

// add adds a trimmed text.
func (g *guess) add(b []byte, row, line int) {
	if g.in.isMissing(b) {
		g.missing++
		return
	}
	g.values++
	switch {
	case g.values == 1:
		g.length = len(b)
	case g.length != len(b):
		g.length = -1
	}
	if g.dates.layout != "" {
		if _, zoned, ok := g.dates.parse(b); ok {
			g.times++
			g.zone(zoned, b, row, line)
		} else {
			g.badTime.set(row, line, b)
		}
	}
	v, padded, result := parseNumber(b, g.decimal)
	switch result {
	case isNumber:
		g.numbers++
		g.padded = g.padded || padded
		if v != 0 && v != 1 {
			g.badBoolean.set(row, line, b)
		}
		if g.dates.layout == "" {
			g.badTime.set(row, line, b)
		}
		return
	case notFinite:
		g.numbers++
		g.endless.set(row, line, b)
	default:
		g.badNumber.set(row, line, b)
		if isDecimalComma(b) {
			g.commas++
		}
	}
	if _, ok := parseBoolean(b); ok {
		g.booleans++
	} else {
		g.badBoolean.set(row, line, b)
	}
	if g.dates.layout != "" {
		return
	}
	families, zoned := g.dates.matching(b)
	if families == 0 {
		g.badTime.set(row, line, b)
		return
	}
	g.times++
	g.zone(zoned, b, row, line)
	if left := g.dates.families & families; left != 0 {
		g.dates.families = left
	} else {
		g.badFamily.set(row, line, b)
	}
}

func (g *guess) zone(zoned bool, b []byte, row, line int) {
	if zoned {
		g.zoned.set(row, line, b)
	} else {
		g.naive.set(row, line, b)
	}
}

// at is an error at a spot.
func (g *guess) at(s spot, fix, problem string, args ...any) *Error {
	return &Error{Row: s.row, Line: s.line, Column: g.name, Problem: fmt.Sprintf(problem, args...), Fix: fix}
}

// number refuses a column that is not of finite numbers.
func (g *guess) number() *Error {
	switch {
	case g.commas > g.values/2:
		return g.at(g.badNumber, "set the decimal mark to a comma, or the kind to category",
			"%s has a decimal comma, which is not guessed", quote(g.badNumber.text))
	case g.badNumber.row > 0:
		return g.at(g.badNumber, "mend it, leave it empty if it is missing, or set the kind to category",
			"%s is not a number%s", quote(g.badNumber.text), g.share(g.numbers))
	case g.endless.row > 0:
		return g.at(g.endless, "leave it empty if the value is missing, or name it as a text of missing values",
			"%s is not a finite number", quote(g.endless.text))
	}
	return nil
}

// share is ", as 3 of 4 other values are".
func (g *guess) share(n int) string {
	switch others := g.values - 1; {
	case n == 0:
		return ""
	case n >= others:
		return ", as all other values are"
	default:
		return fmt.Sprintf(", as %d of %d other values are", n, others)
	}
}

// time refuses a column that is not of times, all written in one way.
func (g *guess) time() *Error {
	switch {
	case g.badTime.row > 0 && g.dates.layout != "":
		return g.at(g.badTime, "mend it or the layout, or leave it empty", "%s is not a time of %s", quote(g.badTime.text),
			g.dates)
	case g.badTime.row > 0:
		return g.at(g.badTime, "write it as 2006-01-02, give a layout, or set the kind to category",
			"%s is not a date or time%s", quote(g.badTime.text), g.share(g.times))
	case g.badFamily.row > 0:
		return g.at(g.badFamily, "write all in the same way, or give a layout",
			"%s is not written as the times before (%s)", quote(g.badFamily.text), g.dates)
	case g.naive.row > 0 && g.zoned.row > 0:
		late := g.naive
		if g.zoned.row > g.naive.row {
			late = g.zoned
		}
		return g.at(late, "write all with a time zone, or all without", "%s is a time %s, unlike those before",
			quote(late.text), map[bool]string{true: "with a zone", false: "without a zone"}[late == g.zoned])
	}
	return nil
}

// ambiguity is the error of dates whose day and month cannot be told apart.
func (g *guess) ambiguity() *Error {
	return g.at(g.naive, "give a layout, %d/%m/%Y or %m/%d/%Y", "day and month cannot be told apart, as in %s",
		quote(g.naive.text))
}

// resolve decides the kind. want is the user's, or "".
func (g *guess) resolve(want Kind) (kind Kind, note string, later, err *Error) {
	if want == "" && g.dates.layout != "" {
		want = Time
	}
	switch want {
	case Number:
		return Number, "", nil, g.number()
	case Category, Text:
		return want, "", nil, nil
	case Boolean:
		if g.badBoolean.row > 0 {
			return "", "", nil, g.at(g.badBoolean, "mend it, or set the kind to category", "%s is neither true nor false",
				quote(g.badBoolean.text))
		}
		return Boolean, "", nil, nil
	case Time:
		if err := g.time(); err != nil {
			return "", "", nil, err
		}
		if g.dates.ambiguous() {
			return "", "", nil, g.ambiguity()
		}
		return Time, g.dates.String(), nil, nil
	}
	half := g.values / 2
	switch {
	case g.values == 0:
		return Text, "no values", nil, nil
	case g.commas > half:
		return "", "", nil, g.number()
	case g.numbers > half:
		if err := g.number(); err != nil {
			return "", "", nil, err
		}
		if g.padded && g.length > 0 {
			return Category, "numbers with leading zeros", nil, nil
		}
		return Number, "", nil, nil
	case g.booleans == g.values:
		return Boolean, "", nil, nil
	case g.times > half:
		if err := g.time(); err != nil {
			return "", "", nil, err
		}
		if g.dates.ambiguous() {
			return Text, "dates with day and month that cannot be told apart; give a layout", g.ambiguity(), nil
		}
		return Time, g.dates.String(), nil, nil
	}
	return Category, "", nil, nil
}

// builder stores the values of a column.
type builder struct {
	*column
	in      *input
	decimal byte
	index   map[string]uint32
	bytes   int // of all levels
	given   bool
}

// Limits of the levels of a category. A column with more is text, if its kind was not given.
const (
	mostLevels     = 1 << 16
	mostLevelBytes = 16 << 20
)

// newBuilder prepares a column for rows values.
func (in *input) newBuilder(name string, kind Kind, rows int) *builder {
	b := &builder{column: &column{name: name, kind: kind}, in: in}
	switch kind {
	case Number, Boolean, Time:
		b.values = make([]float64, rows)
	case Category:
		b.code = make([]uint32, rows)
		b.index = map[string]uint32{}
	case Text:
	}
	return b
}

// setMissing stores a missing value.
func (b *builder) setMissing(i int) {
	if b.missing++; b.values != nil {
		b.values[i] = math.NaN()
	}
}

// set stores a trimmed text. ok is false if it is not of the column's kind: the file has changed.
func (b *builder) set(i int, text []byte) (ok bool) {
	if b.in.isMissing(text) {
		b.setMissing(i)
		return true
	}
	switch b.kind {
	case Number:
		v, _, result := parseNumber(text, b.decimal)
		b.values[i] = v
		return result == isNumber
	case Category:
		return b.setLevel(i, text)
	case Boolean:
		value, ok := parseBoolean(text)
		if !ok {
			v, _, result := parseNumber(text, b.decimal)
			value, ok = v == 1, result == isNumber && (v == 0 || v == 1)
		}
		if value {
			b.values[i] = 1
		}
		return ok
	case Time:
		micro, _, ok := b.dates.parse(text)
		b.values[i] = float64(micro)
		return ok
	}
	return true
}

// setLevel stores a category. A column with too many levels becomes text.
func (b *builder) setLevel(i int, text []byte) bool {
	if b.kind != Category {
		return true
	}
	code, ok := b.index[string(text)]
	if !ok {
		level := string(text)
		if b.bytes += len(level); !b.given && (len(b.levels) == mostLevels || b.bytes > mostLevelBytes) {
			b.ignore()
			return true
		}
		b.levels = append(b.levels, level)
		code = uint32(len(b.levels))
		b.index[level] = code
	}
	b.code[i] = code
	return true
}

// ignore makes a category a text.
func (b *builder) ignore() {
	b.kind, b.code, b.levels, b.index = Text, nil, nil, nil
	b.note = "too many different texts for a category"
}

// finish sorts the levels and returns the column.
func (b *builder) finish() *column {
	if b.kind == Category {
		values := len(b.code) - b.missing
		if n := len(b.levels); n > 20 && n > values/2 && !b.given {
			b.ignore()
		} else {
			b.sortLevels()
		}
		b.index = nil
	}
	return b.column
}

// sortLevels sorts the levels: they do not depend on the order of the rows.
func (b *builder) sortLevels() {
	order := make([]int, len(b.levels))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(b.levels[i], b.levels[j]) })
	sorted, to := make([]string, len(order)), make([]uint32, len(order)+1)
	for at, i := range order {
		sorted[at], to[i+1] = b.levels[i], uint32(at+1)
	}
	b.levels = sorted
	for i, code := range b.code {
		b.code[i] = to[code]
	}
}
