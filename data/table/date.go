package table

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"slices"
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

// layout is a way to write a time: one of some layouts of Go, or a scale.
type layout struct {
	of    []string
	scale *scale
	// Of a family, which a time of day and a zone may follow.
	name  string
	start *regexp.Regexp // a quick test of a text
}

// families are the layouts that are found.
var families = []*layout{
	yearFirst: family("year first", `^(?:\d{4}(?:[-/Qq]| [Qq]|\d{4}T)|[Qq]\d[- /]?\d{4}$)`, "2006-1-2", "2006/1/2", "2006-01",
		"2006/01", "20060102"),
	dayFirst:   family("day first", `^\d\d?[-./]\d`, "2/1/2006", "2.1.2006", "2-1-2006", "2/1/06"),
	monthFirst: family("month first", `^\d\d?[-/]\d`, "1/2/2006", "1-2-2006", "1/2/06"),
	shortFirst: family("year of two digits first", `^\d\d/\d`, "06/1/2"),
	named: family("names of months", `^(?:\d\d?[- ]?)?[A-Za-z]{3}`, "2 Jan 2006", "2-Jan-2006", "2-Jan-06", "2Jan2006",
		"Jan 2, 2006", "Jan 2,2006", "Jan 2 2006", "Jan 2006", "Jan-2006"),
}

const (
	yearFirst = iota
	dayFirst
	monthFirst
	shortFirst
	named
	allFamilies = 1<<(named+1) - 1
)

func family(name, start string, of ...string) *layout {
	return &layout{name: name, start: regexp.MustCompile(start), of: variants(of)}
}

// variants adds layouts with the other ways to write names and zones.
func variants(of []string) []string {
	for _, way := range [][2]string{{"Jan", "January"}, {"Mon", "Monday"}, {"Z0700", "Z07:00"}, {"Z0700", "MST"}} {
		for _, layout := range of {
			if strings.Contains(layout, way[0]) {
				of = append(of, strings.ReplaceAll(layout, way[0], way[1]))
			}
		}
	}
	return of
}

// String is the layout for a note.
func (d dates) String() string {
	if d.given != "" {
		return "layout " + d.given
	}
	return d.layouts[bits.TrailingZeros8(d.possible)].name
}

// ambiguous says that day, month and year cannot be told apart.
func (d dates) ambiguous() bool {
	return d.given == "" && d.possible&(1<<dayFirst) != 0 && d.possible&(1<<monthFirst|1<<shortFirst) != 0 &&
		d.possible&(1<<yearFirst) == 0
}

