package table

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// At finds the time that a text means, for instance the bin of "2024-06-15 12:00": its place in Values. A day, week,
// month, quarter or year means the last time that ends in it, or else the one that it lies in. A block can also be
// named by its number, as "block 3". A text that means no time of the table is an error that names the nearest ones.
func (t *Times) At(text string) (int, error) {
	text = strings.TrimSpace(text)
	v, ok := t.parse(text)
	problem := "no row has time %s; the nearest: %s"
	if ok && t.column.Kind == Time {
		last, isPeriod := t.lastIn(text, int64(v))
		if last >= 0 {
			return last, nil
		} else if isPeriod {
			problem = "no time ends in %s; the nearest: %s"
		}
		v = t.key(int64(v))
	}
	for i, name := range t.Names {
		if short, _, _ := strings.Cut(name, " (from "); name == text || short == text {
			return i, nil
		}
	}
	if !ok {
		return 0, t.table.errorf(-1, t.Column, "", "%s is not a time; times are written as %s", quote(text),
			t.Names[len(t.Names)-1])
	}
	at, found := slices.BinarySearch(t.first, v)
	if t.isBlocks && !found && at > 0 {
		at, found = at-1, true
	}
	if !found {
		return 0, t.table.errorf(-1, t.Column, "", problem, quote(text),
			strings.Join(t.Names[max(at-1, 0):min(at+1, len(t.Names))], " and "))
	}
	return at, nil
}

// onlyMonth is the text of a month without a day.
var onlyMonth = regexp.MustCompile(`^(?:\d{4}[-/]\d\d|\d\d[-./]\d{4}|[A-Za-z]+[- ]\d{4})$`)

// lastIn is the place of the last time that ends in the day, week, month, quarter or year that a text names by its
// beginning; -1 if no time ends in it. isPeriod says whether it names one of these.
func (t *Times) lastIn(text string, begin int64) (last int, isPeriod bool) {
	years, months, days := 0, 0, 1
	isDate := func(family *layout) bool {
		_, ok := family.parse([]byte(text), t.table.location)
		return ok
	}
	_, clock := clock(text)
	switch {
	case len(text) == len("2006") && allDigits(text):
		years, days = 1, 0
	case quarter.MatchString(text):
		months, days = 3, 0
	case onlyMonth.MatchString(text):
		months, days = 1, 0
	case strings.Contains(text, "-W"):
		days = 7
	case allDigits(text) && len(text) == len("20060102"):
	case clock != "" || !slices.ContainsFunc(families, isDate): // it has an hour, or it is a Unix time
		return -1, false
	}
	on := func(years, months, days int) int64 {
		at := time.UnixMicro(begin).In(t.table.location)
		return inZone(date(at.Year()+years, int(at.Month())+months, at.Day()+days), t.table.location).begin().micro
	}
	ends := t.first
	if t.isBlocks {
		ends = t.last
	}
	last, _ = slices.BinarySearch(ends, t.key(on(years, months, days)))
	if last == 0 || ends[last-1] < t.key(begin) {
		return -1, true
	}
	return last - 1, true
}

// parse is the number or the microseconds of a text.
func (t *Times) parse(text string) (v float64, ok bool) {
	switch {
	case t.column == nil:
		return 0, false
	case t.column.Kind == Number:
		v, how := parseNumber([]byte(text), '.')
		return v, how >= plain
	}
	for _, d := range []dates{{layouts: []*layout{{of: []string{"2006"}}}, possible: 1, given: "a year"}, t.column.dates,
		{layouts: families, possible: 1<<yearFirst | 1<<dayFirst | 1<<named}} {
		d.location, d.known = t.table.location, map[string]found{}
		if possible, m := d.matching([]byte(text), d.possible); possible != 0 {
			return float64(m.micro), true
		}
	}
	return 0, false
}
