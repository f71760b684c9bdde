package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomlx/gomlx/support/xslices"
)

// Bin says how rows are grouped by time. The zero value does not group: equal times are one time.
type Bin struct {
	Unit   string // "", "hour", "day", "week" (from Monday, as in ISO 8601), "month", "quarter", "year"
	Rows   int    // instead: blocks of so many rows in time order, the last one shorter
	Blocks int    // instead: so many blocks of equal numbers of rows
}

// units are those of Bin.
var units = []unit{
	{"hour", func(t time.Time) int { return int(math.Floor(float64(t.Unix()+pastHour(t)) / 3600)) }, // of elapsed time
		func(n int, zone *time.Location) string {
			t := time.Unix(int64(n)*3600, 0).In(zone)
			return t.Add(-time.Duration(pastHour(t)) * time.Second).Format("2006-01-02 15:04")
		}},
	{"day", dayOf, func(n int, _ *time.Location) string { return date(1970, 1, 1+n).Format(time.DateOnly) }},
	{"week", func(t time.Time) int { return int(math.Floor(float64(dayOf(t)+3) / 7)) }, // 1970-01-01 was a Thursday
		func(n int, _ *time.Location) string {
			return isoWeek(date(1970, 1, 7*n-2))
		}},
	{"month", func(t time.Time) int { return (t.Year()-1970)*12 + int(t.Month()) - 1 },
		func(n int, _ *time.Location) string { return date(1970, 1+n, 1).Format("2006-01") }},
	{"quarter", func(t time.Time) int { return (t.Year()-1970)*4 + (int(t.Month())-1)/3 },
		func(n int, _ *time.Location) string {
			first := date(1970, 1+3*n, 1)
			return fmt.Sprintf("%04d-Q%d", first.Year(), (first.Month()+2)/3)
		}},
	{"year", func(t time.Time) int { return t.Year() - 1970 },
		func(n int, _ *time.Location) string { return fmt.Sprintf("%04d", 1970+n) }},
}

// unit numbers the bins of a unit since 1970, and names them.
type unit struct {
	name string
	of   func(t time.Time) int
	text func(n int, zone *time.Location) string
}

// pastHour is the part of the zone's offset that is no whole hour, in seconds: hours are of elapsed time, as clocks
// may be set back, but begin on the hour of the clocks.
func pastHour(t time.Time) int64 {
	_, offset := t.Zone()
	return int64(offset % 3600)
}

// date is a day at midnight in UTC. Months and days may be out of their ranges.
func date(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}

