package table

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
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
	numbers, booleans, times int  // how many values are one
	signed                   int  // numbers with a sign of currency or percent, which do not count as numbers
	padded                   bool // a number has a leading zero
	identifiers              bool // a whole number has more digits than a float64
	length                   int  // of all values; -1 if they differ
	badNumber, badBoolean    spot // first value that is not one
	badTime, badFamily       spot
	naive, zoned, zone       spot // first time without a zone, with one, and with one of which nobody knows the offset
	endless                  spot // first NaN or infinity

	sign              rune // of the first signed number
	unsigned, badSign spot // first number without a sign, apart from 0, and with another one
	commas            int  // numbers if the decimal mark is the other one, comma or point
	comma             spot
	twoWays           spot // first number that is another one if the decimal mark is the other one
	oneWay            bool // a number with separators of thousands can be read in no other way
	marked            spot // first number with any marks
}

func (in *input) newGuess(name string) (g *guess, err error) {
	g = &guess{in: in, name: name, decimal: cmp.Or(in.o.Decimal, '.')}
	g.dates = dates{possible: allFamilies, location: in.o.Location, given: in.o.Layouts[name]}
	if g.dates.given == "" {
		return g, nil
	}
	if g.dates.layout, err = compile(g.dates.given); err != nil {
		return nil, &Error{Column: name, Problem: err.Error()}
	}
	return g, nil
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
		t, ok := g.dates.parse(b)
		g.addTime(t, ok, b, row, line)
	}
	v, padded, result := parseNumber(b, g.decimal)
	switch {
	case result == isNumber:
		g.numbers++
		g.padded = g.padded || padded
		g.identifiers = g.identifiers || math.Abs(v) > 1<<53 && !bytes.ContainsAny(b, ".,eE") && losesDigits(b, v)
		if v != 0 {
			g.unsigned.set(row, line, b)
		}
		if v != 0 && v != 1 {
			g.badBoolean.set(row, line, b)
		}
		if g.dates.layout == "" {
			g.badTime.set(row, line, b)
		}
		return
	case result == notFinite:
		g.numbers++
		g.endless.set(row, line, b)
	case !g.addMarked(b, row, line):
		g.badNumber.set(row, line, b)
	}
	if _, ok := parseBoolean(b); ok {
		g.booleans++
	} else {
		g.badBoolean.set(row, line, b)
	}
	if g.dates.layout != "" {
		return
	}
	possible, t := g.dates.matching(b)
	g.addTime(t, possible != 0, b, row, line)
	if left := g.dates.possible & possible; left != 0 {
		g.dates.possible = left
	} else if possible != 0 {
		g.badFamily.set(row, line, b)
	}
}

// addMarked adds a number with other marks than a decimal one. It returns false if it is none.
func (g *guess) addMarked(b []byte, row, line int) bool {
	v, sign, ok := parseMarked(b, g.decimal)
	other, otherSign, otherOK := g.otherwise(b)
	switch {
	case !ok && otherOK && otherSign == 0 && bytes.IndexByte(b, g.otherMark()) >= 0:
		g.commas++
		g.comma.set(row, line, b)
		return false
	case !ok:
		return false
	case otherOK && other != v:
		g.twoWays.set(row, line, b)
	case !otherOK:
		g.oneWay = true
	}
	g.marked.set(row, line, b)
	if sign == 0 {
		g.numbers++
		g.unsigned.set(row, line, b)
		return true
	}
	if g.signed++; g.signed == 1 {
		g.sign = sign
	} else if g.sign != sign {
		g.badSign.set(row, line, b)
	}
	return true
}

// otherMark is the decimal mark that the column does not have.
func (g *guess) otherMark() byte { return '.' + ',' - g.decimal }

// otherwise is the number that a text means with the other decimal mark.
func (g *guess) otherwise(b []byte) (v float64, sign rune, ok bool) {
	if v, _, result := parseNumber(b, g.otherMark()); result == isNumber {
		return v, 0, true
	}
	return parseMarked(b, g.otherMark())
}

