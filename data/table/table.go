package table

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/gomlx/support/xslices"
)

// Kind is what a column holds.
type Kind string

// Kinds of columns.
const (
	Number   Kind = "number"
	Category Kind = "category" // texts that repeat
	Boolean  Kind = "boolean"  // true and false
	Time     Kind = "time"     // dates and timestamps
	Text     Kind = "text"     // ignored: texts that hardly repeat, or no values at all
)

// Kinds lists them.
var Kinds = []Kind{Number, Category, Boolean, Time, Text}

// Options change how a file is read. The zero value infers everything.
type Options struct {
	Kinds map[string]Kind // kinds of columns, instead of the inferred ones
	// Layouts say how times are written: directives of strptime as Python has them, a Go layout, or what numbers mean:
	// unix, unixms, unixus, unixns, excel (days), yyyymm, yyyyww, yyyymmdd, and hh, hhmm or hhmmss behind that.
	Layouts map[string]string
	// Time, as "date+hour", joins a column of dates and one of times of day to a column of this name, if there is none; as
	// "year+month", "year+quarter", "year+week", "year+month+day" and "year+month+day+hour" it joins those.
	Time string   `json:",omitempty"`
	Drop []string // columns to leave out
	// Missing are the texts that mean a missing value, apart from the empty one and NaN; nil: defaultMissing, unless a
	// category's other levels show that it is one. inf may be added: it replaces none of the others.
	Missing []string
	Decimal byte // decimal mark of a CSV file's numbers, '.' or ','; 0: '.', or ',' if it is not the delimiter and all need it
	Delim   byte // delimiter of a CSV file; 0: found
	Skip    int  // lines of a CSV file above its header; 0: found
	Comment byte // a line of a CSV file that begins with it is left out; 0: none
	// NoQuotes says that quotes of a CSV file are text like other characters.
	NoQuotes bool
	NoHeader bool `json:",omitempty"` // the first line of a CSV file has values; its columns are named c1, c2, ...
	// NumericNames accepts a CSV file whose columns are all named by numbers. Without it, such a first line is taken for a
	// row of values.
	NumericNames bool
	// AnyRows accepts a table of one row, or of none, as predictions are. Without it, a table needs two.
	AnyRows  bool           `json:",omitempty"`
	Location *time.Location // zone of times without one, and of bins; nil: UTC
	// ClockChange says which time is meant by one that the zone's clocks show twice or never: earlier or later. Of one
	// that they skip, that is before or at the change. Without it such a time is an error.
	ClockChange string `json:",omitempty"`
	limits      *limits
}

// check returns an error for options that no table can be read by.
func (o Options) check() error {
	switch {
	case o.Decimal != 0 && o.Decimal != '.' && o.Decimal != ',':
		return fmt.Errorf("the decimal mark is %q; it must be '.' or ','", o.Decimal)
	case o.Skip < 0:
		return fmt.Errorf("%d lines above the header are to be left out; it must be 0 or more", o.Skip)
	}
	return nil
}

// defaultMissing lists the texts that mean a missing value. Texts are compared after surrounding spaces are removed.
var defaultMissing = []string{"NA", "N/A", "n/a", "#N/A", "null", "NULL", "None", "NaT", "?"}

// limits bounds what a file may use.
type limits struct {
	Columns int
	Cells   int64 // rows times columns
	Free    int64 // size after decompression of a Parquet file, that Ratio does not limit
	Ratio   int64 // size after decompression, relative to the file's
}

// expanded is the number of bytes that a file of the given size may decompress to.
func (l *limits) expanded(size int64) int64 { return max(l.Free, size*l.Ratio) }

// Data is a table in memory. It does not change; its methods may be called concurrently.
type Data struct {
	file     string
	format   string
	rows     int
	parts    []*part
	lines    []int32 // CSV: line of each row
	from     []int32 // row of the file of each row; nil: all rows
	columns  []*column
	byName   map[string]*column
	notes    []string
	location *time.Location
}

// column is a column in memory: values or codes, by its kind; Text has neither.
type column struct {
	ColumnSchema
	values  []float64      // Number; Boolean: 0 or 1; Time: microseconds since 1970 in UTC; NaN is missing
	code    []uint32       // Category: 0 is missing, i + 1 is levels[i]
	dates   dates          // Time: how its values are written
	notes   []string       // on values that were changed
	texts   map[string]int // that made values missing
	given   bool           // its kind was given
	instant bool           // Time: its values have a zone
	problem *Error         // of Times and Label, if a column is Text because it cannot be read
}

