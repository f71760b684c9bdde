package table

import (
	"fmt"
	"maps"
	"math"
	"regexp"
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

// join joins the columns of a time that Options.Time names: those of a date and a time of day, or of a year, a month, a
// day and a time of day, of which the last ones may be left out.
func (t *Data) join(o Options) (*Data, error) {
	var parts []*column
	for name := range strings.SplitSeq(o.Time, "+") {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		} else if c.problem != nil {
			return nil, c.problem
		} else if slices.Contains(parts, c) {
			return nil, t.errorf(-1, o.Time, "name each column once", "%s is named twice", quote(name))
		}
		parts = append(parts, c)
	}
	day, clock, columns := parts[0], parts[len(parts)-1], slices.Clone(t.columns)
	if day.Kind == Number && len(parts) <= 4 {
		numbers := parts[:min(3, len(parts))]
		var err error
		if day, err = t.dateOf(o.Time, numbers); err != nil {
			return nil, err
		}
		columns = slices.DeleteFunc(columns, func(c *column) bool { return slices.Contains(numbers[1:], c) })
		columns[slices.Index(columns, numbers[0])] = day
		if len(numbers) == len(parts) {
			return t.with(columns), nil
		}
	} else if len(parts) > 2 || day.Kind != Time || clock.Kind != Category {
		return nil, t.errorf(-1, o.Time, "name them as DATE+HOUR, YEAR+MONTH, YEAR+MONTH+DAY or YEAR+MONTH+DAY+HOUR",
			"%s is a %s and %s a %s: they are no time", quote(day.Name), day.Kind, quote(clock.Name), clock.Kind)
	}
	// 515 is 5:15, and then 30 is 0:30.
	unpadded := slices.ContainsFunc(clock.Levels, func(text string) bool { return len(text) == 3 && allDigits(text) })
	of := xslices.Map(clock.Levels, func(text string) time.Duration {
		if unpadded && allDigits(text) {
			text = fmt.Sprintf("%04s", text)
		}
		if d, ok := timeOfDay(text); ok {
			return d
		}
		return -1
	})
	both := &column{ColumnSchema: ColumnSchema{Name: o.Time, Kind: Time, Note: day.Note}, given: true, dates: day.dates,
		notes: day.notes, values: make([]float64, t.rows)}
	for i := range both.values {
		if day.isMissing(i) || clock.isMissing(i) {
			both.setMissing(i)
			continue
		}
		at := time.UnixMicro(int64(day.values[i])).In(t.location)
		begin, d := date(at.Year(), int(at.Month()), at.Day()), of[clock.code[i]-1]
		if d < 0 {
			return nil, t.errorf(i, clock.Name, "write it as 14:30", "%s is no time of day", quote(clock.Levels[clock.code[i]-1]))
		}
		when := inZone(begin.Add(d), t.location)
		micro, known := when.chosen(o.ClockChange)
		if both.values[i] = float64(micro); !known {
			return nil, t.errorf(i, o.Time, clockFix, "%s %s", begin.Add(d).Format(time.DateTime), when.change)
		}
	}
	columns = slices.DeleteFunc(columns, func(c *column) bool { return c == clock })
	columns[slices.Index(columns, day)] = both
	return t.with(columns), nil
}

// What the name of the column behind the year says of its numbers. Days of a week and weeks of a month make no date.
var (
	ofNoDate   = regexp.MustCompile(`(?i)day|half|of_?month`)
	ofQuarters = regexp.MustCompile(`(?i)(^|_)q$|qtr|quart`)
	ofWeeks    = regexp.MustCompile(`(?i)(^|_)(w|wk|kw)$|week`)
	ofMonths   = regexp.MustCompile(`(?i)^m|mon`)
)

// dateOf is the column of the dates that a year and a quarter, a week, or a month and perhaps a day make.
func (t *Data) dateOf(name string, parts []*column) (*column, error) {
	second, unit, form := parts[1].Name, "month", "%04d-%02d"
	switch {
	case ofNoDate.MatchString(second):
		unit = ""
	case ofQuarters.MatchString(second):
		unit, form = "quarter", "%04d-Q%d"
	case ofWeeks.MatchString(second):
		unit, form = "week", "%04d-W%02d"
	}
	if len(parts) == 3 {
		form += "-%02d"
	}
	if unit == "" || unit != "month" && len(parts) == 3 {
		return nil, t.errorf(-1, name, "name them as YEAR+MONTH, YEAR+QUARTER, YEAR+WEEK or YEAR+MONTH+DAY",
			"%s is no month, as its name says", quote(second))
	}
	out := &column{ColumnSchema: ColumnSchema{Name: name, Kind: Time, Note: "year and " + unit}, given: true,
		values: make([]float64, t.rows), dates: dates{layouts: families, possible: 1 << yearFirst, location: t.location,
			known: map[string]found{}}}
	years, most := map[float64]bool{}, 0.
	for i := range out.values {
		var of []float64
		var whole []any
		missing := false
		for _, c := range parts {
			v := math.NaN()
			if c.Kind == Number {
				v = c.values[i]
			} else if c.Kind == Category && !c.isMissing(i) {
				v, _ = parseNumber([]byte(c.Levels[c.code[i]-1]), '.')
			}
			missing = missing || c.isMissing(i)
			n := int(v)
			if float64(n) != v {
				n = 0 // no part of a date
			}
			of, whole = append(of, v), append(whole, n)
		}
		text := fmt.Sprintf(form, whole...)
		possible, at := out.dates.matching([]byte(text), out.dates.possible)
		switch {
		case missing:
			out.setMissing(i)
		case possible == 0:
			cells := xslices.Map(parts, func(c *column) string {
				switch {
				case c.code != nil:
					return c.Levels[c.code[i]-1]
				case c.values != nil:
					return short(c.values[i])
				}
				return c.Name // of texts that are not kept
			})
			return nil, t.errorf(i, name, "name columns of numbers as YEAR+MONTH+DAY", "%s is no date", quote(strings.Join(cells, "-")))
		default:
			if out.notes == nil {
				cells := strings.Join(xslices.Map(of, short), " and ")
				out.notes = []string{fmt.Sprintf("%s are read as %s", cells, text)}
			}
			years[of[0]], most = true, max(most, of[1])
			out.values[i] = float64(at.micro)
		}
	}
	if unit == "month" && len(parts) == 2 && most <= 4 && len(years) > 1 && !ofMonths.MatchString(second) {
		return nil, t.errorf(-1, name, "rename it to month or quarter, as it is, or make a column of dates",
			"%s is never above 4, and may be a quarter or a month", quote(second))
	}
	return out, nil
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
