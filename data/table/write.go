package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tvps/data/artifact"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Column is a column to write. Values is one of []float64, []float32, []int64, []int32, []int, []bool, []string and
// []time.Time. NaN, and values where Missing is true, become null in Parquet and an empty field in CSV.
type Column struct {
	Name    string
	Values  any
	Missing []bool // nil if no value is missing, apart from NaN
}

// cells is a column to write, by type.
type cells struct {
	Column
	rows     int
	physical parquet.Type
	logical  schema.LogicalType
	write    func(w file.ColumnChunkWriter, from, to int) error
	text     func(buf []byte, i int) []byte
	null     func(i int) bool // nil if no value can be missing
}

// prepare checks a column.
func (c Column) prepare() (*cells, error) {
	out := &cells{Column: c}
	var nan func(i int) bool
	switch v := c.Values.(type) {
	case []float64:
		as(out, v, parquet.Types.Double, func(v float64) float64 { return v })
		out.text = func(b []byte, i int) []byte { return strconv.AppendFloat(b, v[i], 'g', -1, 64) }
		if slices.ContainsFunc(v, func(v float64) bool { return v != v }) {
			nan = func(i int) bool { return v[i] != v[i] }
		}
	case []float32:
		as(out, v, parquet.Types.Float, func(v float32) float32 { return v })
		out.text = func(b []byte, i int) []byte { return strconv.AppendFloat(b, float64(v[i]), 'g', -1, 32) }
		if slices.ContainsFunc(v, func(v float32) bool { return v != v }) {
			nan = func(i int) bool { return v[i] != v[i] }
		}
	case []int64:
		integers(out, v)
	case []int32:
		integers(out, v)
	case []int:
		integers(out, v)
	case []bool:
		as(out, v, parquet.Types.Boolean, func(v bool) bool { return v })
		out.text = func(b []byte, i int) []byte { return strconv.AppendBool(b, v[i]) }
	case []string:
		as(out, v, parquet.Types.ByteArray, func(v string) parquet.ByteArray { return parquet.ByteArray(v) })
		out.logical = schema.StringLogicalType{}
		out.text = func(b []byte, i int) []byte { return appendField(b, v[i]) }
	case []time.Time:
		as(out, v, parquet.Types.Int64, time.Time.UnixMicro)
		out.logical = schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)
		out.text = func(b []byte, i int) []byte { return v[i].UTC().AppendFormat(b, "2006-01-02T15:04:05.999999Z07:00") }
	default:
		return nil, fmt.Errorf("table: column %s has values of type %T", quote(c.Name), c.Values)
	}
	if c.Missing != nil && len(c.Missing) != out.rows {
		return nil, fmt.Errorf("table: column %s has %d values, but Missing has %d", quote(c.Name), out.rows,
			len(c.Missing))
	}
	switch missing := c.Missing; {
	case missing != nil && nan != nil:
		out.null = func(i int) bool { return missing[i] || nan(i) }
	case missing != nil:
		out.null = func(i int) bool { return missing[i] }
	default:
		out.null = nan
	}
	return out, nil
}

// as prepares a column whose values are written as arrow-go's type T.
func as[V, T any](c *cells, v []V, physical parquet.Type, convert func(V) T) {
	c.rows, c.physical = len(v), physical
	c.write = func(w file.ColumnChunkWriter, from, to int) error {
		values := make([]T, 0, to-from)
		var levels []int16 // 1 for a row that has a value
		for i, v := range v[from:to] {
			if c.null != nil {
				if levels = append(levels, 0); c.null(from + i) {
					continue
				}
				levels[i] = 1
			}
			values = append(values, convert(v))
		}
		_, err := w.(interface {
			WriteBatch(values []T, levels, repetitions []int16) (int64, error)
		}).WriteBatch(values, levels, nil)
		return err
	}
}

// integers are written as INT64.
func integers[T int | int32 | int64](c *cells, v []T) {
	as(c, v, parquet.Types.Int64, func(v T) int64 { return int64(v) })
	c.text = func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(v[i]), 10) }
}

