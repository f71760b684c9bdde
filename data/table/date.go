package table

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

const (
	microsPerSecond = 1e6
	microsPerDay    = 86400 * microsPerSecond
)

// dates says how the times of a column are written: by the first of the possible layouts that reads one.
type dates struct {
	layouts  []*layout
	possible uint8          // bits of the layouts that read all values so far
	given    string         // by Options.Layouts; "": the layouts are families
	location *time.Location // of times without a zone
	known    map[string]found
}

// layout is a way to write a time: a regular expression, and the directives that its groups are of; or a scale.
type layout struct {
	name   string
	re     *regexp.Regexp
	groups []byte
	scale  *scale
}

// families are the layouts that are found.
var families = []*layout{
	yearFirst:  family("year first", `(?:%Y-%m-%d|%Y/%m/%d)CLOCK|%Y[-/]%0m|%G-W%V|%Y%m%dT%H%0M(?:%0S)?(?:%Z)?`),
	dayFirst:   family("day first", `(?:%d/%m/%Y|%d\.%m\.%Y|%d-%m-%Y|%d/%m/%y)CLOCK`),
	monthFirst: family("month first", `(?:%m/%d/%Y|%m-%d-%Y|%m/%d/%y)CLOCK`),
	named: family("names of months", `(?:%a,?(?: )?)?(?:%d %b %Y|%d-%b-%Y|%d-%b-%y|%d%b%Y|%b %d,?(?: )?%Y)CLOCK|`+
		`%b(?: |-)%Y|%a %b %d %H:%M:%S(?: %Z)? %Y`),
}

// yearly is how the names of years and quarters are written.
var yearly = []*layout{family("", "%Y(?:-Q%q)?")}

const (
	yearFirst = iota
	dayFirst
	monthFirst
	named
	allFamilies = 1<<(named+1) - 1
)

// clock is nothing, or T or spaces and a time of day, with AM or PM and a zone.
const clock = `(?:(?:[Tt]|, | |,)%H:%M(?::%S)?(?: )?(?:%p)?(?: )?(?:%Z)?)?`

// family is a layout that is found.
func family(name, pattern string) *layout {
	l, err := newLayout(name, strings.ReplaceAll(pattern, "CLOCK", clock))
	if err != nil {
		panic(err)
	}
	return l
}

// String is the layout for a note.
func (d dates) String() string {
	if d.given != "" {
		return "layout " + d.given
	}
	for i, l := range d.layouts {
		if d.possible>>i&1 != 0 {
			return l.name
		}
	}
	return "no layout"
}

// ambiguous says that day and month cannot be told apart.
func (d dates) ambiguous() bool { return d.given == "" && d.possible == 1<<dayFirst|1<<monthFirst }

// parse parses a time by the column's layouts.
func (d dates) parse(b []byte) (t moment, ok bool) {
	d.possible, t = d.matching(b, d.possible)
	return t, d.possible != 0
}

// matching lists those of some layouts that read b, and the time that it is by the first of them.
func (d dates) matching(b []byte, among uint8) (possible uint8, first moment) {
	if d.given == "" && !maybeTime(b) {
		return 0, first
	}
	if found, ok := d.known[string(b)]; ok && found.among == among {
		return found.possible, found.first
	}
	for i := len(d.layouts) - 1; i >= 0; i-- {
		if among>>i&1 != 0 {
			if t, ok := d.layouts[i].parse(b, d.location); ok {
				possible, first = possible|1<<i, t
			}
		}
	}
	if len(d.known) < mostKnown {
		d.known[string(b)] = found{among, possible, first}
	}
	return possible, first
}

// found is what matching has found. Texts that repeat need no regular expression again, nor do many of a category.
type found struct {
	among, possible uint8
	first           moment
}

const mostKnown = 1 << 12

// maybeTime is a quick test that rejects most texts: a time has at least four digits and is short.
func maybeTime(b []byte) bool {
	digits := 0
	for _, c := range b {
		if c-'0' <= 9 {
			digits++
		} else if c >= 0x80 {
			return false
		}
	}
	return digits >= 4 && len(b) <= 40
}

// inRange says whether a year can be meant.
func inRange(year int) bool { return year >= 1 && year <= 9999 }

// moment is a time that was parsed.
type moment struct {
	micro int64
	zoned bool   // it has a zone
	zone  string // the name of its zone, if nobody can know which one is meant: EST is one in America and in Australia
}

