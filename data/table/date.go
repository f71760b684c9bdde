package table

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	microsPerSecond = 1e6
	microsPerDay    = 86400 * microsPerSecond
)

// dates says how the times of a column are written: one layout, or the families that are still possible.
type dates struct {
	possible uint8          // bits of families that parse all values so far
	layout   string         // given by Options.Layouts, with codes; "" if it is found
	given    string         // the layout as it was given
	location *time.Location // of times without a zone
}

// families are the layouts that are found. A column has the first family that reads all its values.
var families = [...]struct {
	name    string
	layouts []string
}{
	yearFirst: {"year first", []string{"%Y-%m-%d" + clock, "%Y/%m/%d" + clock, "%Y-%0m", "%Y/%0m", "%G-W%V",
		"%Y%m%dT%H%M[%S[.%f]][%Z]"}},
	dayFirst:   {"day first", []string{"%d/%m/%Y" + clock, "%d.%m.%Y" + clock, "%d-%m-%Y" + clock, "%d/%m/%y" + clock}},
	monthFirst: {"month first", []string{"%m/%d/%Y" + clock, "%m-%d-%Y" + clock, "%m/%d/%y" + clock}},
	named: {"names of months", []string{"[%a[,] ]%d %b %Y" + clock, "[%a[,] ]%d-%b-%Y" + clock,
		"[%a[,] ]%d-%b-%y" + clock, "%d%b%Y" + clock, "[%a[,] ]%b %d[,] %Y" + clock, "%b %Y", "%b-%Y",
		"%a %b %d %H:%M:%S [%Z ]%Y"}},
}

const (
	yearFirst = iota
	dayFirst
	monthFirst
	named
	allFamilies = 1<<(named+1) - 1
)

// clock is the rest of a layout: nothing, or T or spaces and a time of day, with AM or PM and a zone.
const clock = "[%t%H:%M[:%S[%.%f]][ ][%p][ ][%Z]]"

// String is the layout for a note.
func (d dates) String() string {
	if d.layout != "" {
		return "layout " + d.given
	}
	for i, f := range families {
		if d.possible>>i&1 != 0 {
			return f.name
		}
	}
	return "no layout"
}

// ambiguous says that day and month cannot be told apart.
func (d dates) ambiguous() bool { return d.layout == "" && d.possible == 1<<dayFirst|1<<monthFirst }

// parse parses a time by the column's layout.
func (d dates) parse(b []byte) (t moment, ok bool) {
	if d.layout != "" {
		return d.parseLayout(b)
	}
	for i := range families {
		if d.possible>>i&1 != 0 {
			if t, ok := parseFamily(b, i, d.location); ok {
				return t, true
			}
		}
	}
	return t, false
}

// matching lists the families that parse b.
func (d dates) matching(b []byte) (possible uint8, t moment) {
	if !maybeTime(b) {
		return 0, t
	}
	for i := range families {
		if read, ok := parseFamily(b, i, d.location); ok {
			possible |= 1 << i
			t = read
		}
	}
	return possible, t
}

// maybeTime is a quick test that rejects most texts: a time has at least four digits and is short.
func maybeTime(b []byte) bool {
	if len(b) < 6 || len(b) > 40 {
		return false
	}
	digits := 0
	for _, c := range b {
		if c-'0' <= 9 {
			digits++
		} else if c >= 0x80 {
			return false
		}
	}
	return digits >= 4
}

func parseFamily(b []byte, family int, location *time.Location) (t moment, ok bool) {
	for _, layout := range families[family].layouts {
		if t, ok := strptime(b, layout, location); ok {
			return t, true
		}
	}
	return t, false
}

// inRange says whether a year can be meant.
func inRange(year int) bool { return year >= 1 && year <= 9999 }

// moment is a time that was parsed.
type moment struct {
	micro int64
	zoned bool   // it has a zone
	zone  string // the name of its zone, if nobody can know which one is meant: EST is one in America and in Australia
}

// codes have the directives of numbers: how many digits they have at most, and the numbers that they may be. Years have
// all their digits.
var codes = [128]struct{ digits, least, greatest int }{
	'Y': {4, 1, 9999}, 'G': {4, 1, 9999}, 'y': {2, 0, 99}, 'm': {2, 1, 12}, 'd': {2, 1, 31},
	'H': {2, 0, 23}, 'I': {2, 1, 12}, 'M': {2, 0, 59}, 'S': {2, 0, 60},
	'j': {3, 1, 366}, 'V': {2, 1, 53}, 'u': {1, 1, 7}, 'q': {1, 1, 4}}

