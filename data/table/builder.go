package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// builder makes a column: first it counts, over all texts, what they may be, then it stores them as that. A text that
// is not what the column is then is refused.
type builder struct {
	*column
	in      *input
	decimal byte
	index   map[string]uint32 // of levels
	bytes   int               // of all levels

	n                        int                // number of values
	numbers, booleans, times int                // how many values are one
	signed                   int                // numbers with a sign of currency or percent, which do not count as numbers
	groups                   int                // numbers if the decimal mark stands between thousands: it is there twice
	binary                   int                // 0 and 1, which may stand for false and true
	commas                   int                // numbers if the decimal mark is the other one, comma or point
	length                   int                // of all numbers without a sign; -1 if they differ
	padded                   bool               // a number has a leading zero
	exact, rounded           bool               // the numbers are of a Parquet file; one, or an integer, has more digits than a float64
	sign                     rune               // of the first signed number
	marked                   string             // first number with other marks than a decimal one
	twoWays                  string             // first number that is another one if the decimal mark is the other one
	oneWay                   bool               // a number with separators of thousands can be read in no other way
	points                   int                // numbers with a decimal point
	decimals                 bool               // one of them has no three decimals, or more than three digits before them
	grouped                  string             // first of them that is not so: its point may be between thousands
	words                    map[string]int     // texts that are no value by themselves, of at most mostWords
	time, zone               spot               // first time, and first one in a zone of unknown offset
	clock                    spot               // first time that a change of the clocks repeats or skips
	change                   string             // how it does that
	zoned                    bool               // the first time has a zone
	short                    shortDates         // such as 23/01/31
	ordered                  int                // dates of which a number above 12 tells the day from the month
	order                    spot               // the first of them
	alike                    map[float64]string // first text of each number with a point, of at most mostAlike
	same                     [2]string          // first two texts that are one number, as 1.1 and 1.10
	exponent                 string             // first number such as 12E1
	before69                 string             // first time whose year is written 40 to 68, and read as 2040 to 2068
}

// spot is where a value was found first.
type spot struct {
	row, line int // from 1; row 0: nowhere
	text      string
}

func (in *input) newBuilder(name string) (*builder, error) {
	c := &column{ColumnSchema: ColumnSchema{Name: name, Kind: in.o.Kinds[name]}, given: in.o.Kinds[name] != "", texts: map[string]int{},
		dates: dates{layouts: families, possible: allFamilies, location: in.o.Location, given: in.o.Layouts[name],
			known: map[string]found{}}}
	if c.dates.given != "" {
		l, err := compile(c.dates.given)
		if err != nil {
			return nil, &Error{Column: name, Problem: err.Error()}
		}
		c.dates.layouts, c.dates.possible = []*layout{l}, 1
	}
	return &builder{column: c, in: in, decimal: cmp.Or(in.o.Decimal, '.'), index: map[string]uint32{},
		words: map[string]int{}}, nil
}

// add adds a trimmed text.
func (b *builder) add(text []byte, row, line int) {
	if b.in.isMissing(text) {
		return
	}
	b.n++
	v, sign, how := parseMarked(text, b.decimal)
	switch {
	case how == notNumber || sign != 0:
	case b.length == 0:
		b.length = len(text)
	case b.length != len(text):
		b.length = -1
	}
	isTime := (b.dates.given != "" || how < marked) && b.addTime(text, row, line)
	switch how {
	case plain, padded:
		b.numbers++
		b.padded = b.padded || how == padded
		exact := b.exact || math.Abs(v) > 1<<53 && !bytes.ContainsAny(text, ".,eE")
		b.rounded = b.rounded || exact && losesDigits(text, v)
		if len(text) == 1 && text[0] <= '1' {
			b.binary++
		}
		b.addPoint(text)
		b.addCode(text, v)
	case marked:
		b.addMarked(text, v, sign)
	case notFinite:
		b.numbers++
	default:
		if b.hasOtherMark(text) {
			b.commas++
		} else if b.hasGroups(text) {
			b.groups++
		} else if bytes.EqualFold(text, []byte("true")) || bytes.EqualFold(text, []byte("false")) {
			b.booleans++
		} else if !isTime && len(b.words) <= mostWords { // with more they are levels or mistakes
			b.words[string(text)]++
			b.in.words[string(text)] = b.in.words[string(text)].add(row)
		}
	}
}

