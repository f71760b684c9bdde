package table

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unsafe"
)

// dates says how the times of a column are written: one layout, or the families that are still possible.
type dates struct {
	families uint8          // of those that parse all values so far
	layout   string         // given by Options.Layouts; "" if it is found
	location *time.Location // of times without a zone
}

// Families of layouts. A column has the first one that reads all its values.
const (
	iso      uint8 = 1 << iota // 2006-01-02, 2006-01-02 15:04[:05[.000]][Z|+01:00], 2006-01, 2006-W05
	dayFirst                   // 02.01.2006, 02/01/2006, 02-01-2006, with or without a time of day
	monthFirst
	named       // 2 Jan 2006, Jan 2, 2006, and similar
	allFamilies = iso | dayFirst | monthFirst | named
)

const (
	microsPerSecond = 1e6
	microsPerDay    = 86400 * microsPerSecond
)

// namedLayouts are those of family named.
var namedLayouts = []string{"2 Jan 2006", "2-Jan-2006", "2-Jan-06", "Jan 2, 2006", "2 January 2006", "January 2, 2006",
	"2 Jan 2006 15:04", "2 Jan 2006 15:04:05", "2-Jan-2006 15:04:05", "Jan 2, 2006 15:04:05", "Jan 2006", "January 2006",
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate}

// String is the layout for a note.
func (d dates) String() string {
	if d.layout != "" {
		return "layout " + d.layout
	}
	switch {
	case d.families&iso != 0:
		return "year first"
	case d.families&dayFirst != 0:
		return "day first"
	case d.families&monthFirst != 0:
		return "month first"
	}
	return "names of months"
}

// ambiguous says that day and month cannot be told apart.
func (d dates) ambiguous() bool {
	return d.layout == "" && d.families&(iso|named) == 0 && d.families&dayFirst != 0 && d.families&monthFirst != 0
}

// parse parses a time by the column's layout. zoned says that it has a zone.
func (d dates) parse(b []byte) (micro int64, zoned, ok bool) {
	if d.layout != "" {
		return d.parseLayout(b)
	}
	for family := uint8(1); family <= allFamilies; family <<= 1 {
		if d.families&family != 0 {
			if micro, zoned, ok := parseFamily(b, family, d.location); ok {
				return micro, zoned, true
			}
		}
	}
	return 0, false, false
}

// matching lists the families that parse b.
func (d dates) matching(b []byte) (families uint8, zoned bool) {
	if !maybeTime(b) {
		return 0, false
	}
	for family := uint8(1); family <= allFamilies; family <<= 1 {
		if _, zone, ok := parseFamily(b, family, d.location); ok {
			families |= family
			zoned = zoned || zone
		}
	}
	return families, zoned
}

// maybeTime is a quick test that rejects most texts: a time has at least two digits and is short.
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

func parseFamily(b []byte, family uint8, location *time.Location) (micro int64, zoned, ok bool) {
	switch family {
	case iso:
		return parseISO(b, location)
	case dayFirst, monthFirst:
		return parseDayMonth(b, family, location)
	}
	if c := b[0] | 0x20; (c < 'a' || c > 'z') && !strings.ContainsAny(string(b), "JFMASONDjfmasond") {
		return 0, false, false
	}
	for _, layout := range namedLayouts {
		t, err := time.ParseInLocation(layout, string(b), location)
		if err == nil && inRange(t.Year()) {
			// Zones by name alone, as MST, have no offset that time knows: they are taken as UTC if unknown.
			return t.UnixMicro(), strings.Contains(layout, "MST") || strings.Contains(layout, "-0700"), true
		}
	}
	return 0, false, false
}

// inRange says whether a year can be meant.
func inRange(year int) bool { return year >= 1 && year <= 9999 }