// prepare checks columns: at least one, with different names, of the same length.
func prepare(columns []Column) ([]*cells, int, error) {
	var list []*cells
	for i, c := range columns {
		p, err := c.prepare()
		if err != nil {
			return nil, 0, err
		}
		if c.Name == "" || slices.ContainsFunc(columns[:i], func(o Column) bool { return o.Name == c.Name }) {
			return nil, 0, fmt.Errorf("table: column %d has no name of its own (%s)", i+1, quote(c.Name))
		}
		if list = append(list, p); p.rows != list[0].rows {
			return nil, 0, fmt.Errorf("table: column %s has %d rows, but %s has %d", quote(c.Name), p.rows,
				quote(list[0].Name), list[0].rows)
		}
	}
	if len(list) == 0 {
		return nil, 0, fmt.Errorf("table: no columns to write")
	}
	return list, list[0].rows, nil
}

// Write writes a Parquet file, or a CSV file if the name ends with .csv. See WriteParquet and WriteCSV.
func Write(path string, columns ...Column) error {
	if strings.HasSuffix(strings.ToLower(path), ".csv") {
		return WriteCSV(path, columns...)
	}
	return WriteParquet(path, columns...)
}

// WriteParquet writes a Parquet file, compressed with zstd. The file appears when it is complete; if an error occurs,
// one that was there stays.
func WriteParquet(path string, columns ...Column) error {
	list, rows, err := prepare(columns)
	if err != nil {
		return err
	}
	return atomically(path, func(w io.Writer) error {
		p := ParquetWriter{w: w}
		if err := p.write(list, rows); err != nil {
			return err
		}
		return p.Close()
	})
}

// WriteCSV writes a CSV file in UTF-8 with a header, as WriteParquet does. Numbers have all their digits, times are in
// UTC.
func WriteCSV(path string, columns ...Column) error {
	list, rows, err := prepare(columns)
	if err != nil {
		return err
	}
	return atomically(path, func(w io.Writer) error { return writeCSV(w, list, rows) })
}

// atomically writes a file under a temporary name, and renames it.
func atomically(path string, write func(io.Writer) error) error {
	f, err := artifact.Create(path, 0o644)
	if err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	defer func() { _ = f.Cleanup() }()
	w := bufio.NewWriterSize(f, 1<<18)
	if err := write(w); err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	if err := w.Flush(); err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	if err := artifact.Commit(f); err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	return nil
}

// rowsPerGroup bounds the rows of a row group.
const rowsPerGroup = 1 << 18

// ParquetWriter writes a table as a Parquet file in parts: INT64, DOUBLE, FLOAT, BOOLEAN, dictionaries of texts and
// timestamps of microseconds in UTC, compressed with zstd. Equal calls write equal bytes.
type ParquetWriter struct {
	w       io.Writer
	out     *file.Writer
	columns []*cells // of the first part
}

// NewParquetWriter returns a writer to w.
func NewParquetWriter(w io.Writer) *ParquetWriter { return &ParquetWriter{w: w} }

// Write writes rows. All parts have the same columns; one that Missing is given for in the first may have missing
// values in all. Errors: columns that do not fit, and those of the writer below.
func (p *ParquetWriter) Write(columns ...Column) error {
	list, rows, err := prepare(columns)
	if err != nil {
		return err
	}
	return p.write(list, rows)
}

// Close writes the footer. At least one part, which may have no rows, must have been written.
func (p *ParquetWriter) Close() error { return p.out.Close() }

