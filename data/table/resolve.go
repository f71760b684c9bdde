package table

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/support/xslices"
)

// clockFix is what to do about a time that a change of the clocks repeats or skips.
const clockFix = "give the right --zone, write offsets as +02:00, or give --clock-change earlier or later"

// unclear is why times of the column cannot be told, although each is one.
func (b *builder) unclear() *Error {
	at, e := b.zone, &Error{}
	switch {
	case at.row > 0:
		e.Problem = fmt.Sprintf("the name of the time zone in %s does not tell its offset", quote(at.text))
		e.Fix = "give --zone, as America/New_York, if all times are of one, or write offsets as -05:00"
	case b.dates.ambiguous():
		at = b.time
		e.Problem = fmt.Sprintf("day and month cannot be told apart, as in %s", quote(at.text))
		e.Fix = "give --layout COLUMN=%d/%m/%Y or COLUMN=%m/%d/%Y"
		if b.dates.possible&(1<<shortFirst) != 0 {
			e.Problem = fmt.Sprintf("day, month and year cannot be told apart, as in %s", quote(at.text))
			e.Fix = "give --layout COLUMN=%d/%m/%y, %m/%d/%y or %y/%m/%d"
		}
	case b.clock.row > 0:
		at = b.clock
		e.Problem, e.Fix = quote(at.text)+" "+b.change, clockFix
	default:
		return nil
	}
	e.Row, e.Line, e.Column = at.row, at.line, b.Name
	_ = b.in.placed(e, nil)
	return e
}

// resolve decides what the column is, and prepares it for its values.
func (b *builder) resolve(rows int) error {
	half, told := b.n/2, b.short.tell(&b.dates, b.Name, b.time.text)
	if told != "" { // clocks were looked up with the day first, and are again in moment
		b.clock = spot{}
	}
	unclear := b.unclear()
	switch {
	case b.Kind != "":
	case b.dates.given != "":
		b.Kind = Time
	case b.n == 0:
		b.Kind, b.Note = Text, noValues
	case b.booleans > 0 && b.booleans+b.binary == b.n:
		b.Kind = Boolean
	case b.groups > 0 && b.numbers > 0 && b.groups+b.numbers+b.commas == b.n:
		b.Kind, b.commas = Number, b.commas+b.groups
	case b.commas > half, b.numbers+b.signed > half, b.numbers+b.signed+b.commas == b.n:
		if b.Kind = Number; b.commas+b.groups+b.signed == 0 && b.padded && b.length > 0 {
			b.Kind, b.Note = Category, "numbers with leading zeros"
		}
	case b.times == b.n && unclear != nil:
		b.Kind, b.Note, b.problem = Text, "dates that are not clear: "+unclear.Problem, unclear
	case b.times > half:
		b.Kind = Time
	default:
		b.Kind = Category
	}
	b.judgeWords()
	switch {
	case b.Kind == Category:
		b.code = make([]uint32, rows)
	case b.Kind != Text:
		b.values = make([]float64, rows)
	}
	switch {
	case b.Kind == Time && unclear != nil:
		return unclear
	case b.Kind == Time:
		b.Note, b.instant = b.dates.String(), b.zoned
		// With other marks than dots the two ways are ambiguous. With dots the day is first in nearly all countries.
		if b.dates.given == "" && b.dates.possible == 1<<dayFirst && b.ordered == 0 && strings.Count(b.time.text, ".") >= 2 {
			b.notes = append(b.notes, fmt.Sprintf("%s is read with the day first, as dates with dots are; all days are at "+
				"most 12, so if the month is first give --layout %s=%%m.%%d.%%Y", quote(b.time.text), b.Name))
		}
		if b.dates.given == "" && b.dates.possible&(1<<dayFirst|1<<monthFirst) != 0 && b.ordered > 0 && 100*b.ordered < b.times {
			first, other := "day", "%m/%d/%Y"
			if b.dates.possible == 1<<monthFirst {
				first, other = "month", "%d/%m/%Y"
			}
			b.notes = append(b.notes, fmt.Sprintf("only %d of %d dates show where the day stands, the first %s in row %d; all are read "+
				"with the %s first: if that is wrong, mend them and give --layout %s=%s", b.ordered, b.times,
				quote(b.order.text), b.order.row, first, b.Name, other))
		}
		if told != "" {
			b.notes = append(b.notes, told)
		}
		if b.before69 != "" {
			b.notes = append(b.notes, fmt.Sprintf("%s is read as a time of this century, as years of two digits below 69 are: write "+
				"four digits if it is another", quote(b.before69)))
		}
	case b.Kind != Number:
	case b.rounded:
		b.changed(roundedNote)
	case b.twoWays != "" && !b.oneWay && b.in.found:
		return &Error{Column: b.Name, Problem: quote(b.twoWays) + " has a decimal point or not", Fix: "give --decimal"}
	case b.twoWays != "" && !b.oneWay:
		b.noteTwoWays(b.twoWays)
	case b.points > 2 && !b.decimals && (b.points < b.numbers || b.in.dots): // 2.596 among 874
		b.noteTwoWays(b.grouped)
	case b.marked != "":
		note := b.readAs(b.marked)
		if endsInMinus.MatchString(b.marked) {
			note += fmt.Sprintf("; if it is a level, such as a grade, give --type %s=category", b.Name)
		}
		b.notes = append(b.notes, note)
	case b.same[0] != "" && !b.given:
		b.notes = append(b.notes, fmt.Sprintf("%s and %s are one number: if they are versions or codes, give --type %s=category",
			quote(b.same[0]), quote(b.same[1]), b.Name))
	case b.exponent != "" && b.points == 0 && !b.given:
		b.notes = append(b.notes, fmt.Sprintf("%s; if it is a code, give --type %s=category", b.readAs(b.exponent), b.Name))
	}
	return nil
}