// digitsAt parses n digits at the beginning of b.
func digitsAt(b []byte, n int) (v int, rest []byte, ok bool) {
	if len(b) < n {
		return 0, b, false
	}
	for _, c := range b[:n] {
		if c-'0' > 9 {
			return 0, b, false
		}
		v = v*10 + int(c-'0')
	}
	return v, b[n:], true
}

// upTo2 parses one or two digits.
func upTo2(b []byte) (v int, rest []byte, ok bool) {
	if v, rest, ok = digitsAt(b, 2); ok {
		return v, rest, true
	}
	return digitsAt(b, 1)
}

// parseISO parses the family iso, and the same with slashes: 2006/01/02.
func parseISO(b []byte, location *time.Location) (micro int64, zoned, ok bool) {
	year, rest, ok := digitsAt(b, 4)
	if !ok || !inRange(year) || len(rest) < 2 || (rest[0] != '-' && rest[0] != '/') {
		return 0, false, false
	}
	separator := rest[0]
	rest = rest[1:]
	if rest[0] == 'W' {
		week, rest, ok := digitsAt(rest[1:], 2)
		if !ok || len(rest) > 0 || separator != '-' || week < 1 || week > isoWeeks(year) {
			return 0, false, false
		}
		monday := isoMonday(year).AddDate(0, 0, 7*(week-1))
		return time.Date(monday.Year(), monday.Month(), monday.Day(), 0, 0, 0, 0, location).UnixMicro(), false, true
	}
	month, rest, ok := digitsAt(rest, 2)
	if !ok || month < 1 || month > 12 {
		return 0, false, false
	}
	if len(rest) == 0 {
		return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, location).UnixMicro(), false, true
	}
	if rest[0] != separator {
		return 0, false, false
	}
	day, rest, ok := digitsAt(rest[1:], 2)
	if !ok {
		return 0, false, false
	}
	return timeOfDay(year, month, day, rest, location)
}

// parseDayMonth parses the families dayFirst and monthFirst. Points always have the day first.
func parseDayMonth(b []byte, family uint8, location *time.Location) (micro int64, zoned, ok bool) {
	first, rest, ok := upTo2(b)
	if !ok || len(rest) == 0 || (rest[0] != '.' && rest[0] != '/' && rest[0] != '-') ||
		(rest[0] == '.' && family == monthFirst) {
		return 0, false, false
	}
	separator := rest[0]
	second, rest, ok := upTo2(rest[1:])
	if !ok || len(rest) == 0 || rest[0] != separator {
		return 0, false, false
	}
	year, rest, ok := digitsAt(rest[1:], 4)
	if !ok || !inRange(year) {
		return 0, false, false
	}
	if family == monthFirst {
		first, second = second, first
	}
	return timeOfDay(year, second, first, rest, location)
}

// timeOfDay parses what follows a date: nothing, or T or spaces, a time of day, and a zone.
func timeOfDay(year, month, day int, b []byte, location *time.Location) (micro int64, zoned, ok bool) {
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false, false
	}
	if len(b) == 0 {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, location).UnixMicro(), false, true
	}
	if b[0] != 'T' && b[0] != 't' && b[0] != ' ' {
		return 0, false, false
	}
	hour, rest, ok := upTo2(b[1:])
	if !ok || len(rest) < 3 || rest[0] != ':' || hour > 23 {
		return 0, false, false
	}
	minute, rest, ok := digitsAt(rest[1:], 2)
	if !ok || minute > 59 {
		return 0, false, false
	}
	second, fraction := 0, 0
	if len(rest) > 0 && rest[0] == ':' {
		if second, rest, ok = digitsAt(rest[1:], 2); !ok || second > 60 {
			return 0, false, false
		}
		if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
			scale := 100_000
			rest = rest[1:]
			n := 0
			for ; n < len(rest) && rest[n]-'0' <= 9; n++ {
				fraction += int(rest[n]-'0') * scale
				scale /= 10
			}
			if n == 0 || n > 9 {
				return 0, false, false
			}
			rest = rest[n:]
		}
	}
	zone := location
	if len(rest) > 0 {
		offset, ok := parseOffset(trim(rest))
		if !ok {
			return 0, false, false
		}
		zone, zoned = time.FixedZone("", offset), true
		if offset == 0 {
			zone = time.UTC
		}
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, zone)
	return t.UnixMicro() + int64(fraction), zoned, true
}