// compounds are directives that stand for several, or for others.
var compounds = strings.NewReplacer("%%", "%%", "%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%R", "%H:%M", "%D", "%m/%d/%y",
	"%e", "%d", "%k", "%H", "%l", "%I", "%h", "%b", "%B", "%b", "%A", "%a", "%z", "%Z", ".%f", "%.%f", ",%f", "%.%f",
	"%-", "%", "[", "%[", "]", "%]")

// goCodes has the directives of Go's layouts.
var goCodes = strings.NewReplacer("2006", "%Y", "January", "%b", "Jan", "%b", "Monday", "%a", "Mon", "%a", "MST", "%Z",
	"Z07:00", "%Z", "Z0700", "%Z", "-07:00", "%Z", "-0700", "%Z", "-07", "%Z", ".000000000", "%.%f", ".000000", "%.%f",
	".000", "%.%f", ".999999999", "[%.%f]", ".999999", "[%.%f]", ".999", "[%.%f]", "002", "%j", "01", "%m", "02", "%d",
	"_2", "%d", "03", "%I", "04", "%M", "05", "%S", "06", "%y", "15", "%H", "PM", "%p", "1", "%m", "2", "%d", "3", "%I",
	"4", "%M", "5", "%S", "[", "%[", "]", "%]")

// compile is the layout of an option, as strptime has it: Python's and C's directives, or those of a Go layout.
func compile(layout string) (string, error) {
	if scaleOf(layout) != nil {
		return layout, nil
	}
	out := goCodes.Replace(layout)
	if strings.Contains(layout, "%") {
		out = compounds.Replace(layout)
	}
	// Seconds may have a fraction.
	out = strings.ReplaceAll(strings.ReplaceAll(out, "%S", "%S[%.%f]"), "%S[%.%f]%.%f", "%S%.%f")
	for i := 0; i < len(out); i++ {
		if out[i] != '%' {
			continue
		}
		if i++; i == len(out) || out[i] >= 128 || codes[out[i]].digits == 0 && !strings.ContainsRune("%bafpZ.[]",
			rune(out[i])) {
			return "", fmt.Errorf("layout %s has a directive after %% that is not one of strftime's", quote(layout))
		}
	}
	if !strings.Contains(out, "%Y") && !strings.Contains(out, "%y") && !strings.Contains(out, "%G") {
		return "", fmt.Errorf("layout %s has no year; write it as %%Y-%%m-%%d, or for Mon Jan 2 15:04:05 2006",
			quote(layout))
	}
	return out, nil
}

// fields are what strptime has read: the numbers of its directives, and a zone.
type fields struct {
	number [128]int16
	micro  int
	offset int    // of the zone, in seconds
	zone   string // its name, if it has no offset
	zoned  bool
}

// strptime parses a time as Python's function of this name does: numbers may lack leading zeros unless another
// directive follows at once, names are those of English in any case. Directives that Python lacks: %q is a quarter, %0
// requires the zeros of the next one, %t is T or spaces, %. a mark before a fraction, and [...] may be missing.
func strptime(b []byte, layout string, location *time.Location) (t moment, ok bool) {
	var f fields
	if rest, ok := f.scan(b, layout); !ok || len(rest) > 0 {
		return t, false
	}
	return f.moment(location)
}

// scan reads the fields of a layout, and returns what follows.
func (f *fields) scan(b []byte, layout string) (rest []byte, ok bool) {
	for len(layout) > 0 {
		c := layout[0]
		layout = layout[1:]
		switch {
		case c == '[':
			end := closing(layout)
			before := *f
			if rest, ok := f.scan(b, layout[:end]); ok {
				b = rest
			} else {
				*f = before
			}
			layout = layout[end+1:]
		case c == '%':
			zeros := layout[0] == '0'
			if zeros {
				layout = layout[1:]
			}
			c, layout = layout[0], layout[1:]
			if b, ok = f.directive(b, c, zeros || len(layout) > 1 && layout[0] == '%' && codes[layout[1]].digits > 0); !ok {
				return b, false
			}
		case c == ' ':
			n := len(b) - len(bytes.TrimLeft(b, " \t"))
			if n == 0 {
				return b, false
			}
			b = b[n:]
		default:
			if len(b) == 0 || b[0] != c {
				return b, false
			}
			b = b[1:]
		}
	}
	return b, true
}

