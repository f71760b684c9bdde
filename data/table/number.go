package table

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// Results of parseNumber.
const (
	isNumber = iota
	notFinite
	notNumber
)

// most is the largest absolute value of a number: sums of squares of more rows than a table can have stay finite.
const most = 1e100

// parseNumber parses a decimal number without other marks. padded says that it begins with a zero that it does not
// need, as identifiers do. Not finite are NaN, infinities, and numbers larger than most.
func parseNumber(b []byte, decimal byte) (v float64, padded bool, result int) {
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits = b[1:]
	}
	if isNotFinite(digits) {
		return 0, false, notFinite
	}
	whole, marked := true, false
	for i, c := range digits { // strconv has more syntax, such as hexadecimal digits, and slow errors
		switch {
		case c-'0' <= 9:
			continue
		case c == decimal:
			marked = marked || c != '.'
		case c|0x20 == 'e' && i > 0:
		case (c == '-' || c == '+') && i > 0 && digits[i-1]|0x20 == 'e':
		default:
			return 0, false, notNumber
		}
		whole = false
	}
	text := unsafe.String(unsafe.SliceData(b), len(b))
	if marked {
		text = strings.ReplaceAll(text, string(rune(decimal)), ".")
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !math.IsInf(v, 0):
		return 0, false, notNumber
	case math.Abs(v) > most:
		return 0, false, notFinite
	}
	return v + 0, whole && len(digits) > 1 && digits[0] == '0', isNumber // + 0: -0 is 0
}

// marked are numbers with a sign of currency or percent, and with separators of thousands: sign, sign of currency,
// sign, groups of digits, decimal places, percent or currency. Thousands are separated by what the decimal mark is not,
// by an apostrophe, or by a space that does not break.
var marked = map[byte]*regexp.Regexp{'.': markedBy(`,`, `\.`), ',': markedBy(`\.`, `,`)}

func markedBy(group, decimal string) *regexp.Regexp {
	digits := `[1-9]\d{0,2}(?:` + group + `\d{3})+`
	for _, separator := range []string{"'", "\u00a0", "\u2009", "\u202f"} {
		digits += `|[1-9]\d{0,2}(?:` + separator + `\d{3})+`
	}
	return regexp.MustCompile(`^([-+]?)(\p{Sc}?)[ \x{a0}]?([-+]?)((?:` + digits + `|\d+)?)((?:` + decimal +
		`\d*)?)[ \x{a0}\x{202f}]?([%\p{Sc}]?)$`)
}

// parseMarked parses a number that has other marks than a decimal one: $1,234.50, 12 %. sign is its sign of currency
// or percent, or 0.
func parseMarked(b []byte, decimal byte) (v float64, sign rune, ok bool) {
	if len(b) < 2 || len(b) > 40 || !mayBeMarked(b) {
		return 0, 0, false
	}
	part := marked[decimal].FindSubmatch(b)
	if part == nil || len(part[1]) > 0 && len(part[3]) > 0 || len(part[2]) > 0 && len(part[6]) > 0 {
		return 0, 0, false
	}
	plain := append(part[1][:len(part[1]):len(part[1])], part[3]...)
	for _, c := range part[4] {
		if c-'0' <= 9 {
			plain = append(plain, c)
		}
	}
	v, _, result := parseNumber(append(plain, part[5]...), decimal)
	if text := append(part[2], part[6]...); len(text) > 0 {
		sign, _ = utf8.DecodeRune(text)
	}
	return v, sign, result == isNumber
}

// mayBeMarked is a quick test that rejects most texts and dates.
func mayBeMarked(b []byte) bool {
	first, _ := utf8.DecodeRune(b)
	digits := 0
	for i, c := range b {
		switch {
		case c-'0' <= 9:
			digits++
		case c == '-' && i > 3 || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '/' || c == ':':
			return false
		}
	}
	return digits > 0 && (first < utf8.RuneSelf && !unicode.IsLetter(first) || unicode.Is(unicode.Sc, first))
}

// isNotFinite recognises NaN and infinities, without a sign.
func isNotFinite(b []byte) bool { return foldEqual(b, "nan") || isInfinite(b) }

func isInfinite(b []byte) bool { return foldEqual(b, "inf") || foldEqual(b, "infinity") }

// foldEqual compares with a text in lower case.
func foldEqual(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// parseBoolean parses true and false in any case.
func parseBoolean(b []byte) (value, ok bool) {
	value = foldEqual(b, "true")
	return value, value || foldEqual(b, "false")
}

// trim removes spaces and tabs at both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
