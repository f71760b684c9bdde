package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bin says how rows are grouped by time. The zero value does not group: equal times are one time.
type Bin struct {
	Unit   string // "", "hour", "day", "week" (from Monday, as in ISO 8601), "month", "quarter", "year"
	Rows   int    // instead: blocks of so many rows in time order, the last one shorter
	Blocks int    // instead: so many blocks of equal numbers of rows
}

// Units lists the units of Bin.
var Units = []string{"hour", "day", "week", "month", "quarter", "year"}

// ParseBin parses "none", a unit, "365 rows", or "20 blocks".
func ParseBin(text string) (Bin, error) {
	text = strings.TrimSpace(strings.ToLower(text))
	if text == "" || text == "none" {
		return Bin{}, nil
	}
	if slices.Contains(Units, text) {
		return Bin{Unit: text}, nil
	}
	number, what, _ := strings.Cut(text, " ")
	if n, err := strconv.Atoi(number); err == nil && n > 0 {
		switch what = strings.TrimSpace(what); what {
		case "rows", "row":
			return Bin{Rows: n}, nil
		case "blocks", "block":
			return Bin{Blocks: n}, nil
		}
	}
	return Bin{}, &Error{Problem: fmt.Sprintf("bin %s is not none, one of %s, \"365 rows\" or \"20 blocks\"", quote(text),
		strings.Join(Units, ", "))}
}

// String is the text that ParseBin parses.
func (b Bin) String() string {
	switch {
	case b.Unit != "":
		return b.Unit
	case b.Rows > 0:
		return fmt.Sprintf("%d rows", b.Rows)
	case b.Blocks > 0:
		return fmt.Sprintf("%d blocks", b.Blocks)
	}
	return "none"
}

// Times has the time of every row. Times are in ascending order.
type Times struct {
	Column string
	Bin    Bin
	Index  []int32   // of every row's time, in Values
	Values []float64 // the times: bins since 1970, or the first block; days since 1970; or the column's own numbers
	Names  []string  // the times as text: "2024-06-01", "2024-W05", "2024-06", "block 3"
	Counts []int     // number of rows
	Sorted bool      // the rows are in time order

	table  string
	column *column
	starts []float64 // blocks: the first time of each, as a number of the column
	zone   *time.Location
}

// Of lists the time of every row, as propensity.Data has it.
func (t *Times) Of() []float64 {
	out := make([]float64, len(t.Index))
	for i, at := range t.Index {
		out[i] = t.Values[at]
	}
	return out
}

// Rows lists the rows of the times from..to-1, in the order of the file.
func (t *Times) Rows(from, to int) []int {
	n := 0
	for at := max(from, 0); at < min(to, len(t.Counts)); at++ {
		n += t.Counts[at]
	}
	out := make([]int, 0, n)
	for i, at := range t.Index {
		if int(at) >= from && int(at) < to {
			out = append(out, i)
		}
	}
	return out
}

