package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/gomlx/support/xslices"
)

// Select returns the table of some rows. Row still says which rows of the file they are.
func (t *Data) Select(rows []int) *Data {
	out := t.with(xslices.Map(t.columns, func(c *column) *column { return c.selected(rows) }))
	out.rows, out.from = len(rows), xslices.Map(rows, func(i int) int32 { return int32(t.Row(i)) })
	return out
}

// selected is the column of some rows, with the levels that they have.
func (c *column) selected(rows []int) *column {
	out := *c
	if c.values != nil {
		out.values = xslices.Map(rows, func(i int) float64 { return c.values[i] })
	}
	if c.code != nil {
		out.code = xslices.Map(rows, func(i int) uint32 { return c.code[i] })
		out.recode(func(_ string, n int) bool { return n > 0 })
	}
	out.Missing = len(out.lacking(len(rows)))
	return &out
}

// lacking lists the rows without a value.
func (c *column) lacking(rows int) []int {
	return slices.DeleteFunc(xslices.Iota(0, rows), func(i int) bool { return !c.isMissing(i) })
}

// Row is the number of a row in the file, from 0. Rows that Usable or Select left out have none.
func (t *Data) Row(i int) int {
	if t.from != nil {
		return int(t.from[i])
	}
	return i
}

// Missing lists the rows that have no value in a column. There are none of "".
func (t *Data) Missing(name string) (rows []int) {
	if c := t.byName[name]; c != nil && c.Missing > 0 {
		return c.lacking(t.rows)
	}
	return nil
}

// Usable returns the table of the rows that models can learn from: without rows that have no label, and without a few
// rows far from all others in time: placeholders such as 9999-12-31. A column of numbers that mean times, such
// as 1704067200, becomes one of times. The table's notes say so. time and label may be empty; Times and Label find
// mistakes in them.
func (t *Data) Usable(time, label string) *Data {
	t = t.readTimes(time)
	if hours := t.midnights(time); hours != "" {
		t = t.noted(fmt.Sprintf("all times of column %s are at %s in UTC: if they are midnights of another zone give it by "+
			"--zone, or they count to the day before", printable(time), hours))
	}
	var notes []string
	drop := make([]bool, t.rows)
	if without := t.Missing(label); len(without) > 0 && len(without) < t.rows {
		for _, i := range without {
			drop[i] = true
		}
		notes = append(notes, fmt.Sprintf("left out: %s without a label in column %s, first row %d",
			plural(len(without), "row"), printable(label), t.Row(without[0])+1))
	}
	if c := t.byName[time]; c != nil && c.Missing == 0 && (c.Kind == Time || c.Kind == Number) && t.noDate(c) < 0 {
		least, greatest := near(c.values)
		var far []int
		for i, v := range c.values {
			if v < least || v > greatest {
				far, drop[i] = append(far, i), true
			}
		}
		if far != nil {
			name := (&Times{column: c, table: t}).name
			notes = append(notes, fmt.Sprintf("left out: %s far from all others in time, first row %d (%s); the others are "+
				"from %s to %s", plural(len(far), "row"), t.Row(far[0])+1, name(c.values[far[0]]), name(least), name(greatest)))
		}
	}
	if notes == nil {
		return t
	}
	return t.Select(slices.DeleteFunc(xslices.Iota(0, t.rows), func(i int) bool { return drop[i] })).noted(notes...)
}

// noted is the table with more notes.
func (t Data) noted(notes ...string) *Data {
	t.notes = slices.Concat(t.notes, notes)
	return &t
}

// midnights names the hours of UTC at which all times of a column are, if days are to begin at midnight of UTC, but
// these can be midnights of a zone to the east, in which clocks may be changed by an hour; else it is empty.
func (t *Data) midnights(name string) string {
	c := t.byName[name]
	if c == nil || !c.instant || t.location != time.UTC {
		return ""
	}
	hours := map[float64]bool{}
	for _, at := range c.values {
		hours[math.Mod(math.Mod(at, microsPerDay)+microsPerDay, microsPerDay)/microsPerSecond/3600] = true
		if len(hours) > 2 {
			return ""
		}
	}
	sorted := slices.Sorted(maps.Keys(hours))
	for _, hour := range sorted {
		if hour != math.Trunc(hour) || hour < 10 || hour-sorted[0] > 1 {
			return ""
		}
	}
	return strings.Join(xslices.Map(sorted, func(hour float64) string { return fmt.Sprintf("%g:00", hour) }), " or ")
}

