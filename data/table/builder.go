package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// builder stores the values of a column.
type builder struct {
	*column
	in    *input
	guess *guess // what its texts may be; nil if they are levels
	index map[string]uint32
	bytes int // of all levels
	// How often a text that usually means a missing value is in quotes.
	quoted map[string]int
}

// Limits of the levels of a category. A column with more is text, if its kind was not given.
const (
	mostLevels     = 1 << 16
	mostLevelBytes = 16 << 20
)

// newBuilder prepares a column for rows values.
func (in *input) newBuilder(name string, kind Kind, rows int) *builder {
	b := &builder{column: &column{name: name, kind: kind, given: in.o.Kinds[name] != "", texts: map[string]int{}}, in: in,
		quoted: map[string]int{}}
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

// set stores a trimmed text, or says why it is not of the column's kind.
func (b *builder) set(i int, text []byte) (e *Error) {
	// Whether a text of a category means a missing value is decided at the end, by all of its levels.
	if (len(text) == 0 || b.kind != Category) && b.in.isMissing(text) {
		if len(text) > 0 {
			b.texts[string(text)]++
		}
		b.setMissing(i)
		return nil
	}
	v, ok := math.NaN(), false
	switch b.kind {
	case Number:
		v, e = b.guess.number(text)
	case Boolean:
		if v, ok = booleans[strings.ToLower(string(text))]; !ok {
			e = refused(text, "is neither true nor false", "mend it, or set the kind to category")
		}
	case Time:
		v, e = b.guess.moment(text)
	case Category:
		if b.setLevel(i, text); b.values != nil {
			if number, how := parseNumber(text, b.guess.decimal); how >= plain {
				v = number
			}
		}
	case Text:
	}
	if b.values != nil {
		b.values[i] = v
	}
	return e
}

// booleans are what may be in a column of them, in any case.
var booleans = map[string]float64{"true": 1, "1": 1, "false": 0, "0": 0}

// refused is the error of a text that is not of the column's kind.
func refused(text []byte, problem, fix string) *Error {
	return &Error{Problem: quote(string(text)) + " " + problem, Fix: fix}
}

// number is what a text means in a column of numbers.
func (g *guess) number(text []byte) (float64, *Error) {
	v, sign, how := parseMarked(text, g.decimal)
	switch {
	case how == notFinite:
		return 0, refused(text, "is not a finite number", "leave it empty if the value is missing, or give --missing "+
			strings.TrimLeft(printable(string(text)), "+-"))
	case how == notNumber && g.hasOtherMark(text):
		return 0, refused(text, "seems to have a decimal "+map[byte]string{',': "comma", '.': "point"}[g.otherMark()]+
			", which is not guessed", fmt.Sprintf("if it is one, give --decimal %c, otherwise mend it or set the type to "+
			"category", g.otherMark()))
	case how == notNumber:
		return 0, refused(text, "is not a number"+g.share(g.numbers),
			"mend it, leave it empty if it is missing, or set the kind to category")
	case sign != g.sign && (sign != 0 || g.sign == '%' && v != 0):
		return 0, refused(text, "does not have the sign of "+quote(g.marked),
			"write all in one unit, or set the kind to category")
	}
	return v, nil
}

// moment is a time in microseconds.
func (g *guess) moment(text []byte) (float64, *Error) {
	t, ok := g.dates.parse(text)
	switch {
	case ok && t.zoned != g.zoned:
		return 0, refused(text, "is a time "+map[bool]string{true: "with a zone", false: "without a zone"}[t.zoned]+
			", unlike those before", "write all with a time zone, or all without")
	case !ok && g.dates.given != "":
		return 0, refused(text, "is not a time of "+g.dates.String(), "mend it or the layout, or leave it empty")
	case !ok:
		if possible, _ := g.dates.matching(text, allFamilies); possible != 0 {
			return 0, refused(text, "is not written as the times before ("+g.dates.String()+")",
				"write all in the same way, or give a layout")
		}
		return 0, refused(text, "is not a date or time"+g.share(g.times),
			"write it as 2006-01-02, give a layout, or set the kind to category")
	}
	return float64(t.micro), nil
}

// setLevel stores a category. A column with too many levels becomes text.
func (b *builder) setLevel(i int, text []byte) {
	code, ok := b.index[string(text)]
	if !ok {
		level := string(text)
		if b.bytes += len(level); !b.given && (len(b.levels) == mostLevels || b.bytes > mostLevelBytes) {
			b.ignore()
			return
		}
		b.levels = append(b.levels, level)
		code = uint32(len(b.levels))
		b.index[level] = code
	}
	b.code[i] = code
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

// isLevel says whether a text that usually means a missing value is a level of this column: one that is always in
// quotes, None, if no other level has as many rows, and NA among codes of two letters, such as those of countries.
// counts: the rows of each level.
func (b *builder) isLevel(text string, counts map[string]int) bool {
	if b.in.given {
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
	case b.quoted[text] == counts[text]:
		why = "in quotes unlike other cells"
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