// addTime adds a time, or a text that is none.
func (g *guess) addTime(t moment, ok bool, b []byte, row, line int) {
	if !ok {
		g.badTime.set(row, line, b)
		return
	}
	g.times++
	switch {
	case t.zone != "":
		g.zone.set(row, line, b)
	case t.zoned:
		g.zoned.set(row, line, b)
	default:
		g.naive.set(row, line, b)
	}
}

// at is an error at a spot.
func (g *guess) at(s spot, fix, problem string, args ...any) *Error {
	return &Error{Row: s.row, Line: s.line, Column: g.name, Problem: fmt.Sprintf(problem, args...), Fix: fix}
}

// number refuses a column that is not of finite numbers in one unit.
func (g *guess) number() *Error {
	switch mark := map[byte]string{',': "comma", '.': "point"}[g.otherMark()]; {
	case g.commas > g.values/2 || g.commas > 0 && g.commas+g.numbers == g.values:
		return g.at(g.comma, fmt.Sprintf("if it is one, give --decimal %c, otherwise mend it or set the type to category",
			g.otherMark()), "%s seems to have a decimal %s, which is not guessed", quote(g.comma.text), mark)
	case g.badNumber.row > 0:
		return g.at(g.badNumber, "mend it, leave it empty if it is missing, or set the kind to category",
			"%s is not a number%s", quote(g.badNumber.text), g.share(g.numbers))
	case g.endless.row > 0:
		return g.at(g.endless, "leave it empty if the value is missing"+mended([]byte(g.endless.text)),
			"%s is not a finite number", quote(g.endless.text))
	case g.badSign.row > 0:
		return g.at(g.badSign, "write all in one unit, or set the kind to category", "%s has another sign than %s before",
			quote(g.badSign.text), quote(g.marked.text))
	case g.sign == '%' && g.unsigned.row > 0:
		return g.at(g.unsigned, "write all with a percent sign or none, or set the kind to category",
			"%s has no percent sign, unlike %s", quote(g.unsigned.text), quote(g.marked.text))
	}
	return nil
}

// mended says which flag makes a number that is not finite missing. There is none for numbers that are too large.
func mended(text []byte) string {
	switch text = bytes.TrimLeft(text, "+-"); {
	case isInfinite(text):
		return ", or give --missing inf"
	case isNotFinite(text):
		return ", or give --missing NaN"
	}
	return ""
}

// numberNotes say how numbers with marks are read.
func (g *guess) numberNotes() []string {
	at, doubt := g.marked, ""
	if g.twoWays.row > 0 && !g.oneWay {
		at = g.twoWays
		other, _, _ := g.otherwise([]byte(at.text))
		doubt = fmt.Sprintf(" (with --decimal %c it would be %s)", g.otherMark(), short(other))
	}
	if at.row == 0 {
		return nil
	}
	v, _, _ := parseMarked([]byte(at.text), g.decimal)
	return []string{fmt.Sprintf("%s is read as %s%s", quote(at.text), short(v), doubt)}
}