// matching lists those of some layouts that read b, and the time that it is by the first of them.
func (d dates) matching(b []byte, among uint8) (possible uint8, first moment) {
	if d.given == "" && len(b) > 40 { // longer than any time
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
	if len(d.known) < 1<<12 {
		d.known[string(b)] = found{among, possible, first}
	}
	return possible, first
}

// found is what matching has found. Texts that repeat need no regular expression again, nor do many of a category.
type found struct {
	among, possible uint8
	first           moment
}

// inRange says whether a year can be meant.
func inRange(year int) bool { return year >= 1 && year <= 9999 }

// moment is a time that was parsed.
type moment struct {
	micro int64
	zoned bool   // it has a zone
	zone  string // the name of its zone, if it is ambiguous: EST is one in America and in Australia
	// A time that a change of the clocks repeats or skips has another reading, which is earlier.
	change  string // how it is one
	earlier int64
}

// directives are those of strptime as Go's layouts have them. A time may have more digits of its seconds.
var directives = map[string]string{"Y": "2006", "y": "06", "m": "1", "d": "2", "e": "2", "j": "002", "H": "15", "k": "15",
	"I": "3", "l": "3", "M": "4", "S": "5", "p": "PM", "b": "Jan", "h": "Jan", "B": "Jan", "a": "Mon", "A": "Mon",
	"z": "Z0700", "Z": "Z0700", "F": "2006-1-2", "T": "15:4:5", "R": "15:4", "D": "1/2/06", "%": "%"}

// compile is the layout of an option: the name of a scale, directives as Python and C have them, or a layout of Go.
func compile(given string) (*layout, error) {
	if at := slices.IndexFunc(scales, func(s scale) bool { return s.layout == given }); at >= 0 {
		return &layout{scale: &scales[at]}, nil
	}
	pattern, bad := given, ""
	if strings.Contains(given, "%") { // where a digit would be a directive of Go's
		pattern = strings.NewReplacer("%S.%f", "%S", "%S,%f", "%S", "%-", "%").Replace(given)
		pattern = regexp.MustCompile(`%.?|\d`).ReplaceAllStringFunc(pattern, func(s string) string {
			if directives[s[1:]] == "" {
				bad = s
			}
			return directives[s[1:]]
		})
	}
	switch {
	case bad != "":
		return nil, fmt.Errorf("layout %s has %s, which is not one of strftime's directives that are read", quote(given),
			quote(bad))
	case !strings.Contains(pattern, "06"):
		return nil, fmt.Errorf("layout %s has no year; write it as %%Y-%%m-%%d, or for Mon Jan 2 15:04:05 2006",
			quote(given))
	}
	if strings.HasSuffix(pattern, "Z") { // which means UTC
		pattern += "0700"
	}
	return &layout{of: variants([]string{pattern})}, nil
}

// parse parses a time.
func (l *layout) parse(b []byte, location *time.Location) (t moment, ok bool) {
	if l.scale != nil {
		v, how := parseNumber(b, '.')
		t, ok := l.scale.moment(v, location)
		return t, ok && how >= plain
	}
	text, rest := string(b), ""
	if l == families[yearFirst] && len(b) == len("2006-01-02T15:04:05Z") { // several times as fast as below
		if when, err := time.Parse(time.RFC3339, text); err == nil && inRange(when.Year()) {
			return moment{micro: when.UnixMicro(), zoned: true}, true
		}
	}
	if l.name != "" {
		if !l.start.Match(b) {
			return t, false
		}
		if l == families[named] {
			text = ctime.ReplaceAllString(weekday.ReplaceAllString(strings.Replace(text, "Sept ", "Sep ", 1), ""), "$1 $4 $2$3")
		}
		if l == families[yearFirst] && text[4:min(6, len(text))] == "-W" {
			var year, week int
			_, _ = fmt.Sscanf(text, "%d-W%d", &year, &week)
			first := weekBegin(year, week)
			return inZone(first, location).begin(), isoWeek(first) == text
		}
		if l == families[yearFirst] && len(text) <= 7 {
			if part := quarter.FindStringSubmatch(text); part != nil {
				var year, n int
				_, _ = fmt.Sscan(part[1]+part[4], &year)
				_, _ = fmt.Sscan(part[2]+part[3], &n)
				return inZone(date(year, 3*n-2, 1), location).begin(), inRange(year)
			}
		}
		text, rest = clock(text)
	}
	for _, layout := range l.of {
		if strings.Contains(layout, "PM") {
			text = strings.ToUpper(text)
		}
		when, err := time.ParseInLocation(layout+rest, text, location)
		if err != nil || !inRange(when.Year()) {
			continue
		}
		t = moment{micro: when.UnixMicro(), zoned: strings.Contains(layout+rest, "07") || strings.Contains(layout+rest, "MST")}
		if !t.zoned && location != time.UTC {
			wall, _ := time.Parse(layout+rest, text)
			t = inZone(wall, location)
			if !hourOf.MatchString(layout + rest) { // a date is the beginning of its day
				t = t.begin()
			}
			return t, true
		}
		name, offset := when.Zone()
		if offset == 0 && when.Location() != location && strings.Trim(name, "UTCGM") != "" {
			t.zone = name
		}
		return t, true
	}
	return t, false
}

// quarter is one as pandas, spreadsheets and this program write it.
var quarter = regexp.MustCompile(`^(\d{4})[- ]?[Qq]([1-4])$|^[Qq]([1-4])[- /]?(\d{4})$`)

// hourOf finds an hour in a layout of Go.
var hourOf = regexp.MustCompile("15|3")

// weekday and ctime are what may stand before a date with the name of a month, and between its parts.
var (
	weekday = regexp.MustCompile(`^(?i)(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +`)
	ctime   = regexp.MustCompile(`^(\w{3} +\d+) (\d+:\d\d:\d\d)( \w+)? (\d{4})$`)
)

// clock writes the time of day and the zone that follow a date in one way, and says which.
func clock(text string) (plain, layout string) {
	start := strings.IndexByte(text, ':')
	for start > 0 && text[start-1]-'0' <= 9 {
		start--
	}
	layout = " 15:4"
	if start < 0 && len(text) > 12 && text[8] == 'T' {
		start, layout = 9, " 1504"
	}
	date := strings.TrimRight(text[:max(start, 0)], "Tt, ")
	if len(date) == max(start, 0) { // there is none
		return text, ""
	}
	zone := strings.TrimLeft(text[start:], "0123456789:.,")
	clock := text[start : len(text)-len(zone)]
	if strings.Count(clock, ":") == 2 {
		layout += ":5"
	} else if layout == " 1504" && len(clock) > 4 {
		layout += "05"
	}
	zone = strings.TrimLeft(zone, " ")
	if half := strings.ToUpper(zone[:min(2, len(zone))]); half == "AM" || half == "PM" {
		if clock, zone, layout = clock+half, strings.TrimLeft(zone[2:], " "), layout+"PM"; half == "AM" {
			layout = strings.Replace(layout, "15", "3", 1) // 13:00 AM is no time
		}
	}
	form := " MST"
	switch {
	case zone == "":
		return date + " " + clock, layout
	case strings.ContainsAny(zone[:1], "+-"):
		form = map[int]string{3: " Z07", 5: " Z0700", 6: " Z07:00"}[len(zone)]
	case strings.EqualFold(zone, "z") || strings.EqualFold(zone, "gmt") || strings.EqualFold(zone, "utc"):
		zone = "UTC"
	}
	return date + " " + clock + " " + zone, layout + form
}

// allDigits says whether a text has nothing but digits.
func allDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// timeOfDay parses one alone: an hour, or with minutes and seconds. 24:00 ends the day.
func timeOfDay(text string) (d time.Duration, ok bool) {
	text = strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	if strings.Trim(strings.TrimPrefix(text, "24"), "0:") == "" && strings.HasPrefix(text, "24") {
		return 24 * time.Hour, true
	}
	for _, layout := range []string{"15:4:5", "15:4", "15", "1504", "3:4:5PM", "3:4PM", "3PM"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Sub(date(0, 1, 1)), true
		}
	}
	return 0, false
}

