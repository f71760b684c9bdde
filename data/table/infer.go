package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
)

// guess counts, over all texts of a column, what they may be. A text that is not what the column is then is refused
// when the values are read.
type guess struct {
	in      *input
	name    string
	kind    Kind // that was given
	decimal byte
	dates   dates

	values, missing          int
	numbers, booleans, times int    // how many values are one
	signed                   int    // numbers with a sign of currency or percent, which do not count as numbers
	commas                   int    // numbers if the decimal mark is the other one, comma or point
	length                   int    // of all values; -1 if they differ
	padded                   bool   // a number has a leading zero
	identifiers              bool   // a whole number has more digits than a float64
	exact, rounded           bool   // the numbers are of a Parquet file; one has more digits than a float64
	sign                     rune   // of the first signed number
	unsigned                 bool   // a number apart from 0 has no sign
	mixed                    bool   // a number has another sign than the first one
	marked                   string // first number with other marks than a decimal one
	twoWays                  string // first number that is another one if the decimal mark is the other one
	oneWay                   bool   // a number with separators of thousands can be read in no other way
	time, zone               spot   // first time, and first one in a zone of unknown offset
	zoned                    bool   // the first time has a zone
}

// spot is where a value was found first.
type spot struct {
	row, line int // from 1; row 0: nowhere
	text      string
}

func (in *input) newGuess(name string) (g *guess, err error) {
	if g = (&guess{in: in, name: name, kind: in.o.Kinds[name], decimal: '.'}); in.o.Decimal == ',' {
		g.decimal = ','
	}
	g.dates = dates{layouts: families, possible: allFamilies, location: in.o.Location, given: in.o.Layouts[name],
		known: map[string]found{}}
	if g.dates.given != "" {
		l, err := compile(g.dates.given)
		if err != nil {
			return nil, &Error{Column: name, Problem: err.Error()}
		}
		g.dates.layouts, g.dates.possible = []*layout{l}, 1
	}
	return g, nil
}

// add adds a trimmed text.
func (g *guess) add(b []byte, row, line int) {
	if g.in.isMissing(b) {
		g.missing++
		return
	}
	if g.values++; g.values == 1 {
		g.length = len(b)
	} else if g.length != len(b) {
		g.length = -1
	}
	v, sign, how := parseMarked(b, g.decimal)
	if g.dates.given != "" || how < marked {
		g.addTime(b, row, line)
	}
	switch how {
	case plain, padded:
		g.numbers++
		g.padded = g.padded || how == padded
		g.identifiers = g.identifiers || math.Abs(v) > 1<<53 && !bytes.ContainsAny(b, ".,eE") && losesDigits(b, v)
		g.rounded = g.rounded || g.exact && losesDigits(b, v)
		g.unsigned = g.unsigned || v != 0
	case marked:
		g.addMarked(b, v, sign)
	case notFinite:
		g.numbers++
	default:
		if g.hasOtherMark(b) {
			g.commas++
		} else if bytes.EqualFold(b, []byte("true")) || bytes.EqualFold(b, []byte("false")) {
			g.booleans++
		}
	}
}

// addMarked adds a number with other marks than a decimal one.
func (g *guess) addMarked(b []byte, v float64, sign rune) {
	other, _, how := parseMarked(b, g.otherMark())
	if how < marked {
		g.oneWay = true
	} else if other != v {
		g.twoWays = cmp.Or(g.twoWays, string(b))
	}
	g.marked = cmp.Or(g.marked, string(b))
	if sign == 0 {
		g.numbers++
		g.unsigned = true
		return
	}
	g.signed++
	g.sign = cmp.Or(g.sign, sign)
	g.mixed = g.mixed || sign != g.sign
}

// otherMark is the decimal mark that the column does not have.
func (g *guess) otherMark() byte { return '.' + ',' - g.decimal }

