package table

import (
	"math"
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
	nearest := func(at int) string { return strings.Join(t.Names[max(at-1, 0):min(at+1, len(t.Names))], " and ") }
	if ok && t.column.Kind == Time {
		last, isPeriod := t.lastIn(text, int64(v))
		switch {
		case last >= 0 && !t.hasRow(last, v): // a week that ends in a month, but all of its rows are before
			return 0, t.table.errorf(-1, t.Column, "", "%s ends in %s, but has no row in it; the nearest: %s",
				t.Names[last], quote(text), nearest(last+1))
		case last >= 0:
			return last, nil
		case isPeriod:
			problem = "no time ends in %s or contains it; the nearest: %s"
		}
		v = t.key(int64(v))
	}
	for i, name := range t.Names {
		if short, _, _ := strings.Cut(name, " (from "); name == text || short == text {
			return i, nil
		}
	}
	if !ok {
		forms := t.Names[len(t.Names)-1]
		if t.column != nil && t.column.Kind == Time {
			forms += ", 2024-02-10, 2024-02-10 14:30, 2024-W06, 2024-02, 2024-Q1, 2024, or as the column has them"
		}
		return 0, t.table.errorf(-1, t.Column, "", "%s is not a time; times are written as %s", quote(text), forms)
	}
	at, found := slices.BinarySearch(t.first, v)
	if t.isBlocks && !found && at > 0 {
		at, found = at-1, true
	}
	if !found {
		return 0, t.table.errorf(-1, t.Column, "", problem, quote(text), nearest(at))
	}
	return at, nil
}

// Beyond says whether rows of the time that At finds are after the time that the text means, as it lies inside a bin.
func (t *Times) Beyond(text string, at int) bool {
	text = strings.TrimSpace(text)
	v, ok := t.parse(text)
	if !ok || text == t.Names[at] { // an hour's name is its beginning
		return false
	}
	if t.column.Kind == Time {
		if end, isPeriod := t.end(text, int64(v)); isPeriod {
			v = float64(end - 1)
		}
	}
	return t.hasRow(at, math.Nextafter(v, math.Inf(1)))
}

// onlyMonth is the text of a month without a day.
var onlyMonth = regexp.MustCompile(`^(?:\d{4}[-/]\d\d|\d\d[-./]\d{4}|[A-Za-z]+[- ]\d{4})$`)

// end is the end, in microseconds, of the day, week, month, quarter or year that a text names, which has a beginning.
// isPeriod says whether it names one of these.
func (t *Times) end(text string, begin int64) (end int64, isPeriod bool) {
	years, months, days := 0, 0, 1
	isDate := func(family *layout) bool {
		_, ok := family.parse([]byte(text), t.table.location)
		return ok
	}
	_, clock := clock(text)
	number := "" // how the column's numbers mean times
	if of := t.column.dates.layouts; len(of) == 1 && of[0].scale != nil && allDigits(text) {
		number = of[0].scale.layout
	}
	switch {
	case len(text) == len("2006") && allDigits(text):
		years, days = 1, 0
	case quarter.MatchString(text):
		months, days = 3, 0
	case number == "yyyymm", onlyMonth.MatchString(text):
		months, days = 1, 0
	case number == "yyyyww", strings.Contains(text, "-W"):
		days = 7
	case allDigits(text) && len(text) == len("20060102"):
	case clock != "" || !slices.ContainsFunc(families, isDate): // it has an hour, or it is a Unix time
		return 0, false
	}
	at := time.UnixMicro(begin).In(t.table.location)
	return inZone(date(at.Year()+years, int(at.Month())+months, at.Day()+days), t.table.location).begin().micro, true
}

// lastIn is the place of the last time that ends in the period that a text names by its beginning; -1 if no time ends
// in it. isPeriod is that of end.
func (t *Times) lastIn(text string, begin int64) (last int, isPeriod bool) {
	end, isPeriod := t.end(text, begin)
	if !isPeriod {
		return -1, false
	}
	ends := t.first
	if t.isBlocks {
		ends = t.last
	}
	last, _ = slices.BinarySearch(ends, t.key(end))
	if last == 0 || ends[last-1] < t.key(begin) || t.key(end-1) == t.key(begin) { // or it lies in one bin
		return -1, true
	}
	return last - 1, true
}

// hasRow says whether a row of a time, by its place, is not before from, in microseconds.
func (t *Times) hasRow(at int, from float64) bool {
	for row, of := range t.Index {
		if int(of) == at && t.column.values[row] >= from {
			return true
		}
	}
	return false
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