// start writes the schema.
func (p *ParquetWriter) start(columns []*cells) error {
	properties := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCreatedBy("tvps version 1"), parquet.WithDictionaryDefault(false)}
	var fields schema.FieldList
	for _, c := range columns {
		repetition := parquet.Repetitions.Required
		if c.null != nil {
			repetition = parquet.Repetitions.Optional
		}
		if c.physical == parquet.Types.ByteArray {
			properties = append(properties, parquet.WithDictionaryPath(parquet.ColumnPath{c.Name}, true))
		}
		node, err := schema.NewPrimitiveNodeLogical(c.Name, repetition, c.logical, c.physical, -1, -1)
		if err != nil {
			return err
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("table", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return err
	}
	p.columns = columns
	p.out, err = file.NewParquetWriterWithError(struct{ io.Writer }{p.w}, root, // which it cannot close
		file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	return err
}

func (p *ParquetWriter) write(columns []*cells, rows int) error {
	if p.out == nil {
		if err := p.start(columns); err != nil {
			return err
		}
	}
	for k, c := range columns {
		if len(columns) != len(p.columns) || c.Name != p.columns[k].Name || c.physical != p.columns[k].physical ||
			(c.null == nil) != (p.columns[k].null == nil) {
			return fmt.Errorf("table: column %s is not that of the first part", quote(c.Name))
		}
	}
	for from := 0; from < rows; from += rowsPerGroup {
		group, err := p.out.AppendRowGroupChecked()
		if err != nil {
			return err
		}
		for _, c := range columns {
			w, err := group.NextColumn()
			if err != nil {
				return err
			}
			if err := errors.Join(c.write(w, from, min(from+rowsPerGroup, rows)), w.Close()); err != nil {
				return err
			}
		}
		if err := group.Close(); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(w io.Writer, columns []*cells, rows int) error {
	var line []byte
	for k, c := range columns {
		if k > 0 {
			line = append(line, ',')
		}
		line = appendField(line, c.Name)
	}
	for i := range rows + 1 {
		if i > 0 {
			line = line[:0]
			for k, c := range columns {
				if k > 0 {
					line = append(line, ',')
				}
				if c.null == nil || !c.null(i-1) {
					line = c.text(line, i-1)
				}
			}
			if len(line) == 0 {
				line = append(line, `""`...) // a blank line would be no row
			}
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// appendField appends a text, in quotes if it needs them.
func appendField(b []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\n\r") && text == strings.TrimSpace(text) {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}

// Columns returns columns of the table as they were read, to write some rows of them: for a trainer of the user. nil
// names are all columns but text, which is not kept; nil rows are all rows.
func (t *Table) Columns(names []string, rows []int) ([]Column, error) {
	if names == nil {
		for _, c := range t.columns {
			if c.kind != Text {
				names = append(names, c.name)
			}
		}
	}
	rows, err := t.indices(rows)
	if err != nil {
		return nil, err
	}
	var out []Column
	for _, name := range names {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if c.kind == Text {
			return nil, t.errorf(-1, name, "leave it out, or set its kind", "the column is text, which is not kept")
		}
		out = append(out, c.export(rows))
	}
	return out, nil
}

// export copies rows of a column.
func (c *column) export(rows []int) Column {
	out := Column{Name: c.name}
	whole := c.missing == 0
	for _, v := range c.values { // of all rows, so that all parts of a table have one type
		whole = whole && v == math.Trunc(v) && math.Abs(v) <= 1<<53
	}
	switch {
	case c.kind == Category:
		out.Values = collect(rows, func(i int) string {
			if c.code[i] == 0 {
				return ""
			}
			return c.levels[c.code[i]-1]
		})
	case c.kind == Boolean:
		out.Values = collect(rows, func(i int) bool { return c.values[i] == 1 })
	case c.kind == Time:
		out.Values = collect(rows, func(i int) time.Time {
			if math.IsNaN(c.values[i]) {
				return time.Time{}
			}
			return time.UnixMicro(int64(c.values[i])).UTC()
		})
	case whole: // an integer stays one
		out.Values = collect(rows, func(i int) int64 { return int64(c.values[i]) })
		return out
	default:
		out.Values = collect(rows, c.number)
		return out
	}
	if c.missing > 0 {
		out.Missing = collect(rows, c.isMissing)
	}
	return out
}

// collect lists a value of each row.
func collect[T any](rows []int, of func(i int) T) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = of(i)
	}
	return out
}