// addPoint adds a number that may have a decimal point.
func (b *builder) addPoint(text []byte) {
	point := bytes.IndexByte(text, '.')
	if b.exact || b.decimal != '.' || b.decimals || point < 0 {
		return
	}
	b.points++
	whole, rest := bytes.TrimLeft(text[:point], "+-"), text[point+1:]
	b.decimals = len(rest) != 3 || bytes.ContainsAny(rest, "eE") || len(whole) < 1 || len(whole) > 3 || whole[0] == '0'
	if b.grouped == "" {
		b.grouped = string(text)
	}
}

// mostAlike is the largest number of versions or codes.
const mostAlike = 100

// addCode adds a number that may be a code or a version.
func (b *builder) addCode(text []byte, v float64) {
	if b.exponent == "" && exponents.Match(text) {
		b.exponent = string(text)
	}
	if bytes.IndexByte(text, '.') < 0 || b.same[0] != "" || len(b.alike) > mostAlike {
		return
	}
	if b.alike == nil {
		b.alike = map[float64]string{}
	}
	switch first, ok := b.alike[v]; {
	case !ok:
		b.alike[v] = string(text)
	case first != string(text):
		b.same = [2]string{first, string(text)}
	}
}

// exponents matches numbers with an exponent that programs do not write: these have a sign or a decimal point.
var exponents = regexp.MustCompile(`^\d+[eE]\d+$`)

// addMarked adds a number with other marks than a decimal one.
func (b *builder) addMarked(text []byte, v float64, sign rune) {
	other, _, how := parseMarked(text, b.otherMark())
	if how < marked {
		b.oneWay = true
	} else if other != v {
		b.twoWays = cmp.Or(b.twoWays, string(text))
	}
	b.marked = cmp.Or(b.marked, string(text))
	if sign == 0 {
		b.numbers++
		return
	}
	b.signed++
	b.sign = cmp.Or(b.sign, sign)
}

// otherMark is the decimal mark that the column does not have.
func (b *builder) otherMark() byte { return '.' + ',' - b.decimal }

// readOtherwise says whether a text is a number if the decimal mark is the other one.
func (b *builder) readOtherwise(text []byte) bool {
	_, _, how := parseMarked(text, b.otherMark())
	return how >= marked
}

// hasOtherMark says whether a text is a number with the other decimal mark.
func (b *builder) hasOtherMark(text []byte) bool {
	return bytes.IndexByte(text, b.otherMark()) >= 0 && b.readOtherwise(text)
}

// hasGroups says whether a text is a number if the decimal mark stands between thousands: 1.234.567.
func (b *builder) hasGroups(text []byte) bool {
	return bytes.Count(text, []byte{b.decimal}) > 1 && b.readOtherwise(text)
}

// Years of two digits from this one on are more likely of the last century.
var year2040, fourDigits = date(2040, 1, 1).UnixMicro(), regexp.MustCompile(`\d{4}`)

// addTime adds a time, if the text is one, and says so.
func (b *builder) addTime(text []byte, row, line int) bool {
	possible, t := b.dates.matching(text, b.dates.possible)
	if possible != 0 {
		b.dates.possible = possible
	} else if possible, t = b.dates.matching(text, allFamilies); possible == 0 {
		return false
	}
	if b.times++; b.times == 1 {
		b.zoned, b.time = t.zoned, spot{row, line, string(text)}
	}
	if possible&(1<<shortFirst) != 0 && possible&(1<<dayFirst|1<<monthFirst) != 0 {
		b.short.add(text)
	}
	if tellsDay.Match(text) {
		if b.ordered++; b.ordered == 1 {
			b.order = spot{row, line, string(text)}
		}
	}
	if t.micro >= year2040 && b.before69 == "" && b.dates.given == "" && !fourDigits.Match(text) {
		b.before69 = string(text)
	}
	if _, ok := t.chosen(b.in.o.ClockChange); !ok && b.clock.row == 0 {
		b.clock, b.change = spot{row, line, string(text)}, t.change
	}
	if t.zone != "" && b.zone.row == 0 {
		b.zone = spot{row, line, string(text)}
	}
	return true
}