// parseOffset parses Z, UTC, +01:00, +0100 and +01, in seconds.
func parseOffset(b []byte) (seconds int, ok bool) {
	if len(b) == 1 && b[0]|0x20 == 'z' || foldEqual(b, "utc") {
		return 0, true
	}
	if len(b) < 3 || (b[0] != '+' && b[0] != '-') {
		return 0, false
	}
	hours, rest, ok := digitsAt(b[1:], 2)
	if !ok || hours > 15 {
		return 0, false
	}
	minutes := 0
	if len(rest) > 0 {
		if rest[0] == ':' {
			rest = rest[1:]
		}
		if minutes, rest, ok = digitsAt(rest, 2); !ok || len(rest) > 0 || minutes > 59 {
			return 0, false
		}
	}
	seconds = hours*3600 + minutes*60
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// isoMonday is the Monday of the first ISO week of a year, in UTC.
func isoMonday(year int) time.Time {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // always in week 1
	return fourth.AddDate(0, 0, -int(fourth.Weekday()+6)%7)
}

// isoWeeks is the number of ISO weeks of a year.
func isoWeeks(year int) int {
	_, week := time.Date(year, 12, 28, 0, 0, 0, 0, time.UTC).ISOWeek()
	return week
}

// parseLayout parses by the given layout.
func (d dates) parseLayout(b []byte) (micro int64, zoned, ok bool) {
	if scale := unixScale(d.layout); scale > 0 {
		v, _, result := parseNumber(b, '.')
		micro, ok := unixMicros(v, scale)
		return micro, true, ok && result == isNumber
	}
	text := unsafe.String(unsafe.SliceData(b), len(b))
	t, err := time.ParseInLocation(d.layout, text, d.location)
	if err != nil || !inRange(t.Year()) {
		return 0, false, false
	}
	return t.UnixMicro(), hasZone(d.layout), true
}

// hasZone says whether a Go layout has a zone.
func hasZone(layout string) bool {
	return strings.Contains(layout, "07") || strings.Contains(layout, "MST")
}

// unixScale is the number of microseconds of a layout's unit, 0 if it is not one of the Unix layouts.
func unixScale(layout string) float64 {
	switch layout {
	case "unix":
		return 1e6
	case "unixms":
		return 1e3
	}
	return 0
}

// unixMicros converts a Unix time. ok says that its year can be meant.
func unixMicros(v, scale float64) (micro int64, ok bool) {
	v = math.Floor(v * scale)
	if !(math.Abs(v) < 253402300800e6) { // year 10,000
		return 0, false
	}
	return int64(v), inRange(time.UnixMicro(int64(v)).UTC().Year())
}

// strftime has the directives of Python's and C's formats.
var strftime = map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03",
	'M': "04",
	'S': "05", 'f': "000000", 'p': "PM", 'b': "Jan", 'h': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'z': "-0700",
	'Z': "MST", 'j': "002", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", '%': "%"}

// goLayout is the Go layout of a layout option.
func goLayout(layout string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' {
			b.WriteByte(layout[i])
			continue
		}
		i++
		if i == len(layout) || strftime[layout[i]] == "" {
			return "", fmt.Errorf("layout %s has a directive after %% that is not one of strftime's", quote(layout))
		}
		b.WriteString(strftime[layout[i]])
	}
	text := b.String()
	if unixScale(text) == 0 && !strings.Contains(text, "06") {
		return "", fmt.Errorf("layout %s has no year; write it for Mon Jan 2 15:04:05 2006, or as %%Y-%%m-%%d",
			quote(layout))
	}
	return text, nil
}