// hasOtherMark says whether a text is a number with the other decimal mark.
func (g *guess) hasOtherMark(b []byte) bool {
	_, sign, how := parseMarked(b, g.otherMark())
	return how >= marked && sign == 0 && bytes.IndexByte(b, g.otherMark()) >= 0
}

// addTime adds a time, if the text is one.
func (g *guess) addTime(b []byte, row, line int) {
	possible, t := g.dates.matching(b, g.dates.possible)
	if possible != 0 {
		g.dates.possible = possible
	} else if possible, t = g.dates.matching(b, allFamilies); possible == 0 {
		return
	}
	if g.times++; g.times == 1 {
		g.zoned, g.time = t.zoned, spot{row, line, string(b)}
	}
	if t.zone != "" && g.zone.row == 0 {
		g.zone = spot{row, line, string(b)}
	}
}

// unclear is why times of the column cannot be told, although each is one.
func (g *guess) unclear() *Error {
	at, e := g.zone, &Error{}
	switch {
	case at.row > 0:
		e.Problem = fmt.Sprintf("the name of the time zone in %s does not tell its offset", quote(at.text))
		e.Fix = "give --zone, as America/New_York, if all times are of one, or write offsets as -05:00"
	case g.dates.ambiguous():
		at = g.time
		e.Problem = fmt.Sprintf("day and month cannot be told apart, as in %s", quote(at.text))
		e.Fix = "give a layout, %d/%m/%Y or %m/%d/%Y"
	default:
		return nil
	}
	e.File, e.Row, e.Line, e.Column = g.in.name, at.row, at.line, g.name
	return e
}

// resolve decides what the column is, and prepares it.
func (g *guess) resolve(rows int) (*builder, error) {
	kind, half, unclear := g.kind, g.values/2, g.unclear()
	note, changed := "", ""
	switch {
	case kind != "":
	case g.dates.given != "":
		kind = Time
	case g.values == 0:
		kind, note = Text, noValues
	case g.commas > half, g.numbers > half,
		g.numbers+g.signed == g.values && !g.mixed && !(g.unsigned && g.sign == '%'):
		switch kind = Category; {
		case g.numbers == g.values && g.padded && g.length > 0:
			note = "numbers with leading zeros"
		case g.numbers == g.values && g.identifiers:
			changed = identifiersNote
		default:
			kind = Number
		}
	case g.booleans == g.values:
		kind = Boolean
	case g.times == g.values && unclear != nil:
		kind, note = Text, "dates that are not clear: "+unclear.Problem
	case g.times > half:
		kind = Time
	default:
		kind = Category
	}
	b := g.in.newBuilder(g.name, kind, rows)
	b.guess, b.note = g, note
	switch {
	case changed != "":
		b.changed(changed)
		b.values = make([]float64, rows) // it is a number if it has too many levels
	case kind == Text && note != noValues:
		b.problem = unclear
	case kind == Time && unclear != nil:
		return nil, unclear
	case kind == Time:
		b.note, b.dates = g.dates.String(), g.dates
	case kind == Number && g.rounded:
		b.changed(roundedNote)
	case kind == Number && g.twoWays != "" && !g.oneWay:
		other, _, _ := parseMarked([]byte(g.twoWays), g.otherMark())
		b.notes = []string{fmt.Sprintf("%s (with --decimal %c it would be %s)", g.readAs(g.twoWays), g.otherMark(),
			short(other))}
	case kind == Number && g.marked != "":
		b.notes = []string{g.readAs(g.marked)}
	}
	return b, nil
}

// readAs says how a number with marks is read.
func (g *guess) readAs(text string) string {
	v, _, _ := parseMarked([]byte(text), g.decimal)
	return fmt.Sprintf("%s is read as %s", quote(text), short(v))
}

// short is a number for a sentence.
func short(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// share is ", as 3 of 4 other values are".
func (g *guess) share(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", as %d of %d other values are", n, g.values-1)
}
