package table

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomlx/gomlx/support/xslices"
)

// joinable is what columns can be joined to.
const joinable = "name them as DATE+HOUR, YEAR+MONTH, YEAR+QUARTER, YEAR+WEEK, YEAR+MONTH+DAY or YEAR+MONTH+DAY+HOUR"

// join joins the columns of a time that Options.Time names: those of a date and a time of day, or of a year, a month, a
// day and a time of day, of which the last ones may be left out. The year may be behind month or day.
func (t *Data) join(o Options) (*Data, error) {
	var parts []*column
	for name := range strings.SplitSeq(o.Time, "+") {
		if read := t.readTimes(name); parts == nil && read != t && read.byName[name].Note == "layout yyyymmdd" {
			t = read
		}
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
	numbers := parts[:min(3, len(parts))]
	if len(parts) <= 4 && (day.Kind == Number || day.Kind == Category && slices.ContainsFunc(numbers, (*column).isYear)) {
		inOrder, err := t.inOrder(o.Time, numbers)
		if err != nil {
			return nil, err
		} else if day, err = t.dateOf(o.Time, inOrder); err != nil {
			return nil, err
		}
		columns = slices.DeleteFunc(columns, func(c *column) bool { return slices.Contains(numbers[1:], c) })
		columns[slices.Index(columns, numbers[0])] = day
		if len(numbers) == len(parts) {
			return t.with(columns), nil
		}
	} else if len(parts) > 2 || day.Kind != Time || clock.Kind != Category {
		return nil, t.errorf(-1, o.Time, joinable, "%s is a %s and %s a %s: they are no time", quote(day.Name), day.Kind,
			quote(clock.Name), clock.Kind)
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
			text := quote(clock.Levels[clock.code[i]-1])
			return nil, t.errorf(i, clock.Name, "write it as 14:30", "%s is no time of day", text)
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

// isYear says whether all values are years, and not hours such as 1330.
func (c *column) isYear() bool {
	values := slices.DeleteFunc(slices.Clone(c.values), math.IsNaN)
	for _, level := range c.Levels {
		v, _ := parseNumber([]byte(level), '.')
		values = append(values, v)
	}
	no := func(v float64) bool { return v < 1700 || v > 2199 || v != math.Trunc(v) }
	return (c.Kind == Number || c.Kind == Category) && len(values) > 0 && !slices.ContainsFunc(values, no)
}

// inOrder puts the parts of a date in order: the year is the one with such values. Of a month and a day without the
// year before them, the name tells which is the month.
func (t *Data) inOrder(name string, parts []*column) ([]*column, error) {
	at := max(0, slices.IndexFunc(parts, (*column).isYear))
	out := append([]*column{parts[at]}, slices.Delete(slices.Clone(parts), at, at+1)...)
	if at == 0 || len(out) < 3 {
		return out, nil
	}
	first, second := ofMonths.MatchString(out[1].Name), ofMonths.MatchString(out[2].Name)
	if first == second {
		return nil, t.errorf(-1, name, joinable, "which of %s and %s is the month cannot be told by their names",
			quote(out[1].Name), quote(out[2].Name))
	} else if second {
		out[1], out[2] = out[2], out[1]
	}
	return out, nil
}

// unitNumber is a quarter, week or month with a letter or word before its number.
var unitNumber = regexp.MustCompile(`(?i)^(?:(q|qtr|quarter)|(w|wk|kw|week)|(m|month))[ .-]?(\d\d?)$`)

// partOf is the number of a part of a date, such as 3, 03, Q3, W03 or Mar, and its unit, if the text says it. It is 0
// if the text is none.
func partOf(text string) (n int, unit string) {
	if part := unitNumber.FindStringSubmatch(text); part != nil {
		at := 1 + slices.IndexFunc(part[1:4], func(word string) bool { return word != "" })
		n, _ = strconv.Atoi(part[4])
		return n, []string{1: "quarter", 2: "week", 3: "month"}[at]
	}
	name := strings.TrimSuffix(text, ".")
	if strings.EqualFold(name, "sept") {
		name = "Sep"
	}
	for _, layout := range []string{"Jan", "January"} {
		if at, err := time.Parse(layout, name); err == nil {
			return int(at.Month()), "month"
		}
	}
	v, _ := parseNumber([]byte(text), '.')
	return whole(v), ""
}

// whole is an integer; 0 for other numbers.
func whole(v float64) int {
	if n := int(v); float64(n) == v {
		return n
	}
	return 0
}

// dateOf is the column of the dates that a year and a quarter, a week, or a month and perhaps a day make.
func (t *Data) dateOf(name string, parts []*column) (*column, error) {
	second, unit := parts[1].Name, ""
	levels := xslices.Map(parts, func(c *column) []int { return make([]int, len(c.Levels)) })
	for k, c := range parts {
		if c.Kind == Text {
			return nil, t.errorf(-1, c.Name, joinable, "%s", joined(": ", "the column is a text", c.Note))
		}
		for i, level := range c.Levels {
			n, of := partOf(level)
			if unit == "" && k == 1 {
				unit = of
			}
			if of == "" || k == 1 && of == unit {
				levels[k][i] = n
			}
		}
	}
	told := unit != "" || ofMonths.MatchString(second)
	form := "%04d-%02d"
	switch {
	case unit == "quarter", unit == "" && ofQuarters.MatchString(second):
		unit, form = "quarter", "%04d-Q%d"
	case unit == "week", unit == "" && ofWeeks.MatchString(second):
		unit, form = "week", "%04d-W%02d"
	default:
		unit = "month"
	}
	if len(parts) == 3 {
		form += "-%02d"
	}
	if ofNoDate.MatchString(second) || unit != "month" && len(parts) == 3 {
		return nil, t.errorf(-1, name, joinable, "%s is no month, as its name or its values say", quote(second))
	}
	out := &column{ColumnSchema: ColumnSchema{Name: name, Kind: Time, Note: "year and " + unit}, given: true,
		values: make([]float64, t.rows), dates: dates{layouts: families, possible: 1 << yearFirst, location: t.location,
			known: map[string]found{}}}
	cells := func(i int) []string {
		return xslices.Map(parts, func(c *column) string {
			if c.code != nil {
				return c.Levels[c.code[i]-1]
			}
			return short(c.values[i])
		})
	}
	// The dates that were found, as it takes long to make and parse texts.
	known, years, most := map[[3]int]float64{}, map[int]bool{}, 0
	for i := range out.values {
		var of [3]int
		missing := false
		for k, c := range parts {
			switch missing = missing || c.isMissing(i); {
			case missing:
			case c.Kind == Number:
				of[k] = whole(c.values[i])
			case c.Kind == Category:
				of[k] = levels[k][c.code[i]-1]
			}
		}
		if missing {
			out.setMissing(i)
			continue
		}
		micro, ok := known[of]
		if !ok {
			text := fmt.Sprintf(form, xslices.Map(of[:len(parts)], func(n int) any { return n })...)
			possible, at := out.dates.matching([]byte(text), out.dates.possible)
			if possible == 0 || of[0] < 1000 {
				return nil, t.errorf(i, name, joinable+"; years have four digits, and the name of quarters or weeks says so",
					"%s is no date", quote(strings.Join(cells(i), "-")))
			}
			if micro = float64(at.micro); out.notes == nil {
				out.notes = []string{fmt.Sprintf("%s are read as %s", strings.Join(cells(i), " and "), text)}
			}
			known[of], years[of[0]], most = micro, true, max(most, of[1])
		}
		out.values[i] = micro
	}
	if unit == "month" && !told && len(parts) == 2 && most <= 4 && len(years) > 1 {
		return nil, t.errorf(-1, name, "rename it to month or quarter, as it is, or make a column of dates",
			"%s is never above 4, and may be a quarter or a month", quote(second))
	}
	return out, nil
}
