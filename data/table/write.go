package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"tvps/data/artifact"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/gomlx/gomlx/support/xslices"
)

// Column is a column to write. Values is one of []float64, []int64, []int, []bool, []string and []time.Time.
// NaN, and values where Missing is true, become null in Parquet and an empty field in CSV.
type Column struct {
	Name    string
	Values  any
	Missing []bool // nil if no value is missing, apart from NaN
}

// cells is a column to write, by type. Missing is true for NaN, too.
type cells struct {
	Column
	rows     int
	physical parquet.Type
	logical  schema.LogicalType
	write    func(w file.ColumnChunkWriter, from, to int) error
	text     func(i int) string
}

// prepare checks columns: at least one, with different names, of the same length.
func prepare(columns []Column) ([]*cells, error) {
	var list []*cells
	for i, c := range columns {
		p, types := &cells{Column: c}, parquet.Types
		switch v := c.Values.(type) {
		case []float64:
			as(p, v, types.Double, nil, func(v float64) float64 { return v })
		case []int64:
			as(p, v, types.Int64, nil, func(v int64) int64 { return v })
		case []int:
			as(p, v, types.Int64, nil, func(v int) int64 { return int64(v) })
		case []bool:
			as(p, v, types.Boolean, nil, func(v bool) bool { return v })
		case []string:
			as(p, v, types.ByteArray, schema.StringLogicalType{}, func(v string) parquet.ByteArray { return []byte(v) })
		case []time.Time:
			as(p, v, types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), time.Time.UnixMicro)
		default:
			return nil, fmt.Errorf("table: column %s has values of type %T", quote(c.Name), c.Values)
		}
		list = append(list, p)
		if slices.ContainsFunc(columns[:i], func(o Column) bool { return o.Name == c.Name }) || c.Name == "" ||
			p.rows != list[0].rows || p.Missing != nil && len(p.Missing) != p.rows {
			return nil, fmt.Errorf("table: column %d, %s, has no name of its own, or not as many values as the first", i+1,
				quote(c.Name))
		}
	}
	if len(list) == 0 {
		return nil, errors.New("table: no columns to write")
	}
	return list, nil
}