// closing is the place of the bracket that closes the one before the layout.
func closing(layout string) int {
	depth := 1
	for i := range len(layout) {
		switch escaped := i > 0 && layout[i-1] == '%'; {
		case layout[i] == '[' && !escaped:
			depth++
		case layout[i] == ']' && !escaped:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	panic("table: a bracket of a layout is not closed")
}

// directive reads the field of one directive. zeros says that it has its leading zeros.
func (f *fields) directive(b []byte, c byte, zeros bool) (rest []byte, ok bool) {
	if code := codes[c]; code.digits > 0 {
		n, v := 0, 0
		for ; n < len(b) && n < code.digits && b[n]-'0' <= 9; n++ {
			v = v*10 + int(b[n]-'0')
		}
		f.number[c] = int16(v)
		short := n < code.digits && (zeros || c == 'Y' || c == 'G' || c == 'y')
		return b[n:], n > 0 && !short && v >= code.least && v <= code.greatest
	}
	word := b[:len(b)-len(bytes.TrimLeftFunc(b, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }))]
	switch c {
	case 'b':
		f.number['m'] = nameOf(word, months)
		return b[len(word):], f.number['m'] > 0
	case 'a':
		return b[len(word):], nameOf(word, weekdays) > 0
	case 'p':
		f.number['p'] = 1
		if foldEqual(word, "pm") {
			f.number['p'] = 2
		}
		return b[len(word):], f.number['p'] == 2 || foldEqual(word, "am")
	case 't':
		rest = bytes.TrimLeft(bytes.TrimPrefix(b, []byte{','}), " ")
		if len(b) > 0 && b[0]|0x20 == 't' {
			rest = b[1:]
		}
		return rest, len(rest) < len(b)
	case 'f':
		n, scale := 0, 100_000
		for ; n < len(b) && b[n]-'0' <= 9; n++ {
			f.micro += int(b[n]-'0') * scale
			scale /= 10
		}
		return b[n:], n > 0 && n <= 9
	case '.':
		return b[min(1, len(b)):], len(b) > 0 && (b[0] == '.' || b[0] == ',')
	case 'Z':
		return f.readZone(b, word)
	}
	return b[min(1, len(b)):], len(b) > 0 && b[0] == c // %%, and brackets
}

var (
	months   = strings.Fields("january february march april may june july august september october november december")
	weekdays = strings.Fields("monday tuesday wednesday thursday friday saturday sunday")
)

// nameOf is the place of a name in a list, from 1, in full or by three or four letters; 0 if it is none of them.
func nameOf(word []byte, list []string) int16 {
	for i, name := range list {
		if n := len(word); n == len(name) || n == 3 || n == 4 && n < len(name) {
			if foldEqual(word, name[:n]) {
				return int16(i + 1)
			}
		}
	}
	return 0
}

// readZone reads Z, UTC, GMT, +01:00, +0100, +01, or the name of another zone.
func (f *fields) readZone(b, word []byte) (rest []byte, ok bool) {
	f.zoned = true
	if len(word) > 0 {
		if !foldEqual(word, "z") && !foldEqual(word, "utc") && !foldEqual(word, "gmt") {
			f.zone = string(word)
		}
		return b[len(word):], len(word) <= 5 && (f.zone == "" || f.zone == strings.ToUpper(f.zone) && len(word) > 1)
	}
	if len(b) == 0 || b[0] != '+' && b[0] != '-' {
		return b, false
	}
	var of fields
	if rest, ok = of.scan(b[1:], "%0H[:][%0M]"); !ok {
		return b, false
	}
	if f.offset = int(of.number['H'])*3600 + int(of.number['M'])*60; b[0] == '-' {
		f.offset = -f.offset
	}
	return rest, of.number['H'] <= 15
}

// moment is the time of the fields.
func (f *fields) moment(location *time.Location) (t moment, ok bool) {
	n := func(code byte) int { return int(f.number[code]) }
	year, month, day := n('Y'), max(1, n('m'), 3*n('q')-2), max(1, n('d'))
	if year == 0 {
		if year = 2000 + n('y'); n('y') > 68 { // as C and Python have it
			year -= 100
		}
	}
	hour := n('H') + n('I')
	switch half := n('p'); {
	case half == 1 && hour > 12:
		return t, false
	case half > 0 && hour <= 12:
		hour = hour%12 + 12*(half-1)
	}
	switch {
	case n('G') > 0:
		fourth := time.Date(n('G'), 1, 4, 0, 0, 0, 0, time.UTC) // always in week 1
		date := fourth.AddDate(0, 0, 7*(n('V')-1)+max(1, n('u'))-(int(fourth.Weekday())+6)%7-1)
		_, week := date.ISOWeek()
		year, month, day, ok = date.Year(), int(date.Month()), date.Day(), week == n('V')
	case n('j') > 0:
		month, day = 1, n('j')
		ok = time.Date(year, 1, day, 0, 0, 0, 0, time.UTC).Year() == year
	default:
		ok = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() == day
	}
	if !ok {
		return t, false
	}
	if f.zoned && f.zone == "" {
		if location = time.UTC; f.offset != 0 {
			location = time.FixedZone("", f.offset)
		}
	}
	at := time.Date(year, time.Month(month), day, hour, n('M'), n('S'), 0, location)
	t.zoned = f.zoned
	if name, _ := at.Zone(); f.zone != "" && name != f.zone {
		// It may be the name an hour later, when clocks are set back.
		if at = at.Add(time.Hour); at.Hour() != hour || at.Format("MST") != f.zone {
			t.zone = f.zone
		}
	}
	t.micro = at.UnixMicro() + int64(f.micro)
	return t, true
}

// parseLayout parses by the given layout.
func (d dates) parseLayout(b []byte) (t moment, ok bool) {
	if s := scaleOf(d.layout); s != nil {
		v, _, result := parseNumber(b, '.')
		micro, ok := s.micro(v, d.location)
		return moment{micro: micro, zoned: !s.naive}, ok && result == isNumber
	}
	return strptime(b, d.layout, d.location)
}

// scale is a way in which numbers mean times.
type scale struct {
	layout          string
	least, greatest float64                 // of a column of times that is taken for such; 0: only as a layout
	naive           bool                    // without a zone
	convert         func(v float64) float64 // to microseconds; NaN if v means no time
}

// scales are those that are known. The ranges, 1980 to 2099 for Unix times, tell them apart.
var scales = []scale{
	{"year12", 1700, 2200, true, yearAndMonth},
	{"year", 1700, 2200, true, yearAndDay},
	{"yyyymmdd", 17000101, 21991231, true, compactDate},
	{"unix", 3.15e8, 4.1e9, false, func(v float64) float64 { return v * 1e6 }},
	{"unixms", 3.15e11, 4.1e12, false, func(v float64) float64 { return v * 1e3 }},
	{"unixus", 3.15e14, 4.1e15, false, func(v float64) float64 { return v }},
	{"unixns", 3.15e17, 4.1e18, false, func(v float64) float64 { return math.Floor(v / 1e3) }},
	// Days since 1899-12-30, in milliseconds, which is how exact they are.
	{"excel", 0, 0, true, func(v float64) float64 { return math.Round((v-25569)*86400e3) * 1e3 }},
}

// scaleOf is the scale of a layout, nil if it is none.
func scaleOf(layout string) *scale {
	for i := range scales {
		if scales[i].layout == layout {
			return &scales[i]
		}
	}
	return nil
}

// micro converts a number. ok says that its year can be meant.
func (s *scale) micro(v float64, location *time.Location) (micro int64, ok bool) {
	v = math.Round(s.convert(v))
	if !(math.Abs(v) < 253402300800e6) { // year 10,000
		return 0, false
	}
	t := time.UnixMicro(int64(v)).UTC()
	if s.naive {
		t = inZone(t, location)
	}
	return t.UnixMicro(), inRange(t.Year())
}

// inZone is the time that the clocks of a location show as UTC's show t.
func inZone(t time.Time, location *time.Location) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), location)
}

// yearAndMonth converts a year with months as twelfths, up to the third decimal place: R writes February of 2010 as
// 2010.083.
func yearAndMonth(v float64) float64 {
	year, fraction := math.Modf(v)
	month := math.Round(fraction * 12)
	if math.Abs(fraction-month/12) > .0006 {
		return math.NaN()
	}
	return float64(time.Date(int(year), 1+time.Month(month), 1, 0, 0, 0, 0, time.UTC).UnixMicro())
}

// yearAndDay converts a year with days as its fraction.
func yearAndDay(v float64) float64 {
	first := yearAndMonth(math.Floor(v))
	return first + math.Round((v-math.Floor(v))*(yearAndMonth(math.Floor(v)+1)-first)/1e3)*1e3 // as exact as a float64 is
}

// compactDate converts a date such as 20240131.
func compactDate(v float64) float64 {
	n := int(v)
	t := time.Date(n/10000, time.Month(n/100%100), n%100, 0, 0, 0, 0, time.UTC)
	if v != math.Trunc(v) || t.Year() != n/10000 || int(t.Month()) != n/100%100 || t.Day() != n%100 {
		return math.NaN()
	}
	return float64(t.UnixMicro())
}