// number returns the value of row i as a number, NaN if it is missing. Times are in days since 1970.
func (c *column) number(i int) float64 {
	if c.Kind == Time {
		return c.values[i] / microsPerDay
	}
	return c.values[i]
}

// isMissing says whether row i has no value.
func (c *column) isMissing(i int) bool {
	return c.Kind == Text || c.Kind == Category && c.code[i] == 0 || c.values != nil && math.IsNaN(c.values[i])
}

// Rows is the number of rows.
func (t *Data) Rows() int { return t.rows }

// Schema describes the columns.
func (t *Data) Schema() Schema {
	return Schema{t.file, t.format, t.rows, xslices.Map(t.columns, func(c *column) ColumnSchema { return c.ColumnSchema }),
		t.Notes()}
}

// Notes are what the user should know about how the file was read: of the file, of columns whose values were changed,
// and how many values the texts of missing values made missing.
func (t *Data) Notes() []string {
	notes := slices.Clone(t.notes)
	var columns, missing []string
	for _, c := range t.columns {
		for _, note := range c.notes {
			columns = append(columns, "column "+printable(c.Name)+": "+note)
		}
		if len(c.texts) > 0 && c.Kind != Text {
			counts := xslices.Map(slices.Sorted(maps.Keys(c.texts)), func(text string) string {
				return fmt.Sprintf("%s %d", quote(text), c.texts[text])
			})
			missing = append(missing, printable(c.Name)+" "+strings.Join(counts, ", "))
		}
	}
	if notes = append(notes, shown(columns, "more notes on columns")...); missing != nil {
		notes = append(notes, "values that are missing by their texts: "+strings.Join(shown(missing, "more columns"), "; "))
	}
	return notes
}

// shown are the first of many parts of a sentence.
func shown(parts []string, what string) []string {
	const most = 8
	if len(parts) <= most {
		return parts
	}
	return append(slices.Clip(parts[:most]), fmt.Sprintf("%d %s", len(parts)-most, what))
}

// Schema is what a table consists of.
type Schema struct {
	File    string         `json:"file"`
	Format  string         `json:"format"` // as found: "CSV, delimiter ;, Windows-1252, gzip"
	Rows    int            `json:"rows"`
	Columns []ColumnSchema `json:"columns"`
	Notes   []string       `json:"notes,omitempty"` // what the user should know about the file
}

// ColumnSchema is what a column holds.
type ColumnSchema struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Missing int      `json:"missing"`          // rows without a value
	Levels  []string `json:"levels,omitempty"` // Category: all levels, sorted
	Note    string   `json:"note,omitempty"`   // why it is ignored, or how its times are written
}

// Unused says why a model does not learn from the column: what is written in it is no feature.
func (c ColumnSchema) Unused() string {
	if c.Kind == Text {
		return cmp.Or(c.Note, string(Text))
	}
	return string(c.Kind)
}

// String is the schema as text: a line on the file, one for each column, and the notes.
func (s Schema) String() string {
	text := fmt.Sprintf("%s: %s, %s, %s\n", s.File, s.Format, plural(s.Rows, "row"), plural(len(s.Columns), "column"))
	for _, c := range s.Columns {
		levels, missing := strings.Join(shown(xslices.Map(c.Levels, printable), "more levels"), ", "), ""
		if c.Missing > 0 {
			missing = fmt.Sprintf("%d missing", c.Missing)
		}
		text += fmt.Sprintf("  %-14s %-10s %s\n", printable(c.Name), c.Kind, joined("; ", levels, missing, c.Note))
	}
	for _, note := range s.Notes {
		text += fmt.Sprintf("note: %s\n", note)
	}
	return text
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// errorf is an error about the table. row is an index from 0, or -1.
func (t *Data) errorf(row int, column, fix, problem string, args ...any) *Error {
	e := &Error{File: t.file, Column: column, Problem: fmt.Sprintf(problem, args...), Fix: fix}
	if row >= 0 {
		var p *part
		if p, e.Row = place(t.parts, t.Row(row)+1); len(t.parts) > 1 {
			e.File = p.name
		}
		if t.lines != nil {
			e.Line = int(t.lines[t.Row(row)])
		}
	}
	return e
}

// column finds a column by its name.
func (t *Data) column(name string) (*column, error) {
	if c, ok := t.byName[name]; ok {
		return c, nil
	}
	names := xslices.Map(t.columns, func(c *column) string { return c.Name })
	return nil, t.errorf(-1, "", "", "there is no column %s; %s", quote(name), list(names))
}

// list names columns for a sentence.
func list(names []string) string {
	return "the columns are " + strings.Join(shown(xslices.Map(names, printable), "more"), ", ")
}