// short is a number for a sentence.
func short(v float64) string {
	if math.Abs(v) < 1e21 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
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

// time refuses a column that is not of times, all written in one way. later is a problem only if the column is asked
// for times.
func (g *guess) time() (later, err *Error) {
	switch {
	case g.badTime.row > 0 && g.dates.layout != "":
		return nil, g.at(g.badTime, "mend it or the layout, or leave it empty", "%s is not a time of %s",
			quote(g.badTime.text), g.dates)
	case g.badTime.row > 0:
		return nil, g.at(g.badTime, "write it as 2006-01-02, give a layout, or set the kind to category",
			"%s is not a date or time%s", quote(g.badTime.text), g.share(g.times))
	case g.badFamily.row > 0:
		return nil, g.at(g.badFamily, "write all in the same way, or give a layout",
			"%s is not written as the times before (%s)", quote(g.badFamily.text), g.dates)
	case g.zone.row > 0:
		return g.at(g.zone, "give --zone, as America/New_York, if all times are of one, or write offsets as -05:00",
			"the name of the time zone in %s does not tell its offset", quote(g.zone.text)), nil
	case g.naive.row > 0 && g.zoned.row > 0:
		late := g.naive
		if g.zoned.row > g.naive.row {
			late = g.zoned
		}
		return nil, g.at(late, "write all with a time zone, or all without", "%s is a time %s, unlike those before",
			quote(late.text), map[bool]string{true: "with a zone", false: "without a zone"}[late == g.zoned])
	case g.dates.ambiguous():
		first := cmp.Or(g.naive, g.zoned)
		return g.at(first, "give a layout, %d/%m/%Y or %m/%d/%Y", "day and month cannot be told apart, as in %s",
			quote(first.text)), nil
	}
	return nil, nil
}

// verdict is what a column is.
type verdict struct {
	kind   Kind
	number bool     // of a category: it is a number if it has too many levels
	note   string   // how it is written, or why it is ignored
	notes  []string // on values that are changed
	later  *Error   // of Times
}

// resolve decides the kind. want is the user's, or "".
func (g *guess) resolve(want Kind) (v verdict, err *Error) {
	half := g.values / 2
	switch {
	case want != "":
	case g.dates.layout != "":
		want = Time
	case g.values == 0:
		return verdict{kind: Text, note: "no values"}, nil
	case g.commas > half, g.numbers > half, g.numbers+g.signed == g.values && g.number() == nil:
		switch want = Number; {
		case g.number() != nil:
		case g.padded && g.length > 0:
			return verdict{kind: Category, note: "numbers with leading zeros"}, nil
		case g.identifiers:
			return verdict{kind: Category, note: identifiersNote, notes: []string{identifiersNote}, number: true}, nil
		}
	case g.booleans == g.values:
		want = Boolean
	case g.times > half:
		if v.later, err = g.time(); v.later != nil {
			return verdict{kind: Text, note: "dates that are not clear: " + v.later.Problem, later: v.later}, nil
		}
		want = Time
	default:
		want = Category
	}
	switch v.kind = want; want {
	case Number:
		v.notes, err = g.numberNotes(), g.number()
	case Boolean:
		if g.badBoolean.row > 0 {
			err = g.at(g.badBoolean, "mend it, or set the kind to category", "%s is neither true nor false",
				quote(g.badBoolean.text))
		}
	case Time:
		v.note = g.dates.String()
		if v.later, err = g.time(); err == nil {
			err = v.later
		}
	}
	return v, err
}

// resolve decides the kind and prepares the column.
func (in *input) resolve(g *guess, rows int) (*builder, error) {
	v, err := g.resolve(in.o.Kinds[g.name])
	if err != nil {
		return nil, err
	}
	b := in.newBuilder(g.name, v.kind, rows)
	if v.number {
		b.values = make([]float64, rows)
	}
	b.decimal, b.dates, b.note, b.notes = g.decimal, g.dates, v.note, v.notes
	if b.problem = v.later; v.later != nil {
		v.later.File = in.name
	}
	return b, nil
}

// builder stores the values of a column.
type builder struct {
	*column
	in      *input
	decimal byte
	index   map[string]uint32
	bytes   int // of all levels
}

// Limits of the levels of a category. A column with more is text, if its kind was not given.
const (
	mostLevels     = 1 << 16
	mostLevelBytes = 16 << 20
)

// newBuilder prepares a column for rows values.
func (in *input) newBuilder(name string, kind Kind, rows int) *builder {
	b := &builder{column: &column{name: name, kind: kind, given: in.o.Kinds[name] != "", texts: map[string]int{}}, in: in}
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
	// Whether a text of a category means a missing value is decided at the end, by all of its levels.
	if (len(text) == 0 || b.kind != Category) && b.in.isMissing(text) {
		if len(text) > 0 {
			b.texts[string(text)]++
		}
		b.setMissing(i)
		return true
	}
	switch b.kind {
	case Number:
		v, _, result := parseNumber(text, b.decimal)
		ok = result == isNumber
		if !ok {
			v, _, ok = parseMarked(text, b.decimal)
		}
		b.values[i] = v
		return ok
	case Category:
		if b.values != nil {
			if v, _, result := parseNumber(text, b.decimal); result == isNumber {
				b.values[i] = v
			} else {
				b.values[i] = math.NaN()
			}
		}
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
		t, ok := b.dates.parse(text)
		b.values[i] = float64(t.micro)
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

// Notes on numbers that have more digits than float64.
const (
	identifiersNote = "identifiers: integers beyond 2^53"
	roundedNote     = "rounded: more digits than a float64 has"
)

// changed notes how the values differ from those of the file.
func (c *column) changed(note string) { c.note, c.notes = note, append(c.notes, note) }

// ignore makes a category a text, or a number if it is one.
func (b *builder) ignore() {
	b.kind, b.code, b.levels, b.index = Text, nil, nil, nil
	if b.note = "too many different texts for a category"; b.values != nil {
		b.kind, b.notes, b.missing = Number, nil, 0
		b.changed(roundedNote)
		for _, v := range b.values {
			if math.IsNaN(v) {
				b.missing++
			}
		}
	}
}

// finish sorts the levels and returns the column.
func (b *builder) finish() *column {
	if b.kind == Category {
		b.settle()
		if n := len(b.levels); n > 20 && n > (len(b.code)-b.missing)/2 && !b.given {
			b.ignore()
		} else {
			b.values = nil
		}
		b.index = nil
	}
	return b.column
}

// settle sorts the levels, so that they do not depend on the order of the rows, and makes missing those that mean it.
func (b *builder) settle() {
	counts := map[string]int{}
	b.recode(func(level string, n int) bool {
		counts[level] = n
		return true
	})
	b.recode(func(level string, n int) bool {
		keep := !b.in.isMissing([]byte(level)) || b.isLevel(level, counts)
		if !keep {
			b.texts[level], b.missing = n, b.missing+n
		}
		return keep
	})
}

// recode sorts the levels and drops those that are not to be kept; their rows have no value then. n: the rows of a
// level.
func (c *column) recode(keep func(level string, n int) bool) {
	counts, to := make([]int, len(c.levels)+1), make([]uint32, len(c.levels)+1)
	for _, code := range c.code {
		counts[code]++
	}
	codes := make(map[string]int, len(c.levels))
	for i, level := range c.levels {
		codes[level] = i + 1
	}
	c.levels = nil
	for _, level := range slices.Sorted(maps.Keys(codes)) {
		if code := codes[level]; keep(level, counts[code]) {
			c.levels = append(c.levels, level)
			to[code] = uint32(len(c.levels))
		}
	}
	for i, code := range c.code {
		c.code[i] = to[code]
	}
}

// isLevel says whether a text that usually means a missing value is a level of this column: None, if no other level has
// as many rows, and NA among codes of two letters, such as those of countries. counts: the rows of each level.
func (b *builder) isLevel(text string, counts map[string]int) bool {
	if b.in.o.Missing != nil {
		return false
	}
	others, pairs, largest := 0, 0, 0
	for level, n := range counts {
		if b.in.isMissing([]byte(level)) {
			continue
		}
		others++
		largest = max(largest, n)
		if len(level) == 2 && strings.Trim(level, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			pairs++
		}
	}
	const codes = 5 // fewer may be anything
	why := ""
	switch {
	case text == "None" && others > 0 && counts[text] > largest:
		why = "the most frequent one"
	case text == "NA" && pairs >= codes && 10*pairs >= 9*others:
		why = "as others are codes of two letters"
	default:
		return false
	}
	b.notes = append(b.notes, fmt.Sprintf("%s is a level, %s, in %s; if it means a missing value, give --missing %s",
		quote(text), why, plural(counts[text], "row"), text))
	return true
}