// Which rows are far from all others: at most one in fewRows at either end of the time, behind a gap that is longer
// than farSpans times the span of the rest.
const (
	fewRows  = 50
	farSpans = 3
)

// near are the least and the greatest value that are not far from the others. From the values without the few at the
// ends it walks outwards until a gap.
func near(values []float64) (least, greatest float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	low, high := n/fewRows, n-1-n/fewRows
	if values, _ := distinct(sorted[low : high+1]); len(values) < 3 { // their span says nothing
		return sorted[0], sorted[n-1]
	}
	for {
		switch reach := farSpans * (sorted[high] - sorted[low]); {
		case low > 0 && sorted[low]-sorted[low-1] <= reach:
			low--
		case high < n-1 && sorted[high+1]-sorted[high] <= reach:
			high++
		default:
			return sorted[low], sorted[high]
		}
	}
}

// readTimes returns the table with numbers of a column as the times that they mean, if it is one of numbers that mean
// times and its type was not given.
func (t *Data) readTimes(name string) *Data {
	c := t.byName[name]
	if c == nil || c.Kind != Number || c.given || c.Missing > 0 {
		return t
	}
	for _, s := range scales {
		if slices.ContainsFunc(c.values, s.other(t.location)) || t.noDate(c) >= 0 { // 202413 among months is no week
			continue
		}
		read, columns := *c, slices.Clone(t.columns)
		times := make([]float64, t.rows)
		for i, v := range c.values {
			m, _ := s.moment(v, t.location)
			if times[i] = float64(m.micro); m.change != "" && read.problem == nil {
				fix := fmt.Sprintf("give the right --zone, or --layout %s=%s and --clock-change", name, s.layout)
				read.problem = t.errorf(i, name, fix+" earlier or later", "%s %s", short(v), m.change)
			}
		}
		read.Kind, read.values, read.Note = Time, times, "layout "+s.layout
		read.dates = dates{layouts: []*layout{{scale: &s}}, possible: 1, given: s.layout}
		columns[slices.Index(columns, c)] = &read
		first := (&Times{column: &read, table: t}).name(times[0])
		read.notes = append(slices.Clone(c.notes), fmt.Sprintf("the numbers are times, %s is %s (layout %s); --type "+
			"%s=number keeps them", short(c.values[0]), first, s.layout, name))
		return t.with(columns)
	}
	return t
}

// other returns whether a number of a column of times means no time of the scale.
func (s *scale) other(location *time.Location) func(v float64) bool {
	return func(v float64) bool {
		if v < s.least || v > s.greatest { // before the costly conversion
			return true
		}
		_, ok := s.moment(v, location)
		return !ok
	}
}

// mixedUnix is the first row of a column of numbers that is a Unix time in another unit than the first one, if each is
// one in some unit; otherwise -1.
func (t *Data) mixedUnix(c *column) int {
	if c.Kind != Number || c.given {
		return -1
	}
	unit := func(v float64) int {
		return slices.IndexFunc(scales, func(s scale) bool { return s.least > 0 && !s.compact && v >= s.least && v <= s.greatest })
	}
	if slices.ContainsFunc(c.values, func(v float64) bool { return unit(v) < 0 }) {
		return -1
	}
	return slices.IndexFunc(c.values, func(v float64) bool { return unit(v) != unit(c.values[0]) })
}

// noDate is the first row of a column of numbers with no date where at least nine rows in ten have one, such as 202413
// among months; -1 if there is none. Taken as plain numbers, a year of such dates would have 100 months.
func (t *Data) noDate(c *column) int {
	if c.Kind != Number || c.given {
		return -1
	}
	for _, s := range scales {
		if !s.compact {
			continue
		}
		other, first, n := s.other(t.location), -1, 0
		for i, v := range c.values {
			if other(v) {
				if n++; first < 0 {
					first = i
				}
			}
		}
		if first >= 0 && 10*n <= len(c.values) {
			return first
		}
	}
	return -1
}