// numbers are the directives of numbers: how many digits they have at most, and what they may be. Years have all their
// digits.
var numbers = [128]struct{ digits, least, greatest int }{
	'Y': {4, 1, 9999}, 'G': {4, 1, 9999}, 'y': {2, 0, 99}, 'm': {2, 1, 12}, 'd': {2, 1, 31},
	'H': {2, 0, 23}, 'I': {2, 1, 12}, 'M': {2, 0, 59}, 'S': {2, 0, 60},
	'j': {3, 1, 366}, 'V': {2, 1, 53}, 'u': {1, 1, 7}, 'q': {1, 1, 4}}

// directives are the others, as regular expressions.
var directives = map[byte]string{'%': "%", 'f': `(\d{1,9})`, 'p': `((?i)[ap]m)`, 'b': names(months),
	'a': names(weekdays), 'Z': `((?i)Z|utc|gmt|(?-i)[A-Z]{2,5}|[-+](?:0\d|1[0-5]):?(?:[0-5]\d)?)`}

const (
	months   = "January February March April May June July August September October November December"
	weekdays = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
)

// names is an expression of names in any case, in full or by three or four letters.
func names(list string) string {
	name := regexp.MustCompile(`(\w{3})(\w?)(\w*)(?: |$)`)
	return `((?i)` + name.ReplaceAllString(list, `|${1}(?:${2}(?:${3})?)?`)[1:] + `)`
}

// strftime has directives that stand for several, or for others.
var strftime = strings.NewReplacer("%%", "%%", "%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%R", "%H:%M", "%D", "%m/%d/%y",
	"%e", "%d", "%k", "%H", "%l", "%I", "%h", "%b", "%B", "%b", "%A", "%a", "%z", "%Z", "%S.%f", "%S", "%S,%f", "%S",
	"%-", "%")

// goLayout has the directives of Go's layouts.
var goLayout = strings.NewReplacer("2006", "%Y", "January", "%b", "Jan", "%b", "Monday", "%a", "Mon", "%a", "MST", "%Z",
	"Z07:00", "%Z", "Z0700", "%Z", "-07:00", "%Z", "-0700", "%Z", "-07", "%Z", ".000000000", "", ".000000", "", ".000", "",
	".999999999", "", ".999999", "", ".999", "", "002", "%j", "01", "%m", "02", "%d", "_2", "%d", "03", "%I", "04", "%M",
	"05", "%S", "06", "%y", "15", "%H", "PM", "%p", "1", "%m", "2", "%d", "3", "%I", "4", "%M", "5", "%S")

// compile is the layout of an option: the name of a scale, Python's and C's directives, or those of a Go layout.
// Numbers may lack leading zeros unless another directive follows at once, and seconds may have a fraction.
func compile(given string) (*layout, error) {
	if s := scaleOf(given); s != nil {
		return &layout{scale: s}, nil
	}
	pattern := goLayout.Replace(given)
	if strings.Contains(given, "%") {
		pattern = strftime.Replace(given)
	}
	l, err := newLayout(given, regexp.QuoteMeta(pattern))
	if err == nil && !strings.ContainsAny(string(l.groups), "YyG") {
		err = fmt.Errorf("layout %s has no year; write it as %%Y-%%m-%%d, or for Mon Jan 2 15:04:05 2006", quote(given))
	}
	return l, err
}

// newLayout compiles a regular expression with directives. %q is a quarter, %0 requires the zeros of the next one.
func newLayout(name, pattern string) (*layout, error) {
	l, expression := &layout{name: name}, ""
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == ' ' {
			expression += `[ \t]+`
			continue
		} else if pattern[i] != '%' {
			expression += pattern[i : i+1]
			continue
		}
		zeros := strings.HasPrefix(pattern[i:], "%0")
		if i++; zeros {
			i++
		}
		code, next := (pattern + "\x00\x00")[i], (pattern + "\x00\x00\x00\x00")[i+1:i+3]
		text, known := directives[code]
		switch n := numbers[code&127].digits; {
		case n > 0 && (zeros || strings.IndexByte("YyG", code) >= 0 || next[0] == '%' && numbers[next[1]&127].digits > 0):
			text = fmt.Sprintf(`(\d{%d})`, n)
		case n > 0:
			text = fmt.Sprintf(`(\d{1,%d})`, n)
		case !known:
			return nil, fmt.Errorf("layout %s has a directive after %% that is not one of strftime's", quote(name))
		}
		if expression += text; code != '%' {
			l.groups = append(l.groups, code)
		}
		if code == 'S' {
			expression += `(?:[.,](\d{1,9}))?`
			l.groups = append(l.groups, 'f')
		}
	}
	l.re = regexp.MustCompile(`^(?:` + expression + `)$`)
	return l, nil
}