// isoWeek names the week of a day.
func isoWeek(t time.Time) string {
	year, week := t.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// dayOf is the number of days since 1970 of a date.
func dayOf(t time.Time) int {
	return int(date(t.Year(), int(t.Month()), t.Day()).Unix() / 86400)
}

// ParseBin parses "none", a unit, "365 rows", or "20 blocks".
func ParseBin(text string) (Bin, error) {
	text = strings.TrimSpace(strings.ToLower(text))
	names := xslices.Map(units, func(u unit) string { return u.name })
	number, what, _ := strings.Cut(text, " ")
	n, _ := strconv.Atoi(number)
	switch what = strings.TrimSuffix(strings.TrimSpace(what), "s"); {
	case text == "" || text == "none":
		return Bin{}, nil
	case slices.Contains(names, text):
		return Bin{Unit: text}, nil
	case n > 0 && what == "row":
		return Bin{Rows: n}, nil
	case n > 0 && what == "block":
		return Bin{Blocks: n}, nil
	}
	return Bin{}, &Error{Problem: fmt.Sprintf("bin %s is not none, one of %s, \"365 rows\" or \"20 blocks\"", quote(text),
		strings.Join(names, ", "))}
}

// String is the text that ParseBin parses.
func (b Bin) String() string {
	if b.Rows > 0 {
		return fmt.Sprintf("%d rows", b.Rows)
	} else if b.Blocks > 0 {
		return fmt.Sprintf("%d blocks", b.Blocks)
	}
	return cmp.Or(b.Unit, "none")
}

// Times has the time of every row. Times are in ascending order.
type Times struct {
	Column string
	Bin    Bin
	Index  []int32   // of every row's time, in Values
	Values []float64 // the times: bins since 1970, or the first block; days since 1970; or the column's own numbers
	Names  []string  // the times as text: "2024-06-01", "2024-W05", "2024-06", "block 3"
	Counts []int     // number of rows
	Sorted bool      // the rows are in the order of their exact times

	table    *Data
	column   *column
	unit     *unit
	first    []float64 // of the times, or the first one of each block
	last     []float64 // time of each block
	isBlocks bool
}

// Of lists the time of every row, as propensity.Data has it.
func (t *Times) Of() []float64 {
	return xslices.Map(t.Index, func(at int32) float64 { return t.Values[at] })
}

// Rows lists the rows of the times from..to-1, in the order of the file.
func (t *Times) Rows(from, to int) (rows []int) {
	return slices.DeleteFunc(xslices.Iota(0, len(t.Index)), func(i int) bool { return int(t.Index[i]) < from || int(t.Index[i]) >= to })
}

// Times groups the rows by a column of kind Time or Number. Column "" is the order of the rows; it needs blocks. Rows
// of equal time are always in one block. Errors: no such column, a column that is neither, a bin that needs dates where
// there are numbers, a row without a time, and only one time.
func (t *Data) Times(name string, bin Bin) (*Times, error) {
	out := &Times{Column: name, Bin: bin, table: t}
	if at := slices.IndexFunc(units, func(u unit) bool { return u.name == bin.Unit }); at >= 0 {
		out.unit = &units[at]
	} else if bin.Unit != "" {
		return nil, t.errorf(-1, name, "", "%s is not a unit of time", quote(bin.Unit))
	} else if bin.Rows < 0 || bin.Blocks < 0 {
		return nil, t.errorf(-1, name, "", "a bin of %d rows or %d blocks; it must be of 1 or more", bin.Rows, bin.Blocks)
	} else if t.rows == 0 {
		return nil, t.errorf(-1, name, "", "the table has no rows")
	}
	if out.isBlocks = bin.Rows > 0 || bin.Blocks > 0; name == "" && !out.isBlocks {
		return nil, t.errorf(-1, "", `name one, or take blocks of rows in the order of the file, as "365 rows"`,
			"there is no time column")
	} else if name != "" {
		c, err := t.complete(name, "time")
		if err != nil {
			return nil, err
		}
		if row := t.noDate(c); row >= 0 {
			return nil, t.errorf(row, name, fmt.Sprintf("mend it, or say by --type %s=number that all are plain numbers", name),
				"%s is no date, but at least nine in ten of the others are", short(c.values[row]))
		}
		if row := t.mixedUnix(c); row >= 0 {
			return nil, t.errorf(row, name, fmt.Sprintf("write all in one, or say by --type %s=number that they are plain numbers", name),
				"%s seems to be a Unix time in another unit than those before", short(c.values[row]))
		}
		if what := c.partsOfYears(); what != "" {
			fix := fmt.Sprintf("or say by --type %s=number that they are plain numbers", name)
			if what == "months and years" {
				fix = fmt.Sprintf("give --layout %s=%%m.%%Y if all years have four digits, %s", name, fix)
			}
			write := map[bool]string{true: "2004-W01", false: "2004-01"}[what == "weeks and years"]
			return nil, t.errorf(-1, name, fmt.Sprintf("write them as %s, %s", write, fix), "%s and the others seem to be %s",
				short(c.values[0]), what)
		}
		switch out.column = c; {
		case c.Kind != Time && c.Kind != Number:
			return nil, t.errorf(-1, name, "write dates as YYYY-MM-DD, give --layout COLUMN=FORMAT, or name another column",
				"%s", joined(": ", fmt.Sprintf("the column is a %s, not a time", c.Kind), c.Note))
		case c.Kind == Number && bin.Unit != "":
			format := "--layout COLUMN=FORMAT how they mean dates, as unix or %Y%m%d"
			if values := slices.Sorted(slices.Values(c.values)); values[0] >= 1900 && values[len(values)-1] <= 2100 {
				format = fmt.Sprintf("--layout %s=%%Y that they are years", name)
			}
			return nil, t.errorf(-1, name, "take blocks of rows, or say by "+format,
				"the column has numbers, and a bin of %s needs dates", bin.Unit)
		}
	}
	// Equal for equal times, and in their order: bins, microseconds, numbers, or the order of the rows.
	keys := make([]float64, t.rows)
	for i := range keys {
		if keys[i] = float64(i); out.column != nil {
			keys[i] = out.column.values[i]
		}
		if out.unit != nil {
			keys[i] = out.key(int64(keys[i]))
		}
	}
	out.Sorted = out.column == nil || slices.IsSorted(out.column.values)
	distinct, index := distinct(keys)
	out.Index, out.Counts = index, make([]int, len(distinct))
	for _, at := range index {
		out.Counts[at]++
	}
	if out.first = distinct; out.isBlocks {
		out.blocks(distinct)
	} else {
		out.Values, out.Names = slices.Clone(distinct), xslices.Map(distinct, out.name)
	}
	if out.column != nil && out.column.Kind == Time && out.unit == nil && !out.isBlocks {
		out.Values = xslices.Map(distinct, func(micro float64) float64 { return micro / microsPerDay })
	}
	if len(out.Values) < 2 {
		what := "all rows have one time, " + out.Names[0]
		if bin != (Bin{}) {
			what += " in bins of " + bin.String()
		}
		return nil, t.errorf(-1, name, "take shorter bins, or another column", "%s; drift needs at least two", what)
	}
	return out, nil
}

// partsOfYears says what all numbers look like: months or weeks and years, such as 12.2024, which would sort by month
// or week first, or years and months, such as 2024.12, which would have a long gap before January. It is empty for
// others.
func (c *column) partsOfYears() string {
	if c.Kind != Number || c.given {
		return ""
	}
	before, behind, greatest := map[float64]bool{}, map[float64]bool{}, 0. // parts before and behind the year
	for _, v := range c.values {
		whole, rest := math.Modf(v)
		year, month := math.Round(rest*1e4), math.Round(rest*100)
		isYear := func(year float64) bool { return year >= 1900 && year <= 2099 }
		switch {
		case whole >= 1 && whole <= 53 && isYear(year) && math.Abs(rest*1e4-year) < 1e-6:
			before[whole], greatest = true, max(greatest, whole)
		case isYear(whole) && month >= 1 && month <= 12 && math.Abs(rest*100-month) < 1e-6:
			behind[month] = true
		default:
			return ""
		}
	}
	switch {
	case len(before) > 0 && len(behind) > 0:
	case len(before) > 1 && greatest <= 12:
		return "months and years"
	case len(before) > 1:
		return "weeks and years"
	case len(behind) > 2:
		return "years and months"
	}
	return ""
}

// complete is a column that has a value in every row, for a purpose.
func (t *Data) complete(name, purpose string) (*column, error) {
	c, err := t.column(name)
	rows := t.Missing(name)
	switch {
	case err != nil:
	case c.problem != nil:
		err = c.problem
	case c.Note == noValues:
		err = t.errorf(-1, name, "name another column", "the %s is missing in all rows", purpose)
	case rows != nil && c.Kind != Text:
		err = t.errorf(rows[0], name, "mend it, or remove the row", "the %s is missing, or a word that recurs", purpose)
	}
	return c, err
}

// Groups numbers the entities that a column names: those of each row. There are none of "".
func (t *Data) Groups(name string) ([]int32, error) {
	if name == "" {
		return nil, nil
	}
	c, err := t.complete(name, "group")
	switch {
	case err != nil:
		return nil, err
	case c.Kind == Text:
		return nil, t.errorf(-1, name, "take it out of --type, or name another column with --group", "the group is a text")
	case c.Kind == Category:
		return xslices.Map(c.code, func(code uint32) int32 { return int32(code) - 1 }), nil
	}
	_, index := distinct(c.values)
	return index, nil
}

// distinct sorts the different values of a list, and says where each is among them.
func distinct(list []float64) (values []float64, index []int32) {
	values = slices.Compact(slices.Sorted(slices.Values(list)))
	return values, xslices.Map(list, func(v float64) int32 {
		at, _ := slices.BinarySearch(values, v)
		return int32(at)
	})
}

// key is the key of a time: the bin since 1970, or microseconds. Microseconds between 1684 and 2255 are exact; further
// away, times within two microseconds may be one.
func (t *Times) key(micro int64) float64 {
	if t.unit == nil {
		return float64(micro)
	}
	return float64(t.unit.of(time.UnixMicro(micro).In(t.table.location)))
}

// name is the text of a key.
func (t *Times) name(key float64) string {
	switch {
	case t.column == nil:
		return "row " + strconv.Itoa(int(key)+1)
	case t.column.Kind != Time:
		return strconv.FormatFloat(key, 'g', -1, 64)
	case t.unit != nil:
		return t.unit.text(int(key), t.table.location)
	}
	return strings.TrimSuffix(time.UnixMicro(int64(key)).In(t.table.location).Format("2006-01-02 15:04:05.999999"), " 00:00:00")
}

// blocks groups the times, and with them the rows, into blocks. A time belongs to the block of its first row; blocks
// that get no time are left out.
func (t *Times) blocks(distinct []float64) {
	rows, counts, of := len(t.Index), t.Counts, make([]int32, len(distinct))
	t.Counts, t.first = nil, nil
	for i, done, last := 0, 0, -1; i < len(counts); i++ {
		block := ((done+1)*min(t.Bin.Blocks, rows) - 1) / rows
		if t.Bin.Rows > 0 {
			block = done / t.Bin.Rows
		}
		if block != last {
			t.Values = append(t.Values, float64(len(t.Values)))
			t.Names = append(t.Names, fmt.Sprintf("block %d (from %s)", len(t.Values), t.name(distinct[i])))
			t.first, t.last, t.Counts = append(t.first, distinct[i]), append(t.last, 0), append(t.Counts, 0)
		}
		of[i] = int32(len(t.first) - 1)
		t.last[of[i]] = distinct[i]
		t.Counts[of[i]] += counts[i]
		done, last = done+counts[i], block
	}
	for i, at := range t.Index {
		t.Index[i] = of[at]
	}
}