// as prepares a column whose values are written as arrow-go's type T.
func as[V comparable, T any](c *cells, v []V, physical parquet.Type, logical schema.LogicalType, convert func(V) T) {
	c.rows, c.physical, c.logical = len(v), physical, logical
	if isNaN := func(v V) bool { return v != v }; c.Missing == nil && slices.ContainsFunc(v, isNaN) {
		c.Missing = make([]bool, len(v))
	}
	for i := range min(len(v), len(c.Missing)) {
		c.Missing[i] = c.Missing[i] || v[i] != v[i]
	}
	c.write = func(w file.ColumnChunkWriter, from, to int) error {
		values := make([]T, 0, to-from)
		var levels []int16 // 1 for a row that has a value
		for i, v := range v[from:to] {
			if c.Missing != nil {
				if levels = append(levels, 0); c.Missing[from+i] {
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
	c.text = func(i int) string {
		if t, ok := any(v[i]).(time.Time); ok {
			return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
		}
		return fmt.Sprint(v[i])
	}
}

// Write writes a Parquet file, compressed with zstd, or a CSV file in UTF-8 if the name ends with .csv: numbers have
// all their digits, times are in UTC. The file appears when it is complete; if an error occurs, one that was there
// stays.
func Write(path string, columns ...Column) error {
	list, err := prepare(columns)
	if err != nil {
		return err
	}
	f, err := artifact.Create(path, 0o644)
	if err == nil {
		defer func() { _ = f.Cleanup() }()
		w := bufio.NewWriterSize(f, 1<<18)
		if strings.HasSuffix(strings.ToLower(path), ".csv") {
			err = writeCSV(w, list)
		} else {
			err = writeParquet(w, list)
		}
		if err = errors.Join(err, w.Flush()); err == nil {
			err = artifact.Commit(f)
		}
	}
	if err != nil {
		return &Error{File: path, Problem: "cannot be written: " + cause(err), Err: err}
	}
	return nil
}

// writeCSV writes columns with a header.
func writeCSV(w io.Writer, columns []*cells) error {
	out, record := csv.NewWriter(w), make([]string, len(columns))
	for i := -1; i < columns[0].rows; i++ {
		for k, c := range columns {
			switch record[k] = ""; {
			case i < 0:
				record[k] = c.Name
			case c.Missing == nil || !c.Missing[i]:
				record[k] = c.text(i)
			}
		}
		if len(record) == 1 && record[0] == "" { // a blank line would be no row
			out.Flush()
			_, _ = io.WriteString(w, `""`)
		}
		_ = out.Write(record) // Error returns the first one
	}
	out.Flush()
	return out.Error()
}

// rowsPerGroup bounds the rows of a row group.
const rowsPerGroup = 1 << 18

// writeParquet writes INT64, DOUBLE, BOOLEAN, dictionaries of texts and timestamps of microseconds in UTC, compressed
// with zstd. Equal calls write equal bytes.
func writeParquet(w io.Writer, columns []*cells) error {
	properties := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCreatedBy("tvps version 1"), parquet.WithDictionaryDefault(false)}
	var fields schema.FieldList
	for _, c := range columns {
		repetition := parquet.Repetitions.Required
		if c.Missing != nil {
			repetition = parquet.Repetitions.Optional
		}
		if c.physical == parquet.Types.ByteArray {
			properties = append(properties, parquet.WithDictionaryPath(parquet.ColumnPath{c.Name}, true))
		}
		fields = append(fields, schema.MustPrimitive(
			schema.NewPrimitiveNodeLogical(c.Name, repetition, c.logical, c.physical, -1, -1)))
	}
	root := schema.MustGroup(schema.NewGroupNode("table", parquet.Repetitions.Required, fields, -1))
	out, err := file.NewParquetWriterWithError(struct{ io.Writer }{w}, root, // which it cannot close
		file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	if err != nil {
		return err
	}
	for from := 0; from < columns[0].rows; from += rowsPerGroup {
		group, err := out.AppendRowGroupChecked()
		if err != nil {
			return err
		}
		for _, c := range columns {
			chunk, err := group.NextColumn()
			if err == nil {
				err = errors.Join(c.write(chunk, from, min(from+rowsPerGroup, c.rows)), chunk.Close())
			}
			if err != nil {
				return err
			}
		}
		if err := group.Close(); err != nil {
			return err
		}
	}
	return out.Close()
}

// Columns returns columns of the table as they were read, to write some rows of them: for a trainer of the user. nil
// names are all columns but text, which is not kept; nil rows are all rows.
func (t *Data) Columns(names []string, rows []int) ([]Column, error) {
	rows, columns, err := t.part(names, rows)
	if err != nil {
		return nil, err
	}
	return xslices.Map(columns, func(c *column) Column { return c.export(rows) }), nil
}

// export copies rows of a column.
func (c *column) export(rows []int) Column {
	out := Column{Name: c.Name}
	whole := c.Missing == 0
	for _, v := range c.values { // of all rows, so that all parts of a table have one type
		whole = whole && v == math.Trunc(v) && math.Abs(v) <= 1<<53
	}
	switch {
	case c.Kind == Category:
		levels := append([]string{""}, c.Levels...)
		out.Values = xslices.Map(rows, func(i int) string { return levels[c.code[i]] })
	case c.Kind == Boolean:
		out.Values = xslices.Map(rows, func(i int) bool { return c.values[i] == 1 })
	case c.Kind == Time:
		out.Values = xslices.Map(rows, func(i int) time.Time { return time.UnixMicro(int64(c.values[i])).UTC() })
	case whole: // an integer stays one
		out.Values = xslices.Map(rows, func(i int) int64 { return int64(c.values[i]) })
	default:
		out.Values = xslices.Map(rows, c.number)
	}
	if c.Missing > 0 && c.Kind != Number {
		out.Missing = xslices.Map(rows, c.isMissing)
	}
	return out
}

// Numbers returns some rows of a column as numbers: 0 or 1 of a boolean, days of a time, and of a category the place of
// its level in levels. A missing value is NaN. nil rows are all.
func (t *Data) Numbers(name string, rows []int) (values []float64, levels []string, err error) {
	rows, columns, err := t.part([]string{name}, rows)
	if err != nil {
		return nil, nil, err
	}
	c := columns[0]
	return xslices.Map(rows, func(i int) float64 {
		switch {
		case c.isMissing(i):
			return math.NaN()
		case c.Kind == Category:
			return float64(c.code[i] - 1)
		}
		return c.number(i)
	}), c.Levels, nil
}