// scale is a way in which numbers mean times.
type scale struct {
	layout          string
	least, greatest float64                 // of a column of times that is taken for such; 0: only as a layout
	naive           bool                    // without a zone
	compact         bool                    // digits of a date, of which not all are one
	convert         func(v float64) float64 // to microseconds; NaN if v means no time
}

// scales are those that are known. The ranges, 1980 to 2099 for Unix times, tell them apart.
var scales = []scale{
	{"yyyymm", 170001, 219912, true, true, compact("200601")},
	{"yyyyww", 170001, 219953, true, true, compactWeek},
	{"yyyymmdd", 17000101, 21991231, true, true, compact("20060102")},
	{"yyyymmddhh", 1700010100, 2199123123, true, true, compact("2006010215")}, // few Unix times look so
	{"yyyymmddhhmm", 170001010000, 219912312359, true, true, compact("200601021504")},
	{"yyyymmddhhmmss", 17000101000000, 21991231235959, true, true, compact("20060102150405")},
	{"unix", 3.15e8, 4.1e9, false, false, func(v float64) float64 { return v * 1e6 }},
	{"unixms", 3.15e11, 4.1e12, false, false, func(v float64) float64 { return v * 1e3 }},
	{"unixus", 3.15e14, 4.1e15, false, false, func(v float64) float64 { return v }},
	{"unixns", 3.15e17, 4.1e18, false, false, func(v float64) float64 { return math.Floor(v / 1e3) }},
	// Days since 1899-12-30, in milliseconds, which is how exact they are.
	{"excel", 0, 0, true, false, func(v float64) float64 { return math.Round((v-25569)*86400e3) * 1e3 }},
}