// usual are the layouts of Go by which most times can be read, faster, by length and sign after the date.
var usual = map[[2]byte]string{{10, 0}: time.DateOnly, {19, ' '}: time.DateTime, {19, 'T'}: "2006-01-02T15:04:05",
	{20, 'T'}: time.RFC3339}

// parse parses a time as Python's strptime does.
func (l *layout) parse(b []byte, location *time.Location) (t moment, ok bool) {
	if l.scale != nil {
		v, _, result := parseNumber(b, '.')
		micro, ok := l.scale.micro(v, location)
		return moment{micro: micro, zoned: !l.scale.naive}, ok && result == isNumber
	}
	key := [2]byte{byte(len(b))}
	if len(b) > 10 {
		key[1] = b[10]
	}
	if usual := usual[key]; usual != "" && l == families[yearFirst] {
		if when, err := time.ParseInLocation(usual, string(b), location); err == nil && inRange(when.Year()) {
			return moment{micro: when.UnixMicro(), zoned: len(b) == 20}, true
		}
	}
	at := l.re.FindSubmatchIndex(b)
	if at == nil {
		return t, false
	}
	var n [128]int
	zone := ""
	for i, code := range l.groups {
		if at[2*i+2] < 0 {
			continue
		}
		switch text := b[at[2*i+2]:at[2*i+3]]; code {
		case 'Z':
			zone = string(text)
		case 'b':
			for i, name := range strings.Fields(months) {
				if strings.EqualFold(name[:3], string(text[:3])) {
					n['m'] = i + 1
				}
			}
		case 'p':
			n['p'] = 1 + int(text[0]|0x20-'a')/15 // 1 is AM, 2 is PM
		case 'f':
			for _, c := range append(text[:len(text):len(text)], "00000"...)[:6] {
				n['f'] = 10*n['f'] + int(c-'0')
			}
		case 'a':
		default:
			for _, c := range text {
				n[code] = 10*n[code] + int(c-'0')
			}
			if n[code] < numbers[code].least || n[code] > numbers[code].greatest {
				return t, false
			}
		}
	}
	year, month, day := n['Y'], max(1, n['m'], 3*n['q']-2), max(1, n['d'])
	if year == 0 {
		if year = 2000 + n['y']; n['y'] > 68 { // as C and Python have it
			year -= 100
		}
	}
	hour := n['H'] + n['I']
	switch half := n['p']; {
	case half == 1 && hour > 12:
		return t, false
	case half > 0 && hour <= 12:
		hour = hour%12 + 12*(half-1)
	}
	switch {
	case n['G'] > 0:
		fourth := date(n['G'], 1, 4) // always in week 1
		first := fourth.AddDate(0, 0, 7*(n['V']-1)+max(1, n['u'])-(int(fourth.Weekday())+6)%7-1)
		_, week := first.ISOWeek()
		year, month, day, ok = first.Year(), int(first.Month()), first.Day(), week == n['V']
	case n['j'] > 0:
		month, day = 1, n['j']
		ok = date(year, 1, day).Year() == year
	default:
		ok = date(year, month, day).Day() == day
	}
	if t.zoned = zone != ""; t.zoned && strings.ContainsAny(zone[:1], "+-") {
		offset, _ := time.Parse("-0700", (strings.Replace(zone, ":", "", 1) + "00")[:5])
		location, zone = offset.Location(), ""
	} else if strings.EqualFold(zone, "z") || strings.EqualFold(zone, "utc") || strings.EqualFold(zone, "gmt") {
		location, zone = time.UTC, ""
	}
	when := time.Date(year, time.Month(month), day, hour, n['M'], n['S'], 0, location)
	if name, _ := when.Zone(); zone != "" && name != zone {
		// It may be the name an hour later, when clocks are set back.
		if when = when.Add(time.Hour); when.Hour() != hour || when.Format("MST") != zone {
			t.zone = zone
		}
	}
	t.micro = when.UnixMicro() + int64(n['f'])
	return t, ok
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