// tellsDay matches dates such as 13/02/2024: one of the first two numbers is above 12, and so the day.
var tellsDay = regexp.MustCompile(`^(?:(?:1[3-9]|[23]\d)[-./]\d|\d\d?[-./](?:1[3-9]|[23]\d)[-./])`)

// short is a number for a sentence.
func short(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// setMissing stores a missing value.
func (c *column) setMissing(i int) {
	if c.Missing++; c.values != nil {
		c.values[i] = math.NaN()
	}
}

// set stores a trimmed text, or says why it is not of the column's kind.
func (b *builder) set(i int, text []byte) (e *Error) {
	// Whether a text of a category means a missing value is decided at the end, by all of its levels.
	if (len(text) == 0 || b.Kind != Category) && b.in.isMissing(text) {
		if len(text) > 0 {
			b.texts[string(text)]++
		}
		b.setMissing(i)
		return nil
	}
	v, ok := math.NaN(), false
	switch b.Kind {
	case Number:
		v, e = b.number(text)
	case Boolean:
		if v, ok = booleans[strings.ToLower(string(text))]; !ok {
			e = refused(text, "is neither true nor false", "mend it, or give --type COLUMN=category")
		}
	case Time:
		v, e = b.moment(text)
	case Category:
		b.setLevel(i, text)
	}
	if e != nil && b.words[string(text)] > 0 {
		b.setMissing(i)
		return nil
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
func (b *builder) number(text []byte) (float64, *Error) {
	v, sign, how := parseMarked(text, b.decimal)
	switch {
	case how == notFinite:
		problem, missing := "is not a finite number", strings.TrimLeft(printable(string(text)), "+-")
		if bytes.ContainsAny(text, "0123456789") {
			problem, missing = fmt.Sprintf("is too large: numbers up to %g are read", most), printable(string(text))
		}
		return 0, refused(text, problem, "leave it empty if the value is missing, or give --missing "+missing)
	case how == notNumber && b.hasGroups(text):
		return 0, refused(text, fmt.Sprintf("seems to have %q between thousands, which is not guessed", string(b.decimal)),
			fmt.Sprintf("if so, give --decimal '%c'; if not, give --type COLUMN=category", b.otherMark()))
	case how == notNumber && b.hasOtherMark(text):
		return 0, refused(text, "seems to have a decimal "+map[byte]string{',': "comma", '.': "point"}[b.otherMark()]+
			", which is not guessed", fmt.Sprintf("if it is one, give --decimal '%c'; if not, mend it or give --type "+
			"COLUMN=category", b.otherMark()))
	case how == notNumber:
		problem := "is not a number"
		if n := b.numbers + b.signed; n > 0 {
			problem += fmt.Sprintf(", as %d of %d other values are", n, b.n-1)
		}
		return 0, refused(text, problem, "mend it, leave it empty if it is missing, or give --type COLUMN=category")
	case sign != b.sign && (sign != 0 || b.sign == '%' && v != 0):
		return 0, refused(text, "does not have the sign of "+quote(b.marked),
			"write all in one unit, or give --type COLUMN=category")
	}
	return v, nil
}

// moment is a time in microseconds.
func (b *builder) moment(text []byte) (float64, *Error) {
	possible, t := b.dates.matching(text, b.dates.possible)
	switch {
	case possible != 0 && t.zoned != b.zoned:
		return 0, refused(text, "is a time "+map[bool]string{true: "with a zone", false: "without a zone"}[t.zoned]+
			", unlike those before", "write all with a time zone, or all without")
	case possible == 0:
		return 0, refused(text, "is not a date or time as the others are written ("+b.dates.String()+")",
			"mend it, take out the row, or give --layout COLUMN=FORMAT or --type COLUMN=category")
	}
	micro, known := t.chosen(b.in.o.ClockChange)
	if !known {
		return 0, refused(text, t.change, clockFix)
	}
	return float64(micro), nil
}

// roundedNote is a note on numbers.
const roundedNote = "rounded: more digits than a float64 has"

// changed notes how the values differ from those of the file.
func (c *column) changed(note string) { c.Note, c.notes = note, append(c.notes, note) }