// An account's number with the minus behind it, or a grade; and a grade that is no number.
var endsInMinus, endsInPlus = regexp.MustCompile(`\d-$`), regexp.MustCompile(`^\d+\+$`)

// mostWords bounds the different words that may stand for missing values.
const mostWords = 32

// judgeWords says what words among numbers or times mean. They are levels, like the numbers, if they are more than a
// quarter. Otherwise they are missing values, if one of them recurs in the table; the others must have no digit, as
// those may be mistakes.
func (b *builder) judgeWords() {
	values := map[Kind]int{Number: b.numbers + b.signed, Time: b.times}[b.Kind]
	others, all, recurs := b.n-values, 0, false
	for word, n := range b.words {
		all += n
		recurs = recurs || b.in.words[word].n > 1
		if strings.ContainsAny(word, "0123456789") && (b.in.words[word].n == 1 || withUnit.MatchString(word)) {
			all = b.n // a mistake, or another unit
		}
	}
	words := slices.Sorted(maps.Keys(b.words))
	grades := endsInMinus.MatchString(b.marked) && slices.ContainsFunc(words, endsInPlus.MatchString)
	levels := b.Kind == Number && b.commas+b.groups == 0 && (grades || 4*others > b.n)
	missing := values > 0 && recurs && len(words) <= mostWords && all == others
	if b.given || others == 0 || !levels && !missing {
		b.words = nil
		return
	}
	named := shown(xslices.Map(words, quote), "more")
	if b.booleans > 0 {
		named = append(named, "true or false")
	}
	is := fmt.Sprintf("%s among %ss, %d of %d values, ", strings.Join(named, ", "), b.Kind, others, b.n)
	if levels {
		b.Kind, b.words = Category, nil
		b.notes = append(b.notes, is+"are levels, and so are the numbers; --missing names those that are missing")
		return
	}
	b.notes = append(b.notes, is+fmt.Sprintf("are missing; if they are levels, give --type %s=category", b.Name))
}

// noteTwoWays notes that a number would be another one with the other decimal mark.
func (b *builder) noteTwoWays(text string) {
	other, _, _ := parseMarked([]byte(text), b.otherMark())
	b.notes = append(b.notes, fmt.Sprintf("%s (with --decimal %c it would be %s)", b.readAs(text), b.otherMark(), short(other)))
}

// readAs says how a number with marks is read.
func (b *builder) readAs(text string) string {
	v, _, _ := parseMarked([]byte(text), b.decimal)
	return fmt.Sprintf("%s is read as %s", quote(text), short(v))
}