// moment converts a number. ok says that its year can be meant.
func (s *scale) moment(v float64, location *time.Location) (t moment, ok bool) {
	v = math.Round(s.convert(v))
	if !(math.Abs(v) < 253402300800e6) { // year 10,000
		return t, false
	}
	at := time.UnixMicro(int64(v)).UTC()
	if t = (moment{micro: at.UnixMicro(), zoned: true}); s.naive {
		t = inZone(at, location)
		if at.Equal(date(at.Year(), int(at.Month()), at.Day())) && !strings.Contains(s.layout, "hh") {
			t = t.begin()
		}
	}
	return t, inRange(time.UnixMicro(t.micro).UTC().Year())
}

// inZone is the time that the clocks of a location show as UTC's show wall. If they show it twice it is the later one;
// if they skip it, that of the change.
func inZone(wall time.Time, location *time.Location) moment {
	const around = 26 * time.Hour // longer than any offset and a day's distance to a change
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(location).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := offset(wall.Add(-around)), offset(wall.Add(around))
	old, new := wall.Add(-before), wall.Add(-after)
	isOld, isNew := offset(old) == before, offset(new) == after
	switch {
	case before == after || isOld && !isNew:
		return moment{micro: old.UnixMicro()}
	case isNew && !isOld:
		return moment{micro: new.UnixMicro()}
	case isOld:
		return moment{micro: new.UnixMicro(), change: "is twice in " + location.String() + ", where clocks are set back",
			earlier: old.UnixMicro()}
	}
	change, _ := old.In(location).ZoneBounds()
	return moment{micro: change.UnixMicro(), change: "is no time in " + location.String() + ", where clocks are set forward",
		earlier: change.UnixMicro() - 1}
}

// begin is the time of a day's beginning, which no change makes unclear.
func (t moment) begin() moment {
	if strings.HasPrefix(t.change, "is twice") {
		t.micro = t.earlier
	}
	t.change = ""
	return t
}

// chosen is the time that is meant by one that a change of the clocks repeats or skips. ok says that it is known.
func (t moment) chosen(earlier string) (micro int64, ok bool) {
	if t.change != "" && earlier == "earlier" {
		return t.earlier, true
	}
	return t.micro, t.change == "" || earlier == "later"
}

// weekBegin is the Monday of a week of ISO 8601.
func weekBegin(year, week int) time.Time {
	first := date(year, 1, 4+7*(week-1)) // the fourth of January is in week 1
	return first.AddDate(0, 0, -int(first.Weekday()+6)%7)
}

// compactWeek converts weeks such as 202401.
func compactWeek(v float64) float64 {
	year, week := int(v)/100, int(v)%100
	first := weekBegin(year, week)
	if y, w := first.ISOWeek(); y != year || w != week || v != math.Trunc(v) {
		return math.NaN()
	}
	return float64(first.UnixMicro())
}

// compact converts dates such as 20240131 or 202401, in Go's layout.
func compact(layout string) func(v float64) float64 {
	return func(v float64) float64 {
		t, err := time.Parse(layout, short(v))
		if err != nil {
			return math.NaN()
		}
		return float64(t.UnixMicro())
	}
}