// Times groups the rows by a column of kind Time or Number. Column "" is the order of the rows; it needs blocks. Rows
// of equal time are always in one block. Errors: no such column, a column that is neither, a bin that needs dates where
// there are numbers, a row without a time, and only one time.
func (t *Table) Times(name string, bin Bin) (*Times, error) {
	set := 0
	for _, is := range []bool{bin.Unit != "", bin.Rows != 0, bin.Blocks != 0} {
		if is {
			set++
		}
	}
	if set > 1 || bin.Rows < 0 || bin.Blocks < 0 || bin.Unit != "" && !slices.Contains(Units, bin.Unit) {
		return nil, &Error{File: t.file, Problem: fmt.Sprintf("bin %+v is not a unit, rows or blocks", bin)}
	}
	out := &Times{Column: name, Bin: bin, Index: make([]int32, t.rows), table: t.file, zone: t.location}
	if name == "" {
		if bin.Rows == 0 && bin.Blocks == 0 {
			return nil, &Error{File: t.file, Problem: "there is no time column",
				Fix: `name one, or take blocks of rows in the order of the file, as "365 rows"`}
		}
	} else {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if err := t.checkTime(c, bin); err != nil {
			return nil, err
		}
		out.column = c
	}
	keys := out.keys(t.rows)
	out.Sorted = slices.IsSorted(keys)
	distinct := slices.Clone(keys)
	slices.Sort(distinct)
	counts := runs(distinct)
	distinct = slices.Compact(distinct)
	if bin.Rows > 0 || bin.Blocks > 0 {
		out.blocks(keys, distinct, counts)
	} else {
		for i, key := range keys {
			at, _ := slices.BinarySearch(distinct, key)
			out.Index[i] = int32(at)
		}
		out.Values = make([]float64, len(distinct))
		for i, key := range distinct {
			out.Values[i] = out.value(key)
			out.Names = append(out.Names, out.name(key))
		}
		out.Counts = counts
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

// checkTime refuses a column that is not one of times.
func (t *Table) checkTime(c *column, bin Bin) error {
	switch {
	case c.problem != nil:
		return c.problem
	case c.kind != Time && c.kind != Number:
		return t.errorf(-1, c.name, "write dates as 2006-01-02, give a layout, or name another column",
			"the column is a %s, not a time", c.kind)
	case c.kind == Number && bin.Unit != "":
		return t.errorf(-1, c.name, `take blocks of rows, or give layout "unix" or "%Y%m%d"`,
			"the column has numbers, and a bin of %s needs dates", bin.Unit)
	}
	if rows := t.Missing(c.name); rows != nil {
		return t.errorf(rows[0], c.name, "fill it in, or remove the row", "the time is missing")
	}
	return nil
}

// runs counts the equal neighbours of sorted keys.
func runs[T cmp.Ordered](sorted []T) (counts []int) {
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			counts = append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return counts
}

// keys are numbers that order the rows by time and are equal for equal times: bins, microseconds, numbers, or the order
// of the rows.
func (t *Times) keys(rows int) []float64 {
	keys := make([]float64, rows)
	for i := range keys {
		switch {
		case t.column == nil:
			keys[i] = float64(i)
		case t.column.kind == Time:
			keys[i] = t.key(int64(t.column.values[i]))
		default:
			keys[i] = t.column.number(i)
		}
	}
	return keys
}

// key is the key of a time: the bin since 1970, or microseconds. Microseconds between 1684 and 2255 are exact; further
// away, times within two microseconds may be one.
func (t *Times) key(micro int64) float64 {
	if t.Bin.Unit == "" {
		return float64(micro)
	}
	when := time.UnixMicro(micro).In(t.zone)
	switch t.Bin.Unit {
	case "hour":
		return math.Floor(float64(micro) / (3600 * microsPerSecond)) // of elapsed time: clocks may be set back
	case "month":
		return float64((when.Year()-1970)*12 + int(when.Month()) - 1)
	case "quarter":
		return float64((when.Year()-1970)*4 + (int(when.Month())-1)/3)
	case "year":
		return float64(when.Year() - 1970)
	}
	day := civilDay(when)
	if t.Bin.Unit == "week" {
		return float64(floorDiv(day+3, 7)) // 1970-01-01 was a Thursday
	}
	return float64(day)
}

// civilDay is the number of days since 1970 of a date.
func civilDay(when time.Time) int64 {
	return floorDiv(time.Date(when.Year(), when.Month(), when.Day(), 0, 0, 0, 0, time.UTC).Unix(), 86400)
}

// value is the time of a key.
func (t *Times) value(key float64) float64 {
	if t.column.kind == Time && t.Bin.Unit == "" {
		return key / microsPerDay
	}
	return key
}

// name is the text of a key.
func (t *Times) name(key float64) string {
	if t.column == nil {
		return "row " + strconv.Itoa(int(key)+1)
	}
	if t.column.kind != Time {
		return strconv.FormatFloat(key, 'g', -1, 64)
	}
	n := int(key)
	switch t.Bin.Unit {
	case "hour":
		return time.Unix(int64(key)*3600, 0).In(t.zone).Format("2006-01-02 15:04")
	case "day":
		return time.Unix(int64(key)*86400, 0).UTC().Format("2006-01-02")
	case "week":
		year, week := time.Unix((int64(key)*7-3)*86400, 0).UTC().ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case "month":
		year := floorDiv(int64(n), 12)
		return fmt.Sprintf("%04d-%02d", year+1970, int64(n)-year*12+1)
	case "quarter":
		year := floorDiv(int64(n), 4)
		return fmt.Sprintf("%04d-Q%d", year+1970, int64(n)-year*4+1)
	case "year":
		return fmt.Sprintf("%04d", n+1970)
	}
	when := time.UnixMicro(int64(key)).In(t.zone)
	layout := "2006-01-02"
	if when.Hour() != 0 || when.Minute() != 0 || when.Second() != 0 || when.Nanosecond() != 0 {
		layout = "2006-01-02 15:04:05.999999"
	}
	return when.Format(layout)
}

// blocks groups the rows into blocks in time order.
func (t *Times) blocks(keys, distinct []float64, counts []int) {
	rows, of := len(keys), make([]int32, len(distinct))
	blocks := min(t.Bin.Blocks, rows) // further blocks would be empty
	limit := func(block int) int {    // number of rows up to the end of a block
		if t.Bin.Rows > 0 {
			return (block + 1) * t.Bin.Rows
		}
		return int(int64(rows) * int64(block+1) / int64(blocks))
	}
	done, block, nominal := 0, -1, -1
	for i, n := range counts {
		// A time belongs to the block of its first row.
		for nominal < 0 || done >= limit(nominal) {
			nominal++
			if done < limit(nominal) {
				block++
				t.starts = append(t.starts, distinct[i])
				t.Counts = append(t.Counts, 0)
			}
		}
		of[i] = int32(block)
		t.Counts[block] += n
		done += n
	}
	for i, key := range keys {
		at, _ := slices.BinarySearch(distinct, key)
		t.Index[i] = of[at]
	}
	for i, start := range t.starts {
		t.Values = append(t.Values, float64(i))
		t.Names = append(t.Names, fmt.Sprintf("block %d (from %s)", i+1, t.name(start)))
	}
}

// At finds the time that a text means, for instance the month of "2024-06" or the bin of "2024-06-15 12:00": its place
// in Values. A block can also be named by its number, as "block 3". A text that means no time of the table is an error
// that names the nearest ones.
func (t *Times) At(text string) (int, error) {
	text = strings.TrimSpace(text)
	for i, name := range t.Names {
		if short, _, _ := strings.Cut(name, " (from "); name == text || short == text {
			return i, nil
		}
	}
	key, err := t.parse(text)
	if err != nil {
		return 0, err
	}
	if t.starts != nil {
		at, found := slices.BinarySearch(t.starts, key)
		if !found {
			at--
		}
		if at < 0 {
			return 0, &Error{File: t.table, Column: t.Column, Problem: fmt.Sprintf("time %s is before all rows; the first "+
				"is %s", quote(text), t.Names[0])}
		}
		return at, nil
	}
	at, found := slices.BinarySearch(t.Values, t.value(key))
	if found {
		return at, nil
	}
	var near []string
	if at > 0 {
		near = append(near, t.Names[at-1])
	}
	if at < len(t.Names) {
		near = append(near, t.Names[at])
	}
	return 0, &Error{File: t.table, Column: t.Column, Problem: fmt.Sprintf("no row has time %s; the nearest: %s",
		quote(text), strings.Join(near, " and "))}
}

// parse is the key of a text.
func (t *Times) parse(text string) (float64, error) {
	fail := &Error{File: t.table, Column: t.Column, Problem: fmt.Sprintf("%s is not a time; times are written as %s",
		quote(text), t.Names[len(t.Names)-1])}
	b := []byte(text)
	switch {
	case t.column == nil:
		return 0, fail
	case t.column.kind == Number:
		v, _, result := parseNumber(b, '.')
		if result != isNumber {
			return 0, fail
		}
		return v, nil
	}
	for _, layout := range []string{"%Y", "%Y-Q%q"} {
		if m, ok := strptime(b, layout, t.zone); ok {
			return t.key(m.micro), nil
		}
	}
	d := t.column.dates
	for _, d := range []dates{d, {possible: 1<<yearFirst | 1<<dayFirst | 1<<named}} {
		d.location = t.zone
		if m, ok := d.parse(b); ok {
			return t.key(m.micro), nil
		}
	}
	return 0, fail
}
