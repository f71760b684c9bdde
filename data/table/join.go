package table

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/gomlx/support/xslices"
)

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
