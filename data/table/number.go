package table

import (
	"math"
	"strconv"
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

// pow10 has the powers of ten that float64 has exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseNumber parses a decimal number. padded says that it begins with a zero that it does not need, as identifiers do.
// Not finite are NaN, infinities, and numbers larger than most.
func parseNumber(b []byte, decimal byte) (v float64, padded bool, result int) {
	i, negative := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		i = 1
	}
	if i == len(b) {
		return 0, false, notNumber
	}
	if c := b[i] | 0x20; c == 'n' || c == 'i' {
		if isNotFinite(b[i:]) {
			return 0, false, notFinite
		}
		return 0, false, notNumber
	}
	var mantissa uint64
	digits, fraction, exponent := 0, 0, 0
	start := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if mantissa < 1e17 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
		} else {
			exponent = math.MaxInt32 // too long for the fast way
		}
		digits++
	}
	padded = digits > 1 && b[start] == '0'
	if i < len(b) && b[i] == decimal {
		i++
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			if mantissa < 1e17 {
				mantissa = mantissa*10 + uint64(b[i]-'0')
				fraction++
			} else {
				exponent = math.MaxInt32
			}
			digits++
		}
		padded = false
	}
	if digits == 0 {
		return 0, false, notNumber
	}
	simple := i == len(b) && exponent == 0
	if i < len(b) {
		if b[i]|0x20 != 'e' {
			return 0, false, notNumber
		}
		if i++; i < len(b) && (b[i] == '-' || b[i] == '+') {
			i++
		}
		first := i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
		}
		if i == first || i < len(b) {
			return 0, false, notNumber
		}
		padded = false
	}
	if simple && mantissa < 1<<53 && fraction < len(pow10) {
		v = float64(mantissa) / pow10[fraction]
		if negative {
			v = -v
		}
		return v + 0, padded, isNumber // + 0: -0 is 0
	}
	text := unsafe.String(unsafe.SliceData(b), len(b))
	if decimal != '.' {
		text = replaceByte(text, decimal)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(v) > most {
		return 0, false, notFinite
	}
	return v + 0, padded, isNumber
}

// replaceByte returns the text with a point instead of the decimal mark.
func replaceByte(s string, decimal byte) string {
	b := []byte(s)
	for i := range b {
		if b[i] == decimal {
			b[i] = '.'
		}
	}
	return string(b)
}

// isNotFinite recognises NaN and infinities, without a sign.
func isNotFinite(b []byte) bool {
	switch len(b) {
	case 3:
		return foldEqual(b, "nan") || foldEqual(b, "inf")
	case 8:
		return foldEqual(b, "infinity")
	}
	return false
}

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
	switch {
	case foldEqual(b, "true"):
		return true, true
	case foldEqual(b, "false"):
		return false, true
	}
	return false, false
}

// isDecimalComma recognises numbers as 1,5.
func isDecimalComma(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	commas := 0
	for _, c := range b {
		switch {
		case c == ',':
			commas++
		case c-'0' > 9:
			return false
		}
	}
	return commas == 1 && len(b) > 2 && b[0] != ',' && b[len(b)-1] != ','
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
