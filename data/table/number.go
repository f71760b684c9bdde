package table

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// What a text is as a number.
const (
	notNumber = iota
	notFinite // NaN, an infinity, or larger than most
	marked    // a number with other marks than a decimal one
	plain
	padded // it begins with a zero that it does not need, as identifiers do
)

// blanks are the spaces around texts that do not count.
const blanks = " \t"

// most is the largest absolute value of a number: sums of squares of more rows than a table can have stay finite.
const most = 1e100

// parseNumber parses a decimal number without other marks.
func parseNumber(b []byte, decimal byte) (v float64, how int) {
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits = b[1:]
	}
	whole, point := true, true
	for i, c := range digits { // strconv has more syntax, such as hexadecimal digits, and slow errors
		switch {
		case c-'0' <= 9:
			continue
		case c == decimal:
			point = point && c == '.'
		case c|0x20 == 'e' && i > 0:
		case (c == '-' || c == '+') && i > 0 && digits[i-1]|0x20 == 'e':
		case i == 0 && (c|0x20 == 'n' || c|0x20 == 'i') &&
			slices.Contains([]string{"nan", "inf", "infinity"}, strings.ToLower(string(digits))):
			return 0, notFinite
		default:
			return 0, notNumber
		}
		whole = false
	}
	text := unsafe.String(unsafe.SliceData(b), len(b))
	if !point {
		text = strings.ReplaceAll(text, string(rune(decimal)), ".")
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !math.IsInf(v, 0):
		return 0, notNumber
	case math.Abs(v) > most:
		return 0, notFinite
	case whole && len(digits) > 1 && digits[0] == '0':
		return v, padded
	}
	return v + 0, plain // + 0: -0 is 0
}

// signs finds numbers with a sign of currency or percent, and with separators of thousands: sign, sign of currency,
// sign, groups of digits, decimal places, percent or currency. Thousands are separated by what the decimal mark is not,
// by an apostrophe, or by a space.
var signs = map[byte]*regexp.Regexp{'.': markedBy(`,`, `\.`), ',': markedBy(`\.`, `,`)}

func markedBy(group, decimal string) *regexp.Regexp {
	return regexp.MustCompile(`^([-+]?)(\p{Sc}?)[ \x{a0}]?([-+]?)((?:[1-9]\d{0,2}(?:[` + group +
		`'\x{2019} \x{a0}\x{2009}\x{202f}]\d{3})+|\d+)?)((?:` + decimal + `\d*)?)[ \x{a0}\x{202f}]?([%\p{Sc}]?)$`)
}

// accounts finds a negative number in brackets, perhaps behind a sign of currency.
var accounts = regexp.MustCompile(`^(\p{Sc}?)\(([^(+\x{2212}-]+)\)$`)

// parseMarked parses a number that may have other marks than a decimal one: $1,234.50, 12 %. sign is its sign of
// currency or percent, or 0. Accounts write (12), $(12) or 12- for -12, shops 12.- or 12.-- for 12.
func parseMarked(b []byte, decimal byte) (v float64, sign rune, how int) {
	if rest, ok := bytes.CutSuffix(b, []byte("--")); ok {
		if !bytes.HasSuffix(rest, []byte(".")) && !bytes.HasSuffix(rest, []byte(",")) {
			return 0, 0, notNumber
		}
		b = b[:len(b)-1] // 12.-- is 12.-
	}
	if last := len(b) - 1; last > 0 && (b[last] == ')' || b[last] == '-' && b[0]-'0' <= 9) {
		inner, whole := b[:last], b[last-1] == '.' || b[last-1] == ',' // 12.-
		if part := accounts.FindSubmatch(b); part != nil {
			inner = slices.Concat(part[1], part[2])
		} else if b[last] == ')' {
			return 0, 0, notNumber
		}
		if v, sign, how = parseMarked(inner, decimal); how < marked {
			return 0, 0, notNumber
		} else if whole && b[last] == '-' {
			return v, sign, marked
		}
		return 0 - v, sign, marked
	}
	if after, ok := bytes.CutPrefix(b, []byte("\u2212")); ok { // the sign that is typeset
		b = append([]byte{'-'}, after...)
	}
	v, how = parseNumber(b, decimal)
	no := func(r rune) bool { return unicode.IsLetter(r) || r == '/' || r == ':' }
	if how != notNumber || len(b) < 2 || len(b) > 40 || bytes.ContainsFunc(b, no) || bytes.LastIndexByte(b, '-') > 3 {
		return v, 0, how
	}
	part := signs[decimal].FindSubmatch(b)
	if part == nil || len(part[1]) > 0 && len(part[3]) > 0 || len(part[2]) > 0 && len(part[6]) > 0 {
		return 0, 0, notNumber
	}
	text := append(part[1][:len(part[1]):len(part[1])], part[3]...)
	for _, c := range part[4] {
		if c-'0' <= 9 {
			text = append(text, c)
		}
	}
	v, how = parseNumber(append(text, part[5]...), decimal)
	if mark := append(part[2], part[6]...); len(mark) > 0 {
		sign, _ = utf8.DecodeRune(mark)
	}
	return v, sign, min(how, marked)
}
